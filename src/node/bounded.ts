/**
 * Work that might never end: a pattern of a check that backtracks for years must not stop everything else. Whoever
 * imports this module has the checks of core bounded; `test/unit/bundles.test.ts` holds every program to it.
 */
import { createHash } from 'node:crypto';
import vm from 'node:vm';
import { boundChecks } from '../core/reward/checks';
import type { Check, Transcript } from '../core/reward/types';

const script = new vm.Script('work()');
const place: { work: (() => unknown) | null } = { work: null };
const context = vm.createContext(place);

class TookTooLong extends Error {
  constructor(seconds: number) {
    super(`it took longer than ${seconds} s and was ended`);
  }
}

/** What `work` returns, which may not wait for anything. Throws `TookTooLong` where it was ended. */
function within<T>(seconds: number, work: () => T): T {
  let result: T | undefined;
  place.work = () => {
    result = work();
  };
  try {
    // The watch ends whatever this thread computes, also a pattern in the midst of a match.
    script.runInContext(context, { timeout: seconds * 1000 });
    return result as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    throw new TookTooLong(seconds);
  } finally {
    place.work = null;
  }
}

interface Ended {
  /** Time from which these checks are tried again, and how long that is put off, in milliseconds. */
  until: number;
  wait: number;
  /** Digests of what they were evaluated on. */
  on: Set<string>;
}

/** Checks that are ended after a while, and tried again after another: the machine may only have been busy. */
export class Bounds {
  private readonly ended = new Map<string, Ended>();

  constructor(
    private readonly seconds: number,
    private readonly firstWait = 60_000,
    private readonly now = Date.now,
  ) {}

  /** What `work` returns, an evaluation of `checks` on `transcript`. Throws where it was ended now, or just before. */
  run<T>(checks: readonly Check[], transcript: Transcript, work: () => T): T {
    if (!checks.length) return work();
    if (this.recent(checks)?.on.has(digest(transcript))) throw new TookTooLong(this.seconds);
    try {
      return within(this.seconds, work);
    } catch (error) {
      if (error instanceof TookTooLong) this.remember(checks, transcript);
      throw error;
    }
  }

  /** Whether these checks were ended of late, on whatever: a list of saved sessions has the same ones many times. */
  wereEnded(checks: readonly Check[]): boolean {
    return this.recent(checks) !== undefined;
  }

  private recent(checks: readonly Check[]): Ended | undefined {
    if (this.ended.size === 0) return undefined;
    const known = this.ended.get(JSON.stringify(checks));
    return known && this.now() < known.until ? known : undefined;
  }

  private remember(checks: readonly Check[], transcript: Transcript): void {
    const key = JSON.stringify(checks);
    const before = this.ended.get(key);
    const recent = this.recent(checks);
    // Those that never come to an end are tried ever less often.
    const wait = recent?.wait ?? (before ? 2 * before.wait : this.firstWait);
    const on = new Set([...(recent?.on ?? []), digest(transcript)]);
    this.ended.set(key, { until: this.now() + wait, wait, on });
  }
}

function digest(transcript: Transcript): string {
  return createHash('sha256').update(JSON.stringify(transcript)).digest('base64');
}

/** Far longer than honest checks take. */
const bounds = new Bounds(3);

export const wereEnded = (checks: readonly Check[]): boolean => bounds.wereEnded(checks);

boundChecks((checks, transcript, work) => bounds.run(checks, transcript, work));
