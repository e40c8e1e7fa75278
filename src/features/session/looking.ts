/** Driving with an eye on the real tools: a run that stops where a rehearsed answer differs from the real one. */
import type { Comparison } from '../../core/fidelity/types';
import { formatJson } from '../../core/json';
import { newObservation } from '../../core/rehearsal/breakpoints';
import { drive, GESTURES, type Gesture, type Ports, type Until } from '../../core/rehearsal/drivers';
import type { Beside } from './beside';
import type { LiveSession } from './live';
import { type Reason, stepTo } from './watching';

/**
 * Drives as the gesture says, and to where `watch` stops. Where the session looks at real answers, each rehearsed one
 * is executed too: answers why it stopped there, or null.
 */
export async function driveLooking(
  live: LiveSession,
  gesture: Gesture,
  ports: Ports,
  signal: AbortSignal,
): Promise<Reason | null> {
  const { beside, session } = live;
  let looks = live.looksAtReal;
  for (;;) {
    let isComplete = false;
    const until: Until = (step) => {
      isComplete = GESTURES[gesture](step) || live.watch(step) !== null;
      return isComplete || (looks && isRehearsedAnswer(step));
    };
    // One token always stops; `drive` knows it by identity and asks the server for one token only.
    await drive(session, ports, gesture === 'token' ? GESTURES.token : until, signal);
    const { id } = session.cursor;
    if (!looks || signal.aborted || !isRehearsedAnswer(stepTo(session, id))) return null;
    await beside.compare(id, signal);
    // Who said no once is not asked again at each call of the same run.
    looks = beside.get(id) !== undefined;
    const found = differenceAt(beside, id);
    if (found || isComplete || gesture === 'token' || signal.aborted || live.ended) return found;
  }
}

/** What the real tool answered else than the session, as far as both were compared. */
export function differenceAt(beside: Beside, id: number): Reason | null {
  const comparison = beside.get(id)?.comparison;
  if (comparison?.verdict !== 'differs') return null;
  return { kind: 'exception', exception: { filter: 'differsFromReal', text: differenceText(comparison) } };
}

/** A step that answered a call without executing it. */
function isRehearsedAnswer(step: Parameters<Until>[0] | null): boolean {
  const source = step && newObservation(step.before, step.after)?.observation?.source;
  return source === 'rehearsed' || source === 'recorded';
}

const MAX_VALUE = 80;

/** "$.status: rehearsed "pending", really "delivered"", and how much else. */
function differenceText({ first, fields }: Comparison): string {
  if (!first) return 'the answers differ';
  const text = (value: typeof first.real) =>
    value === undefined ? 'nothing' : formatJson(value).slice(0, MAX_VALUE);
  const others = fields.filter(({ kind }) => kind !== 'match' && kind !== 'tolerable').length - 1;
  const more = others > 0 ? `, and ${others} more` : '';
  return `${first.path}: rehearsed ${text(first.rehearsed)}, really ${text(first.real)}${more}`;
}
