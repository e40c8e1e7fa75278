/** Work that might never end: a pattern of a check that backtracks for years must not stop everything else. */
import vm from 'node:vm';

const script = new vm.Script('work()');
const place: { work: (() => unknown) | null } = { work: null };
const context = vm.createContext(place);

export class TookTooLong extends Error {}

/** What `work` returns, which may not wait for anything. Throws `TookTooLong` where it was ended. */
export function within<T>(seconds: number, work: () => T): T {
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
    throw new TookTooLong(`it took longer than ${seconds} s and was ended`);
  } finally {
    place.work = null;
  }
}
