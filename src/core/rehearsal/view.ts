/** Makes the view of a session from its nodes. One pass over the branch shown. */
import { formatJson, isObject } from '../json';
import { previewJson } from '../preview';
import { rewardOf } from '../reward/rollout';
import { branches } from './forks';
import { currentTurnIndex } from './machine';
import type { Session, SessionNode } from './session';
import type { CallStep, State, Token, Turn } from './types';
import type {
  CallView,
  EndView,
  ObservationView,
  OutputView,
  SessionView,
  TokenView,
  TurnView,
} from './view.types';

/** Characters of an observation that are shown: a panel must not be sent megabytes with each step. */
export const MAX_SHOWN = 20_000;
const MAX_SUMMARY = 120;

export function sessionView(session: Session): SessionView {
  const { environment, task, policy } = session.setup;
  const { state, id } = session.tip;
  const places = placesOf(session.path(id));
  return {
    environment: environment.name,
    task: task.id,
    instruction: task.instruction,
    model: policy.model,
    tier: policy.tier,
    contextLength: policy.contextLength,
    turns: state.turns.map((turn) => turnView(turn, places, environment.gates === 'check')),
    branches: branches(session),
    end: endView(state),
    cursor: session.cursor.id,
    tip: id,
  };
}

/** One turn of the branch shown: what changes while an output is written. */
export function lastTurnView(session: Session): TurnView | null {
  const { state, id } = session.tip;
  const turn = state.turns[state.turns.length - 1];
  if (!turn) return null;
  return turnView(turn, placesOf(session.path(id)), session.setup.environment.gates === 'check');
}

export function tokenView(node: number, token: Token): TokenView {
  const { id, text, logprob, entropy, rank, origin, end } = token;
  const alternatives = token.alternatives.map((other) => ({
    id: other.id,
    text: other.text,
    logprob: other.logprob,
  }));
  return { node, id, text, logprob, entropy, rank, origin, alternatives, ...(end ? { end } : {}) };
}

export function endView(state: State): EndView | null {
  if (state.position.kind !== 'done') return null;
  const { stop, message } = state.position;
  const { value, success, checks } = rewardOf(state);
  return { stop, ...(message ? { message } : {}), reward: value, success, checks };
}

/** Which nodes hold what, by output (`turn/act`, `turn/call`). */
interface Places {
  prompts: Map<string, number>;
  tokens: Map<string, SessionNode[]>;
  observations: Map<string, number>;
}

function placesOf(path: readonly SessionNode[]): Places {
  const places: Places = { prompts: new Map(), tokens: new Map(), observations: new Map() };
  for (let i = 1; i < path.length; i++) {
    const node = path[i]!;
    const before = path[i - 1]!.state;
    const { position } = before;
    const turn = currentTurnIndex(before);
    const call = 'call' in position ? position.call : null;
    const key = outputKey(turn, call);
    switch (node.reply?.kind) {
      case 'prompt':
        places.prompts.set(key, node.id);
        break;
      case 'token': {
        const list = places.tokens.get(key);
        if (list) list.push(node);
        else places.tokens.set(key, [node]);
        if (call !== null) places.observations.set(key, node.id);
        break;
      }
      case 'observation':
      case 'executed':
        places.observations.set(key, node.id);
    }
  }
  return places;
}

export function outputKey(turn: number, call: number | null): string {
  return `${turn}/${call ?? 'act'}`;
}

function turnView(turn: Turn, places: Places, gatesChecked: boolean): TurnView {
  return {
    index: turn.index,
    user: turn.user,
    act: outputView('act', outputKey(turn.index, null), turn.act.draw, turn.act.end !== null, places),
    answer: turn.parse && turn.calls.length === 0 ? turn.parse.content : null,
    notes: turn.parse?.notes ?? [],
    calls: turn.calls.map((step) => callView(turn, step, places, gatesChecked)),
  };
}

function outputView(
  role: OutputView['role'],
  key: string,
  draw: number,
  done: boolean,
  places: Places,
): OutputView {
  const nodes = places.tokens.get(key) ?? [];
  const tokens = nodes.flatMap((node) =>
    node.reply?.kind === 'token' ? [tokenView(node.id, node.reply.token)] : [],
  );
  return { role, node: places.prompts.get(key) ?? 0, draw, tokens, done };
}

function callView(turn: Turn, step: CallStep, places: Places, gatesChecked: boolean): CallView {
  const key = outputKey(turn.index, step.index);
  const { rehearsal, observation } = step;
  return {
    index: step.index,
    text: callText(turn, step),
    tool: step.call?.name ?? null,
    gate: step.gate && { code: step.gate.code, message: step.gate.message },
    gatesChecked,
    rehearsal: rehearsal && outputView('rehearse', key, rehearsal.draw, rehearsal.end !== null, places),
    observation: observation && observationView(observation, places.observations.get(key) ?? 0),
  };
}

/** `name({"argument": …})`, or the text that was no call. */
export function callText(turn: Turn, step: CallStep): string {
  if (step.call) return `${step.call.name}(${step.call.argumentsText})`;
  const item = turn.parse?.items[step.index];
  return item?.kind === 'format_error' ? item.text : '';
}

function observationView(observation: NonNullable<CallStep['observation']>, node: number): ObservationView {
  const { source, outcome, value } = observation;
  const { text: beginning, cut } = previewJson(value, MAX_SHOWN);
  const text = cut ? beginning : formatJson(value);
  return { node, source, outcome, text, summary: summaryOf(observation), ...(cut && { cut }) };
}

/** One line that says what an observation was. */
export function summaryOf({ outcome, value }: NonNullable<CallStep['observation']>): string {
  if (outcome === 'error' && isObject(value)) {
    const refused = value.error_tool_call;
    if (isObject(refused)) return `${String(refused.code)}: ${String(refused.message)}`;
    if (typeof value.error === 'string') return `error: ${value.error}`;
  }
  const { text, cut } = previewJson(value, 10 * MAX_SUMMARY);
  const line = cut ? text.replace(/\n\s*/g, ' ') : formatJson(value);
  return line.length > MAX_SUMMARY ? `${line.slice(0, MAX_SUMMARY - 1)}…` : line;
}
