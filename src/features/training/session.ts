/** A rollout as a session: what a person would have seen, had they stepped it. */
import { Session, type SessionRecord } from '../../core/rehearsal/session';
import { sessionView } from '../../core/rehearsal/view';
import type { SessionView } from '../../core/rehearsal/view.types';
import { UserError } from '../../core/user-error';

/** @param text of a session file, as the server gives it. Throws `UserError` where it is none. */
export function viewOfSession(text: string): SessionView {
  return sessionView(sessionOf(text));
}

function sessionOf(text: string): Session {
  try {
    const [header, ...records] = text
      .split('\n')
      .filter((line) => line.trim())
      .map((line) => JSON.parse(line) as SessionRecord);
    if (header?.t !== 'session') throw new Error('it does not begin with a session');
    const session = new Session(header.setup);
    for (const record of records) session.replay(record);
    return session;
  } catch (error) {
    throw new UserError(`This rollout cannot be shown: ${(error as Error).message}.`, 'Choose another one.');
  }
}
