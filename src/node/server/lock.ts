/** A lock between programs of one user: a file that its holder keeps fresh, taken over when the holder is gone. */
import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive } from './discovery';

const FRESHEN_MS = 2000;
const STALE_MS = 15_000;
const POLL_MS = 150;

/**
 * Runs `work` while holding the lock. Until it is free, `waiting` is asked each time: what it returns, where
 * that is not null, is the result, and nothing runs.
 */
export async function withLock<T>(
  file: string,
  work: () => Promise<T>,
  waiting: () => Promise<T | null>,
  signal?: AbortSignal,
): Promise<T> {
  while (!take(file)) {
    signal?.throwIfAborted();
    const given = await waiting();
    if (given !== null) return given;
    await sleep(POLL_MS);
  }
  const timer = setInterval(() => touch(file), FRESHEN_MS);
  timer.unref();
  try {
    return await work();
  } finally {
    clearInterval(timer);
    release(file);
  }
}

function take(file: string): boolean {
  try {
    fs.writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  if (!isStale(file)) return false;
  // Of several that see it stale, one succeeds in moving it away.
  const aside = `${file}.${process.pid}.stale`;
  try {
    fs.renameSync(file, aside);
    fs.rmSync(aside, { force: true });
  } catch {
    return false;
  }
  return false; // taken in the next round, by whoever is first
}

function isStale(file: string): boolean {
  try {
    const holder = Number(fs.readFileSync(file, 'utf8'));
    const age = Date.now() - fs.statSync(file).mtimeMs;
    if (Number.isInteger(holder) && holder > 0 && !isAlive(holder)) return true;
    return age > STALE_MS;
  } catch {
    return false; // gone in this moment
  }
}

function touch(file: string): void {
  try {
    const now = new Date();
    fs.utimesSync(file, now, now);
  } catch {
    // Somebody took it over because we slept too long; what we do is safe to do twice.
  }
}

function release(file: string): void {
  try {
    if (fs.readFileSync(file, 'utf8') === String(process.pid)) fs.rmSync(file, { force: true });
  } catch {
    // gone already
  }
}
