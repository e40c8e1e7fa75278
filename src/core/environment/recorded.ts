/** Recorded answers that may stand for a rehearsal, word for word. */
import type { Call } from '../conversation/types';
import { equalJson, type Json } from '../json';
import type { Environment, Example } from './types';

export interface CallBefore {
  tool: string;
  readOnly: boolean;
  /** It passed the gates; what a gate refused has changed nothing. */
  valid: boolean;
}

/**
 * The example with the same tool and equal arguments whose answer holds here: recorded from the same initial
 * state and not after a write, not held out, not known to be wrong, and only while no call that may write has
 * gone before.
 * @param state the task's own initial state; absent means the environment's
 */
export function findRecorded(
  environment: Environment,
  call: Pick<Call, 'name' | 'arguments'>,
  callsBefore: readonly CallBefore[],
  state?: Json,
): Example | null {
  if (callsBefore.some((before) => before.valid && !before.readOnly)) return null;
  if (!exact(call.arguments)) return null;
  const found = environment.examples.find(
    (example) =>
      example.tool === call.name &&
      !example.afterWrite &&
      example.part === 'train' &&
      example.verdict !== 'real tool wrong' &&
      equalJson(example.state, state) &&
      equalJson(example.arguments, call.arguments),
  );
  return found ?? null;
}

/** Whether numbers mean what was written: two ids beyond 2^53 may read as the same number. */
function exact(value: Json): boolean {
  if (typeof value === 'number') return Math.abs(value) <= Number.MAX_SAFE_INTEGER;
  if (typeof value !== 'object' || value === null) return true;
  return Object.values(value).every(exact);
}
