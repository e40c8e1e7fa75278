/** The calls that one model was compared on, for another one. */
import type { Example } from '../../core/environment/types';
import { recordOf } from '../../core/fidelity/author';
import { type ComparedCall, inOrder } from '../../core/fidelity/comparison';
import type { CompareTarget } from './compare';

/**
 * Each call with the real answer that it had there, so that nothing is executed twice. Only recorded calls: those of
 * a task are another model's own, in a conversation of its own.
 * @param examples by the index of their pairs
 */
export function sameCalls(
  pairs: readonly ComparedCall[],
  examples: readonly Example[] = [],
): CompareTarget[] {
  return inOrder(pairs.filter(({ task }) => task === null)).map((pair) => {
    const { index, state, afterWrite, real, recorded } = pair;
    const record =
      examples[index] ?? recordOf(pair, { ...(typeof state === 'string' && { state }), afterWrite });
    return {
      kind: 'call',
      example: { ...record, outcome: real.outcome, value: real.value },
      index,
      recorded,
    };
  });
}
