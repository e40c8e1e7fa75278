/** What stands at the cursor: the turn, the output and the token that the debugger shows. */

import { currentTurnIndex } from '../../core/rehearsal/machine';
import type { Session } from '../../core/rehearsal/session';
import type { CallStep, Output, State, Token, Turn } from '../../core/rehearsal/types';

export interface Focus {
  state: State;
  /** Null before the first turn has begun. */
  turn: Turn | null;
  /** The output that the cursor's token belongs to, or that has just begun. */
  output: Output | null;
  /** The call that is rehearsed or was answered. */
  step: CallStep | null;
  token: Token | null;
  /** Node of the token, for choosing another. */
  node: number;
  /** "ACT", "REHEARSE get_order", "OBSERVATION get_order", "USER". */
  title: string;
}

export function focusOf(session: Session): Focus {
  const { cursor } = session;
  const { state, reply } = cursor;
  const none: Focus = {
    state,
    turn: null,
    output: null,
    step: null,
    token: null,
    node: cursor.id,
    title: 'START',
  };
  if (cursor.parent === null) return none;
  const before = session.node(cursor.parent).state;
  if (reply?.kind === 'user')
    return { ...none, turn: state.turns[state.turns.length - 1] ?? null, title: 'USER' };
  // The position that this reply was given to says which output it belongs to.
  const { position } = reply?.kind === 'prompt' ? state : before;
  const turn = state.turns[turnOf(before, reply?.kind === 'prompt') - 1] ?? null;
  if (position.kind !== 'tokens' && position.kind !== 'observation' && position.kind !== 'execution') {
    return { ...none, turn };
  }
  const step = position.call === null ? null : (turn?.calls[position.call] ?? null);
  const name = step ? ` ${step.call?.name ?? 'not a call'}` : '';
  if (position.kind !== 'tokens') return { ...none, turn, step, title: `OBSERVATION${name}` };
  return {
    ...none,
    turn,
    step,
    output: (step ? step.rehearsal : turn?.act) ?? null,
    token: reply?.kind === 'token' ? reply.token : null,
    title: position.role === 'act' ? 'ACT' : `REHEARSE${name}`,
  };
}

function turnOf(before: State, isPrompt: boolean): number {
  return isPrompt ? currentTurnIndex(before) : before.turns.length;
}
