/** Real answers as part of a session: taking one, and where a branch with real answers leaves. Knows no VS Code. */
import { equalJson } from '../../core/json';
import { callAnsweredAt } from '../../core/rehearsal/calls';
import { openCall } from '../../core/rehearsal/machine';
import type { Session, SessionNode } from '../../core/rehearsal/session';
import type { OtherAnswer } from './beside';

/** Puts a real answer in the place of the one at `node`, and moves there; one that is there already is shown again. */
export function takeReal(session: Session, node: number, other: OtherAnswer | undefined): void {
  const place = callAnsweredAt(session, node);
  if (!place || other?.source !== 'real' || !other.answer || other.status !== 'done')
    throw new RangeError(`there is no real answer at node ${node}`);
  const { outcome, value } = other.answer;
  const known = place.at.children
    .map((id) => session.node(id))
    .find(({ reply }) => reply?.kind === 'executed' && equalJson(reply.value, value));
  if (known) session.move(known.id);
  else {
    const durationMs = other.durationMs ?? 0;
    const more = other.raw === undefined ? {} : { raw: other.raw };
    session.add({ kind: 'executed', outcome, value, durationMs, ...more }, place.at.id);
  }
}

/** Where the branch shown has, for the first time, another answer than the real tool's; null where it has none. */
export function firstNotReal(session: Session): SessionNode | null {
  const path = session.path(session.tip.id);
  const found = path.find(
    ({ state }, i) => openCall(state) !== null && path[i + 1] && path[i + 1]!.reply?.kind !== 'executed',
  );
  return found ?? null;
}
