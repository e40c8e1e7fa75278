/** What the rollouts of a step say, as figures of its row of metrics. */
import { type CallBefore, findRecorded } from '../environment/recorded';
import { rulesOf } from '../fidelity/author';
import { compareAnswers } from '../fidelity/compare';
import { tokensOf } from '../rehearsal/lists';
import type { CallStep, Output, Role, State } from '../rehearsal/types';
import type { Metrics } from './run.types';
import { toldIn } from './told';

/** A rollout as measuring sees it. */
export interface Seen {
  task: string;
  /** Null where it could not be scored. */
  reward: number | null;
  success: boolean;
  /** Null where it did not begin. */
  state: State | null;
}

export type RolloutFigures = Pick<
  Metrics,
  | 'reward'
  | 'success'
  | 'rollouts'
  | 'unscored'
  | 'outputs'
  | 'tokens'
  | 'calls'
  | 'gateFailures'
  | 'wellFormed'
  | 'recordedCalls'
  | 'contradictions'
  | 'told'
  | 'stops'
  | 'entropy'
>;

export function measureRollouts(rollouts: readonly Seen[]): RolloutFigures {
  const scored = rollouts.filter(({ reward }) => reward !== null);
  const states = rollouts.flatMap(({ state }) => state ?? []);
  const outputs = states.flatMap(outputsIn);
  const calls = states.flatMap((state) => callsIn(state));
  const rehearsed = calls.filter(({ step }) => step.observation?.source === 'rehearsed');
  const asked = rehearsed.map(contradictionOf).filter((one) => one !== null);
  return {
    reward: mean(scored.map(({ reward }) => reward!)),
    success: mean(scored.map(({ success }) => (success ? 1 : 0))),
    rollouts: rollouts.length,
    unscored: rollouts.length - scored.length,
    outputs: byRole((role) => outputs.filter((output) => output.role === role).length),
    tokens: byRole((role) =>
      outputs.reduce((sum, output) => sum + (output.role === role ? (output.tokens?.length ?? 0) : 0), 0),
    ),
    calls: calls.length,
    gateFailures: countBy(calls, ({ step }) => gateCode(step)),
    wellFormed: mean(rehearsed.map(({ step }) => (step.observation!.raw === undefined ? 1 : 0))),
    recordedCalls: asked.length,
    contradictions: asked.filter((contradicts) => contradicts).length,
    told: toldIn(rollouts),
    stops: countBy(states, ({ position }) => (position.kind === 'done' ? position.stop : null)),
    entropy: byRole((role) => entropyOf(outputs.filter((output) => output.role === role))),
  };
}

function outputsIn({ turns }: State): Output[] {
  return turns.flatMap(({ act, calls }) => [act, ...calls.flatMap(({ rehearsal }) => rehearsal ?? [])]);
}

interface CallInRollout {
  step: CallStep;
  state: State;
  /** Calls before it in the rollout. */
  before: CallStep[];
}

/** Calls that were answered, in their order. */
export function callsIn(state: State): CallInRollout[] {
  const steps = state.turns.flatMap(({ calls }) => calls.filter(({ observation }) => observation));
  return steps.map((step, i) => ({ step, state, before: steps.slice(0, i) }));
}

/** As the rule of recorded answers wants them. */
export function earlierCalls(before: readonly CallStep[]): CallBefore[] {
  return before
    .filter(({ call }) => call)
    .map(({ call, tool, gate }) => ({
      tool: call!.name,
      readOnly: tool?.readOnly ?? false,
      valid: gate === null && tool !== undefined,
    }));
}

/** Our own gate's code, or the one that the policy gave in its place (`gates: "prompt"`). */
function gateCode({ gate, observation }: CallStep): string | null {
  if (gate) return gate.code;
  const value = observation?.value;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const refused = value.error_tool_call;
  const code =
    typeof refused === 'object' && refused !== null && !Array.isArray(refused) ? refused.code : null;
  return typeof code === 'string' && GATE_CODES.has(code) ? code : null;
}

const GATE_CODES = new Set(['INVALID_TOOL_CALL_FORMAT', 'TOOL_NOT_AVAILABLE', 'INVALID_PARAMETERS']);

/** Whether a rehearsal says otherwise than the record of its call does; null where there is no record. */
function contradictionOf({ step, state, before }: CallInRollout): boolean | null {
  const { environment, task } = state.setup;
  if (!step.call) return null;
  const recorded = findRecorded(environment, step.call, earlierCalls(before), task.state);
  if (!recorded) return null;
  const { outcome, value } = step.observation!;
  return compareAnswers({ outcome, value }, recorded, rulesOf(environment)).verdict === 'differs';
}

function entropyOf(outputs: readonly Output[]): number | null {
  return mean(
    outputs.flatMap(({ tokens }) =>
      tokensOf(tokens).flatMap(({ entropy }) => (entropy === null ? [] : entropy)),
    ),
  );
}

export function mean(values: readonly number[]): number | null {
  return values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
}

function byRole<T>(of: (role: Role) => T): { act: T; rehearse: T } {
  return { act: of('act'), rehearse: of('rehearse') };
}

function countBy<T>(items: readonly T[], name: (item: T) => string | null): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const item of items) {
    const key = name(item);
    if (key !== null) counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}
