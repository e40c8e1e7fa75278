/** What a session has cost: tokens sampled, in all branches, and time spent running since it was opened. */
import type { Session, SessionRecord } from '../../core/rehearsal/session';

export class Meter {
  tokens: number;
  /** Of the runs that have ended. */
  milliseconds = 0;

  constructor(session: Session) {
    this.tokens = session.nodes.filter(({ reply }) => isSampled(reply)).length;
  }

  noted(record: SessionRecord): void {
    if (record.t === 'reply' && isSampled(record.reply)) this.tokens++;
  }
}

function isSampled(reply: unknown): boolean {
  const { kind, token } = (reply ?? {}) as { kind?: string; token?: { origin: string } };
  return kind === 'token' && token?.origin === 'sampled';
}
