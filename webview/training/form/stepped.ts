/** What the arrow keys make of a number. */
import type { Field } from '../../common/training';

/** One more or less; of fractions, twice or half as much, as rates go. */
export function stepped(
  { kind, minimum, maximum }: Pick<Field, 'kind' | 'minimum' | 'maximum'>,
  from: number,
  up: boolean,
): number | null {
  if (!Number.isFinite(from)) return null;
  const next =
    kind === 'integer'
      ? from + (up ? 1 : -1)
      : from === 0
        ? up
          ? 0.1
          : 0
        : Number((up ? from * 2 : from / 2).toPrecision(3));
  return Math.min(maximum ?? Number.POSITIVE_INFINITY, Math.max(minimum ?? Number.NEGATIVE_INFINITY, next));
}
