/** What the axes of a chart span, and where their lines stand. */
import type { Plot } from './types';

export function rangeOfSteps({ steps, stacked }: Plot): [number, number] {
  const [first, last] = [steps[0] ?? 0, steps.at(-1) ?? 1];
  const aside = stacked ? 0.6 : 0;
  return [first - aside, Math.max(last, first + 1) + aside];
}

/** @param low least value of the curves, null where there is none; `high` likewise */
export function rangeOfValues(plot: Plot, low: number | null, high: number | null): [number, number] {
  const { range, limits = [], stacked, steps, curves } = plot;
  const sums = stacked
    ? steps.map((_, i) => curves.reduce((sum, { values }) => sum + (values[i] ?? 0), 0))
    : [];
  const bounds = curves.flatMap((curve) => [...(curve.low ?? []), ...(curve.high ?? [])]);
  const all = [low, high, ...(range ?? []), ...limits.map(({ value }) => value * 1.2), ...sums, ...bounds];
  const known = all.filter((value): value is number => value !== null && Number.isFinite(value));
  const least = Math.min(0, ...known);
  const most = Math.max(...known, least);
  return [least, most > least ? most : least + 1];
}

export function endSteps({ steps }: Plot): number[] {
  return [...new Set([steps[0] ?? 0, steps.at(-1) ?? 1])];
}

export function quarters(low: number, high: number): number[] {
  return [0, 0.25, 0.5, 0.75, 1].map((share) => low + share * (high - low));
}

/** Round steps, about eight. */
export function roundSteps(low: number, high: number): number[] {
  const size =
    [1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000].find((one) => (high - low) / one <= 8) ?? 2000;
  const found: number[] = [];
  for (let at = Math.ceil(low / size) * size; at <= high; at += size) found.push(at);
  return found;
}
