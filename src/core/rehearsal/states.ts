/** Reading and changing states: small immutable steps that the machine is written in. */
import type { CallStep, Output, State, Stop, Turn } from './types';

/** The output that is being written, or null between outputs. */
export function currentOutput(state: State): Output | null {
  if (state.position.kind !== 'tokens') return null;
  const turn = lastTurn(state);
  return state.position.call === null ? turn.act : turn.calls[state.position.call]!.rehearsal;
}

export function lastTurn(state: State): Turn {
  return state.turns[state.turns.length - 1]!;
}

/** 1-based; a turn begins with the prompt of its ACT. */
export function currentTurnIndex(state: State): number {
  const opens = state.position.kind === 'prompt' && state.position.role === 'act';
  return state.turns.length + (opens ? 1 : 0);
}

export function done(state: State, stop: Stop, message?: string): State {
  return { ...state, position: { kind: 'done', stop, message } };
}

export function withTurn(state: State, turn: Turn): State {
  return { ...state, turns: [...state.turns.slice(0, -1), turn] };
}

export function withCall(state: State, index: number, change: Partial<CallStep>): State {
  const turn = lastTurn(state);
  const calls = turn.calls.map((step) => (step.index === index ? { ...step, ...change } : step));
  return withTurn(state, { ...turn, calls });
}

export function withOutput(state: State, output: Output): State {
  if (output.call !== null) return withCall(state, output.call, { rehearsal: output });
  return withTurn(state, { ...lastTurn(state), act: output });
}
