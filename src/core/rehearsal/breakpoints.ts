/** Where Continue stops: function breakpoints name tools, exception filters name what went wrong. */
import type { Until } from './drivers';
import type { CallStep, State } from './types';

export interface Filters {
  /** Stop before the observation of a call to one of these tools. */
  tools: ReadonlySet<string>;
  failedGate: boolean;
  rehearsedError: boolean;
  unparseable: boolean;
  /** Stop after a rehearsed or recorded answer that differs from the real one: whoever drives has it executed. */
  differsFromReal: boolean;
  /** Stop after a token less likely than this (0 to 1), or null. */
  belowProbability: number | null;
}

export const NO_FILTERS: Filters = {
  tools: new Set(),
  failedGate: false,
  rehearsedError: false,
  unparseable: false,
  differsFromReal: false,
  belowProbability: null,
};

export type StopReason =
  | { kind: 'function breakpoint'; tool: string }
  | { kind: 'exception'; filter: ExceptionFilter; text: string };

export type ExceptionFilter =
  | 'failedGate'
  | 'rehearsedError'
  | 'unparseable'
  | 'differsFromReal'
  | 'belowProbability';

/** Why to stop after this step, or null. Pure, so that stepping back can ask it too. */
export function stopReason(
  filters: Filters,
  { before, after, reply }: Parameters<Until>[0],
): StopReason | null {
  if (reply.kind === 'token' && filters.belowProbability !== null && reply.token.logprob !== null) {
    const probability = Math.exp(reply.token.logprob);
    if (probability < filters.belowProbability) {
      return exception('belowProbability', `"${reply.token.text}" had probability ${probability.toFixed(3)}`);
    }
  }
  const observed = newObservation(before, after);
  if (observed) {
    const { source, outcome, value, raw } = observed.observation!;
    if (source === 'gate' && filters.failedGate) return exception('failedGate', JSON.stringify(value));
    if (raw !== undefined && filters.unparseable) return exception('unparseable', JSON.stringify(value));
    if (source === 'rehearsed' && raw === undefined && outcome === 'error' && filters.rehearsedError) {
      return exception('rehearsedError', JSON.stringify(value));
    }
  }
  const called = pendingCall(after);
  if (called?.call && called !== pendingCall(before) && filters.tools.has(called.call.name)) {
    return { kind: 'function breakpoint', tool: called.call.name };
  }
  return null;
}

function exception(filter: ExceptionFilter, text: string): StopReason {
  return { kind: 'exception', filter, text };
}

function lastCalls(state: State): readonly CallStep[] {
  return state.turns[state.turns.length - 1]?.calls ?? [];
}

/** The call that this step answered, or undefined. */
export function newObservation(before: State, after: State): CallStep | undefined {
  const known = before.turns.length === after.turns.length ? lastCalls(before) : [];
  return lastCalls(after).find((step) => step.observation && !known[step.index]?.observation);
}

/** The call whose observation comes next and has not begun. */
function pendingCall(state: State): CallStep | undefined {
  const { position } = state;
  if (position.kind === 'tokens' || position.kind === 'user' || position.kind === 'done') return undefined;
  return position.call === null ? undefined : lastCalls(state)[position.call];
}
