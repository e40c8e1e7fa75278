/** What two checkpoints, runs or models differ by on the same tasks. */
import { meanOf } from './estimate';
import type { Estimate, Evaluation } from './run.types';

/** Success of one task: the share of its attempts. */
export interface TaskValue {
  task: string;
  value: number;
}

export interface PairedDifference extends Estimate {
  /** Tasks on which the second does better, worse, and the same. */
  better: number;
  worse: number;
  same: number;
}

/**
 * Mean over tasks of second minus first, with a 95 % interval by tasks (attempts of a task are not independent).
 * Only tasks that both have count; null where there is none.
 */
export function pairedDifference(
  first: readonly TaskValue[],
  second: readonly TaskValue[],
): PairedDifference | null {
  const known = new Map(first.map(({ task, value }) => [task, value]));
  const differences = second.flatMap(({ task, value }) =>
    known.has(task) ? [value - known.get(task)!] : [],
  );
  const mean = meanOf(differences, -1, 1);
  if (!mean) return null;
  const better = differences.filter((one) => one > 0).length;
  const worse = differences.filter((one) => one < 0).length;
  return { ...mean, better, worse, same: differences.length - better - worse };
}

/** Two evaluations side by side: success on the real tools where both have it, else in rehearsal. */
export function compareEvaluations(
  first: Pick<Evaluation, 'tasks'>,
  second: Pick<Evaluation, 'tasks'>,
): { on: 'real' | 'rehearsed'; difference: PairedDifference } | null {
  for (const on of ['real', 'rehearsed'] as const) {
    const values = ({ tasks }: Pick<Evaluation, 'tasks'>) =>
      tasks.flatMap((one) => (one[on] === null ? [] : [{ task: one.task, value: one[on] }]));
    const difference = pairedDifference(values(first), values(second));
    if (difference) return { on, difference };
  }
  return null;
}
