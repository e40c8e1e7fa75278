/** What is watched for while a session is driven: breakpoints and filters look at each step. */
import type { Until } from '../../core/rehearsal/drivers';
import type { Session } from '../../core/rehearsal/session';
import type { Stop } from './stops';

type Step = Parameters<Until>[0];

/** What a step is stopped for. */
export type Reason = Pick<Stop, 'kind' | 'exception'>;

/** Why to stop after a step besides the gesture itself: breakpoints and filters. */
export type Watch = (step: Step) => Reason | null;

/** The step that led to a node; null for the start. */
export function stepTo(session: Session, id: number): Step | null {
  const node = session.node(id);
  if (node.parent === null || !node.reply) return null;
  return { before: session.node(node.parent).state, after: node.state, reply: node.reply, node };
}
