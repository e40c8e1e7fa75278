/** What moves a session without sampling a token: each goes to a place and says why the session stands there. */
import { chooseAlternative, restartTask, sampleAgain } from '../../core/rehearsal/forks';
import type { Session } from '../../core/rehearsal/session';
import type { OtherAnswer } from './beside';
import { takeReal } from './real';
import type { Reason } from './watching';

export type Move = (session: Session) => Reason;

/** Before the first token of the task, in a new draw. */
export const restarted: Move = (session) => {
  restartTask(session);
  return { kind: 'entry' };
};

export const to =
  (node: number): Move =>
  (session) => {
    session.move(node);
    return stopped(session);
  };

/** Back to the nearest earlier step that is stopped at, else to the start. */
export const toEarlier =
  (seenAt: (node: number) => Reason | null): Move =>
  (session) => {
    const path = session.path();
    for (let i = path.length - 2; i > 0; i--) {
      const found = seenAt(path[i]!.id);
      if (!found) continue;
      session.move(path[i]!.id);
      return found;
    }
    session.move(0);
    return { kind: 'entry' };
  };

/** Puts an alternative in the place of the token at `node`. */
export const alternativeAt =
  (node: number, alternative: number): Move =>
  (session) => {
    const { reply } = session.node(node);
    const choice =
      reply?.kind === 'token' && reply.token.alternatives.find((other) => other.id === alternative);
    if (!choice) throw new RangeError(`node ${node} has no alternative ${alternative}`);
    chooseAlternative(session, node, choice);
    return stopped(session);
  };

/** Before the first token of the output at `node`, in a new draw. */
export const beforeOutput =
  (node: number): Move =>
  (session) => {
    sampleAgain(session, node);
    return { kind: 'goto' };
  };

/** Puts the real answer in the place of the one at `node`, in a branch of its own. */
export const realAnswerAt =
  (node: number, answer: OtherAnswer | undefined): Move =>
  (session) => {
    takeReal(session, node, answer);
    return stopped(session);
  };

function stopped({ state }: Session): Reason {
  return { kind: state.position.kind === 'done' ? 'end' : 'goto' };
}
