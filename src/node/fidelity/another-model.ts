/** The calls that one model was compared on, for another one. */
import type { Example } from '../../core/environment/types';
import { recordOf } from '../../core/fidelity/author';
import { type ComparedCall, inOrder } from '../../core/fidelity/comparison';
import type { State } from '../../core/rehearsal/types';
import type { CompareTarget } from './compare';

export interface KnownCalls {
  /** Recorded calls by the index of their pairs. */
  examples?: readonly Example[];
  /** How the conversation of a task ended, by the task's id. */
  conversations?: ReadonlyMap<string, State>;
}

/**
 * Each call with the real answer that it had there, so that nothing is executed twice. Calls of a task or session are
 * rehearsed in the conversation of the model that made them; where that is not known they are left out.
 */
export function targetsForAnother(
  pairs: readonly ComparedCall[],
  { examples = [], conversations = new Map() }: KnownCalls = {},
): CompareTarget[] {
  const ordered = inOrder(pairs);
  const alone = ordered
    .filter(({ task }) => task === null)
    .map((pair): CompareTarget => {
      const { index, state, afterWrite, real, recorded } = pair;
      const record =
        examples[index] ?? recordOf(pair, { ...(typeof state === 'string' && { state }), afterWrite });
      const example = { ...record, outcome: real.outcome, value: real.value };
      return { kind: 'call', example, index, recorded };
    });
  const together = [...conversations].flatMap(([id, state]): CompareTarget[] => {
    const compared = ordered.filter(({ task, source }) => task === id && source === 'rehearsed');
    return compared.length > 0 ? [{ kind: 'conversation', state, pairs: compared }] : [];
  });
  return [...alone, ...together];
}
