/** Anticipation of failures: whether the policy knows beforehand which calls will fail, and how. */
import { outcomeClass, RESULT_CLASS } from './errors';
import { type Share, wilson } from './interval';
import type { Pair } from './types';

export interface Anticipation {
  /** Of the real errors, those rehearsed as errors. */
  recall: Share;
  /** Of the rehearsed errors, those that were real. */
  precision: Share;
  /** Of the errors on both sides, those of the same class. */
  sameError: Share;
  /** How often each class (`result`, or an error) was rehearsed as each; most frequent first. */
  confusion: { real: string; rehearsed: string; n: number }[];
}

export function anticipationOf(pairs: readonly Pick<Pair, 'rehearsed' | 'real'>[]): Anticipation {
  const cells = new Map<string, { real: string; rehearsed: string; n: number }>();
  for (const pair of pairs) {
    const [real, rehearsed] = [outcomeClass(pair.real), outcomeClass(pair.rehearsed)];
    const key = JSON.stringify([real, rehearsed]);
    const cell = cells.get(key) ?? { real, rehearsed, n: 0 };
    cell.n++;
    cells.set(key, cell);
  }
  const confusion = [...cells.values()].sort((a, b) => b.n - a.n);
  const sum = (holds: (cell: { real: string; rehearsed: string }) => boolean) =>
    confusion.filter(holds).reduce((total, { n }) => total + n, 0);
  const failed = (name: string) => name !== RESULT_CLASS;
  const both = sum(({ real, rehearsed }) => failed(real) && failed(rehearsed));
  return {
    recall: wilson(
      both,
      sum(({ real }) => failed(real)),
    ),
    precision: wilson(
      both,
      sum(({ rehearsed }) => failed(rehearsed)),
    ),
    sameError: wilson(
      sum(({ real, rehearsed }) => failed(real) && real === rehearsed),
      both,
    ),
    confusion,
  };
}
