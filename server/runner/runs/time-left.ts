/** When a run will be done, from how long its last steps took. */
import type { Metrics } from '../../../src/core/training/run.types';

const LOOKED_AT = 10;

/** Seconds; null before the first step is done. */
export function secondsLeft(rows: readonly Metrics[], steps: number): number | null {
  const done = rows.filter(({ step }) => step > 0);
  const last = done.at(-1);
  if (!last) return null;
  const recent = done.slice(-LOOKED_AT);
  const mean = recent.reduce((sum, { seconds }) => sum + seconds.total, 0) / recent.length;
  return mean * Math.max(0, steps - last.step);
}
