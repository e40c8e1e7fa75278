/** Checks that only a real execution can decide; in rehearsal they are left out. */
import type { Json } from '../json';
import { isPath, valuesAt } from '../jsonpath';
import type { Finding } from './checks';
import { matches, resolved } from './matchers';
import type { Check, Transcript } from './types';

const LEFT_OUT: Finding = { verdict: 'left out', reason: 'Only a real execution can decide this.' };

/** The state at the end, or a part of it, is as expected. */
export function checkState(check: Extract<Check, { kind: 'state' }>, { real }: Transcript): Finding {
  if (!real) return LEFT_OUT;
  if (real.state === undefined) {
    return { verdict: 'unscored', reason: 'The executor has no state that can be read.' };
  }
  const path = check.path ?? '$';
  if (!isPath(path)) return { verdict: 'unscored', reason: `${path} is not a path such as $.orders.` };
  const found = valuesAt(real.state, path);
  const where = check.path ? `The final state at ${check.path}` : 'The final state';
  // Nothing at a path is what {"$absent": true} asks for.
  const actuals: (Json | undefined)[] = found.length ? found : [undefined];
  const wrong = actuals.findIndex((actual) => !matches(check.equals, actual));
  if (wrong < 0) return { verdict: 'holds', reason: `${where} is as expected.` };
  const actual = actuals[wrong];
  return {
    verdict: 'fails',
    reason: actual === undefined ? `${where} is absent.` : `${where} is not as expected.`,
    expected: JSON.stringify(resolved(check.equals, actual), null, 2),
    actual: actual === undefined ? '' : JSON.stringify(actual, null, 2),
  };
}

/** What the program said; it ran before, since core runs nothing. */
export function checkCommand({ real }: Transcript, index: number): Finding {
  if (!real) return LEFT_OUT;
  return real.commands[index] ?? { verdict: 'unscored', reason: 'The program was not run.' };
}
