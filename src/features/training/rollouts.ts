/** Rollouts of a step as the page shows them: groups side by side, and one rollout with what each output was worth. */
import type { GroupView, OutputDetail, RolloutDetail } from '../../../webview/common/training';
import type { Role } from '../../core/rehearsal/types';
import type { CallView, OutputView, SessionView, TurnView } from '../../core/rehearsal/view.types';
import type { RolloutRecord } from '../../core/training/run.types';

/** Rollouts without the records of their sessions, as the server lists them. */
export type Listed = Omit<RolloutRecord, 'records'>;

/** By task, in the order of the step. */
export function groupViews(rollouts: readonly Listed[]): GroupView[] {
  return [...groupsOf(rollouts)].map(([task, group]) => {
    const scored = rewards(group);
    return {
      task,
      rollouts: group.map(({ index, attempt, reward, success, checks, stop }) => ({
        index,
        attempt,
        reward,
        success,
        reason: success ? '' : reasonOf(checks, stop),
      })),
      mean: meanOf(scored),
      unscored: group.length - scored.length,
      spread: new Set(scored).size > 1,
    };
  });
}

function groupsOf(rollouts: readonly Listed[]): Map<string, Listed[]> {
  const groups = new Map<string, Listed[]>();
  for (const rollout of [...rollouts].sort((a, b) => a.index - b.index)) {
    const known = groups.get(rollout.task);
    if (known) known.push(rollout);
    else groups.set(rollout.task, [rollout]);
  }
  return groups;
}

/** The first check that does not hold, with its place in the list. */
function reasonOf(checks: Listed['checks'], stop: string): string {
  const at = checks.findIndex(({ verdict }) => verdict === 'fails' || verdict === 'unscored');
  if (at < 0) return stop.replaceAll('_', ' ');
  const { title, verdict, reason } = checks[at]!;
  return `Check ${at + 1} ${verdict === 'fails' ? 'fails' : 'is not scored'}: ${title}. ${reason}`;
}

/**
 * @param rollouts all of its step
 * @param session the rollout as a session
 * @param weights step of the checkpoint that the debugger goes on with
 */
export function rolloutDetail(
  rollout: Listed,
  rollouts: readonly Listed[],
  session: SessionView,
  weights: number | null,
): RolloutDetail {
  const { step, index, task, attempt, reward, success, stop, checks } = rollout;
  const group = groupsOf(rollouts).get(task) ?? [rollout];
  return {
    step,
    index,
    task,
    attempt,
    reward,
    mean: meanOf(rewards(group)),
    success,
    stop,
    outputs: outputsOf(rollout, session),
    checks: checks.map(({ title, verdict, reason, turn }) => ({
      title,
      verdict,
      reason,
      ...(turn !== undefined && { turn }),
    })),
    baseline: { act: baseline(group, 'act'), rehearse: baseline(group, 'rehearse') },
    turn: failingTurn(rollout, session),
    weights,
  };
}

/** Where a person looks first: the turn of the check that fails, else the last one. */
export function failingTurn({ checks }: Listed, { turns }: Pick<SessionView, 'turns'>): number {
  const failed = checks.find(({ verdict, turn }) => verdict === 'fails' && turn !== undefined);
  return failed?.turn ?? turns.at(-1)?.index ?? 1;
}

/** Mean reward over the outputs of a role: what its advantages are measured from. */
function baseline(group: readonly Listed[], role: Role): number | null {
  let [sum, count] = [0, 0];
  for (const { reward, outputs } of group) {
    if (reward === null) continue;
    const own = outputs.filter((output) => output.role === role).length;
    sum += reward * own;
    count += own;
  }
  return count > 0 ? sum / count : null;
}

/** In the order in which they were written, which is that of the record. */
function outputsOf({ outputs }: Listed, { turns }: SessionView): OutputDetail[] {
  const waiting = {
    act: outputs.filter(({ role }) => role === 'act'),
    rehearse: outputs.filter(({ role }) => role === 'rehearse'),
  };
  return turns.flatMap((turn) => [
    detailOf(turn, turn.act, actSummary(turn), null, waiting.act.shift()),
    ...turn.calls.flatMap((call) =>
      call.rehearsal
        ? [detailOf(turn, call.rehearsal, answerSummary(call), null, waiting.rehearse.shift())]
        : givenOf(turn, call),
    ),
  ]);
}

function detailOf(
  turn: TurnView,
  { role, tokens }: OutputView,
  summary: string,
  source: string | null,
  record: Listed['outputs'][number] | undefined,
): OutputDetail {
  return {
    role,
    turn: turn.index,
    summary,
    source,
    advantage: record?.advantage ?? null,
    tokens: tokens.map(({ text, logprob }) => ({ text, logprob })),
  };
}

/** An observation that nobody sampled: it was not trained on, and it explains what follows. */
function givenOf(turn: TurnView, { observation }: CallView): OutputDetail[] {
  if (!observation) return [];
  const { source, summary } = observation;
  return [{ role: 'rehearse', turn: turn.index, summary, source, advantage: null, tokens: [] }];
}

function actSummary({ answer, calls }: TurnView): string {
  if (answer !== null) return answer;
  return calls.map(({ text }) => shortCall(text)).join(', ');
}

function answerSummary({ observation }: CallView): string {
  return observation?.summary ?? '';
}

/** `get_order({"id": "#W1"})` as `get_order(#W1)`: beside one another, calls differ in their values. */
export function shortCall(text: string): string {
  const at = text.indexOf('(');
  try {
    const values: unknown = JSON.parse(text.slice(at + 1, -1));
    if (at < 0 || typeof values !== 'object' || values === null) return text;
    const shown = Object.values(values).map((value) =>
      typeof value === 'string' ? value : JSON.stringify(value),
    );
    return `${text.slice(0, at)}(${shown.join(', ')})`;
  } catch {
    return text;
  }
}

function rewards(group: readonly Listed[]): number[] {
  return group.flatMap(({ reward }) => (reward === null ? [] : [reward]));
}

function meanOf(values: readonly number[]): number | null {
  return values.length > 0 ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
}
