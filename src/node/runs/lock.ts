/**
 * One writer for each run: a file that says who. Its holder keeps it fresh; it is taken over where the holder is
 * gone. Every write looks whether the lock is still its own, so that a program which slept cannot write into what
 * another one goes on with.
 */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { isAlive } from '../server/discovery';
import { runErrors } from './errors';

const FRESHEN_MS = 5000;
const STALE_MS = 60_000;

interface Holder {
  pid: number;
  /** Home folders may be shared by machines, whose process ids say nothing to one another. */
  host: string;
  nonce: string;
}

/** Held by this process: a lock with our own process id that is not here is from before a restart. */
const held = new Set<string>();

export class RunLock {
  private readonly timer: NodeJS.Timeout;

  private constructor(
    private readonly file: string,
    private readonly id: string,
    private readonly own: Holder,
  ) {
    held.add(own.nonce);
    this.timer = setInterval(() => this.freshen(), FRESHEN_MS);
    this.timer.unref();
  }

  /** Throws `NodeError` where another program holds it, or where it cannot be written. */
  static take(folder: string, id: string): RunLock {
    const file = path.join(folder, 'lock');
    const own = { pid: process.pid, host: os.hostname(), nonce: randomBytes(8).toString('hex') };
    for (let tries = 0; ; tries++) {
      try {
        fs.writeFileSync(file, JSON.stringify(own), { flag: 'wx' });
        return new RunLock(file, id, own);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw runErrors.unwritable(folder, error);
      }
      const holder = read(file);
      if (tries > 3 || !isStale(file, holder)) throw runErrors.taken(id, nameOf(holder));
      // Of several that see it stale, one succeeds in moving it away; the next round decides.
      const aside = `${file}.${own.nonce}`;
      try {
        fs.renameSync(file, aside);
        fs.rmSync(aside, { force: true });
      } catch {
        // Another one was faster.
      }
    }
  }

  /** Throws where the lock is no longer ours. */
  check(): void {
    const holder = read(this.file);
    if (holder?.nonce !== this.own.nonce) throw runErrors.taken(this.id, nameOf(holder));
  }

  release(): void {
    clearInterval(this.timer);
    held.delete(this.own.nonce);
    try {
      if (read(this.file)?.nonce === this.own.nonce) fs.rmSync(this.file, { force: true });
    } catch {
      // It is stale as soon as this process is gone.
    }
  }

  private freshen(): void {
    try {
      const now = new Date();
      if (read(this.file)?.nonce === this.own.nonce) fs.utimesSync(this.file, now, now);
    } catch {
      // The next write tells.
    }
  }
}

function read(file: string): Holder | null {
  try {
    const holder = JSON.parse(fs.readFileSync(file, 'utf8')) as Holder;
    return typeof holder?.nonce === 'string' && Number.isInteger(holder.pid) ? holder : null;
  } catch {
    return null;
  }
}

function isStale(file: string, holder: Holder | null): boolean {
  if (holder && holder.host === os.hostname()) {
    if (holder.pid === process.pid) return !held.has(holder.nonce);
    if (!isAlive(holder.pid)) return true;
  }
  try {
    // Of a lock without content its writer was killed, or is just about to write it.
    return Date.now() - fs.statSync(file).mtimeMs > (holder ? STALE_MS : 2000);
  } catch {
    return true; // gone in this moment
  }
}

function nameOf(holder: Holder | null): string {
  if (!holder) return 'unknown';
  return holder.host === os.hostname() ? `process ${holder.pid}` : `process ${holder.pid} on ${holder.host}`;
}
