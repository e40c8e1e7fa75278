/** Recorded answers that may stand for a rehearsal, word for word. */
import type { Call } from '../conversation/types';
import { equalJson, type Json } from '../json';
import type { Environment, Example } from './types';

/**
 * Whether a record tells what the tools answer at the start of a task: recorded from the same initial state and
 * not after a write, not held out, not known to be wrong. REHEARSE sees these, and these may stand for it.
 * @param state the task's own initial state; absent means the environment's
 */
export function holdsAtStart(example: Example, state: Json | undefined): boolean {
  return (
    !example.afterWrite &&
    example.part === 'train' &&
    example.verdict !== 'real tool wrong' &&
    equalJson(example.state, state)
  );
}

export interface CallBefore {
  tool: string;
  readOnly: boolean;
  /** It passed the gates; what a gate refused has changed nothing. */
  valid: boolean;
}

/**
 * The example with the same tool and equal arguments whose answer holds here: it holds at the start, and no call
 * that may write has gone before.
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
      holdsAtStart(example, state) &&
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
