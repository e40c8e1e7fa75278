/** Where a session stands and why it stopped there, in words. */
import { currentOutput, currentTurnIndex } from '../../core/rehearsal/machine';
import type { Session, SessionRecord } from '../../core/rehearsal/session';
import type { State } from '../../core/rehearsal/types';
import { rewardOf } from '../../core/reward/rollout';

export type StopKind =
  | 'entry'
  | 'step'
  | 'pause'
  | 'breakpoint'
  | 'function breakpoint'
  | 'exception'
  | 'goto'
  | 'end'
  | 'failed';

/** Who asked: a step from the panel leaves the keyboard there. */
export type Surface = 'panel' | 'debugger';

export interface Stop {
  kind: StopKind;
  /** A sentence for the panel's head and the call stack. */
  text: string;
  by: Surface;
  /** What an exception filter saw. */
  exception?: { filter: string; text: string };
}

/** "turn 3, ACT, token 12"; what stands at the cursor. */
export function placeOf(session: Session): string {
  const { cursor } = session;
  const { state, reply } = cursor;
  const turn = currentTurnIndex(state);
  if (cursor.id === 0 || turn === 0) return 'the start';
  if (reply?.kind === 'token') {
    const before = session.node(cursor.parent!).state;
    const output = currentOutput(before)!;
    const role = output.role === 'act' ? 'ACT' : 'REHEARSE';
    return `turn ${output.turn}, ${role}, token ${(output.tokens?.length ?? 0) + 1}`;
  }
  if (reply?.kind === 'observation' || reply?.kind === 'executed') {
    const before = session.node(cursor.parent!).state;
    return `turn ${currentTurnIndex(before)}, observation`;
  }
  if (reply?.kind === 'prompt') return `the start of turn ${turn}`;
  return `turn ${turn}`;
}

/** "Ended: answered, reward 0.80". */
function endText(state: State): string {
  if (state.position.kind !== 'done') return '';
  const { stop, message } = state.position;
  const { value } = rewardOf(state);
  const reward = value === null ? 'no reward' : `reward ${value.toFixed(2)}`;
  return `Ended: ${stop.replaceAll('_', ' ')}${message ? ` (${message})` : ''}, ${reward}`;
}

export function stopText(kind: StopKind, session: Session): string {
  const place = placeOf(session);
  switch (kind) {
    case 'end':
      return endText(session.state);
    case 'pause':
      return `Paused at ${place}`;
    default:
      return `Stopped at ${place}`;
  }
}

/** What an open session tells whoever shows it. */
export interface SessionEvents {
  /** A node was added or the cursor moved; many in a second while it runs. */
  record: [SessionRecord];
  /** It began to run. */
  run: [Surface];
  /** It stands still again, or its place changed while it stood. */
  stop: [Stop];
  /** Still running, with something to tell: what it waits for. */
  notice: [];
  /** Who answers the next calls was changed. */
  observations: [];
  close: [];
}
