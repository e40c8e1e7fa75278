/** The rollouts of a step: sampled together and stored, or read back where an earlier try has stored them. */
import { roleWiseAdvantages } from '../../../src/core/grpo/advantages';
import { adapterOf, type Rollout } from '../../../src/core/grpo/batch';
import { outputsOf, type TrainedOutput } from '../../../src/core/grpo/chains';
import { DEFAULT_OPTIONS } from '../../../src/core/rehearsal/options';
import { Session, type SessionRecord } from '../../../src/core/rehearsal/session';
import type { Setup, State } from '../../../src/core/rehearsal/types';
import { type PlannedRollout, planStep } from '../../../src/core/training/plan';
import type { RolloutRecord } from '../../../src/core/training/run.types';
import type { RunConfig } from '../../../src/core/training/types';
import { errorText } from '../../../src/core/user-error';
import { type RolloutResult, runRollouts } from '../../../src/node/rollouts';
import { eitherOf, serverFailed } from '../../../src/node/training/failed';
import type { TrainingRun } from './run';
import type { Policies } from './weights';

/** A rollout of a step with what learning and measuring need of it. */
export interface StepRollout extends Rollout {
  planned: PlannedRollout;
  task: string;
  success: boolean;
  state: State | null;
  outputs: readonly TrainedOutput[];
}

/** The model's own distribution, nothing cut off. */
const SAMPLING = { ...DEFAULT_OPTIONS, alternatives: 0, priority: 1 };

/** All rollouts of a step in the order of its plan. Ones that are stored are not sampled again. */
export async function rolloutsOf(run: TrainingRun, policies: Policies, step: number): Promise<StepRollout[]> {
  const { config } = run.store;
  const plan = planStep(config, step);
  const stored = new Map((await run.store.rolloutsOf(step)).map((record) => [record.index, record]));
  const known = plan.flatMap((planned) => {
    const record = stored.get(planned.index);
    return record ? [read(record, planned, setupFor(config, planned, policies))] : [];
  });
  const missing = plan.filter(({ index }) => !stored.has(index));
  const sampled = await sample(run, policies, missing);
  const all = [...known, ...sampled.map(({ rollout }) => rollout)];
  all.sort((a, b) => a.planned.index - b.planned.index);
  const advantages = advantagesOf(all, config);
  const records = sampled.map(({ rollout, result }) =>
    recordOf(step, rollout, result, advantages.get(rollout)!),
  );
  if (records.length) await run.store.appendRollouts(records);
  return all;
}

/** Rollouts of an earlier step, as they are stored. */
export async function storedRollouts(
  { store }: TrainingRun,
  policies: Policies,
  step: number,
): Promise<StepRollout[]> {
  const plan = new Map(planStep(store.config, step).map((planned) => [planned.index, planned]));
  return (await store.rolloutsOf(step)).flatMap((record) => {
    const planned = plan.get(record.index);
    return planned ? [read(record, planned, setupFor(store.config, planned, policies))] : [];
  });
}

async function sample(
  { store: { config }, ports, signal }: TrainingRun,
  policies: Policies,
  plan: readonly PlannedRollout[],
): Promise<{ rollout: StepRollout; result: RolloutResult }[]> {
  const sampled: { rollout: StepRollout; result: RolloutResult }[] = [];
  const waiting = new Map(plan.map((planned) => [planned.seed, planned]));
  const requests = plan.map(({ task, attempt, seed }) => ({
    environment: config.environment,
    task,
    attempt,
    seed,
  }));
  // A server that fails fails for all: the rest is not begun.
  const stop = new AbortController();
  let broken: unknown;
  await runRollouts(requests, {
    ...policies,
    sampling: SAMPLING,
    ...(config.settings.variant === 'real' ? { executor: ports.executor!, checks: ports.checks } : {}),
    judge: ports.judge,
    concurrency: config.settings.concurrency,
    signal: eitherOf(signal, stop.signal),
    onEnd: (result) => {
      if (serverFailed(result.error) && !stop.signal.aborted) {
        broken = result.error;
        stop.abort();
      }
      const planned = waiting.get(result.seed)!;
      sampled.push({ rollout: rolloutOf(planned, result), result });
    },
  });
  signal.throwIfAborted();
  if (broken) throw broken;
  return sampled;
}

function rolloutOf(planned: PlannedRollout, { reward, state }: RolloutResult): StepRollout {
  const outputs = state ? outputsOf(state) : [];
  return { planned, task: planned.task.id, reward: reward.value, success: reward.success, state, outputs };
}

/** Advantages of each rollout's outputs by role; null where a role is not trained or the rollout unscored. */
function advantagesOf(rollouts: readonly StepRollout[], { settings }: RunConfig) {
  const all = new Map<StepRollout, { act: number | null; rehearse: number | null }>();
  for (const group of groupsOf(rollouts, settings.groupSize)) {
    const advantages = roleWiseAdvantages(
      group.map(({ reward, outputs }) => {
        const count = (role: string) => outputs.filter((output) => output.role === role).length;
        return { reward, outputs: { act: count('act'), rehearse: count('rehearse') } };
      }),
      settings.advantage,
    );
    group.forEach((rollout, i) => {
      const { act, rehearse } = advantages[i]!;
      all.set(rollout, { act, rehearse: adapterOf(settings.variant, 'rehearse') ? rehearse : null });
    });
  }
  return all;
}

/** Rollouts of one task each, in the order of the plan. */
export function groupsOf<T>(rollouts: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(rollouts.length / size) }, (_, group) =>
    rollouts.slice(group * size, (group + 1) * size),
  );
}

function recordOf(
  step: number,
  { planned, outputs }: StepRollout,
  { reward, state, tree, error }: RolloutResult,
  advantages: { act: number | null; rehearse: number | null },
): RolloutRecord {
  const { index, task, attempt, seed } = planned;
  const turns = state ? turnsOf(state) : [];
  const { position } = state ?? {};
  const failed =
    error === undefined ? [] : [{ title: 'Rollout', verdict: 'unscored', reason: errorText(error) }];
  return {
    step,
    index,
    task: task.id,
    attempt,
    seed,
    reward: reward.value,
    success: reward.success,
    stop: position?.kind === 'done' ? position.stop : 'error',
    checks: [
      ...failed,
      ...reward.checks.map(({ title, verdict, reason, turn }) => ({
        title,
        verdict,
        reason,
        ...(turn === undefined ? {} : { turn }),
      })),
    ],
    outputs: outputs.map((output, i) => ({
      role: output.role,
      turn: turns[i]!,
      prompt: [...output.prompt],
      ids: output.tokens.map(({ id }) => id),
      logprobs: output.tokens.map(({ logprob }) => logprob),
      advantage: advantages[output.role],
    })),
    records: tree ? repliesOf(tree) : [],
  };
}

/** Turn of each output, in the order of `outputsOf`. */
function turnsOf(state: State): number[] {
  const outputs = state.turns.flatMap(({ act, calls }) => [
    act,
    ...calls.flatMap((call) => call.rehearsal ?? []),
  ]);
  return outputs.filter(({ tokens }) => tokens).map(({ turn }) => turn);
}

function repliesOf({ nodes }: Session): SessionRecord[] {
  return nodes.slice(1).map(({ id, parent, reply }) => ({ t: 'reply', id, parent: parent!, reply: reply! }));
}

/** What a session of a rollout starts from; with its records it makes that session again. */
export function setupFor(
  { environment, settings }: RunConfig,
  { task, seed }: Pick<PlannedRollout, 'task' | 'seed'>,
  { policy }: Policies,
): Setup {
  const observations = settings.variant === 'real' ? 'real' : 'rehearse';
  return { environment, task, policy: policy.info, options: { ...SAMPLING, seed, observations } };
}

/** The same states from the same replies: what is learned from a stored rollout is what was sampled. */
function read(record: RolloutRecord, planned: PlannedRollout, setup: Setup): StepRollout {
  const session = new Session(setup);
  for (const reply of record.records) session.replay(reply as SessionRecord);
  const { state } = session;
  const { reward, success } = record;
  return { planned, task: record.task, reward, success, state, outputs: outputsOf(state) };
}
