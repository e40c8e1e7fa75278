/**
 * Work that might never end: a pattern of a check that backtracks for years must not stop everything else. Whoever
 * imports this module has the checks of core bounded.
 */
import vm from 'node:vm';
import { boundChecks } from '../core/reward/checks';
import type { Check } from '../core/reward/types';

const script = new vm.Script('work()');
const place: { work: (() => unknown) | null } = { work: null };
const context = vm.createContext(place);

/** What `work` returns, which may not wait for anything. Throws where it was ended. */
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
    throw new Error(`it took longer than ${seconds} s and was ended`);
  } finally {
    place.work = null;
  }
}

/** Far longer than honest checks take. */
const SECONDS = 3;

/** Checks that were ended, as texts. */
const ended = new Set<string>();

/** Whether these checks were ended before: a list of saved sessions has the same ones again and again. */
export function wereEnded(checks: readonly Check[]): boolean {
  return ended.size > 0 && ended.has(JSON.stringify(checks));
}

boundChecks((checks, work) => {
  if (!checks.length) return work();
  try {
    return within(SECONDS, work);
  } catch (error) {
    ended.add(JSON.stringify(checks));
    throw error;
  }
});
