/** What a command may use of the terminal it runs in. */
import type { Page } from './transcript';

export interface Terminal {
  /** Standard output, for people. */
  page: Page;
  /** Standard output, an object a line. */
  json(value: object): void;
  /** Standard error: progress, notices. */
  say(line: string): void;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
  /** A person sits at a keyboard. */
  interactive: boolean;
}

/** Exit codes, for CI. */
export const EXIT = {
  ok: 0,
  /** A task failed, or a file has errors. */
  failed: 1,
  /** Wrong use, or input that cannot be read. */
  usage: 2,
  /** No server, or it did not do its part. */
  server: 3,
  interrupted: 130,
} as const;
