/**
 * Curves of a run from its metrics, as plain data. Each says in one sentence what it shows, for people who cannot
 * see it or do not want to.
 */
import type { Estimate, Evaluation, Metrics } from '../../../src/core/training/run.types';
import type { Colour, Curve, Plot } from '../../common/chart/types';
import { whole } from '../../common/format';

export interface Series {
  id: string;
  title: string;
  unit: string;
  plot: Plot;
  format(value: number): string;
  /** One sentence. */
  summary: string;
}

export type Read = (metrics: Metrics) => number | null | undefined;

export interface Spec {
  id: string;
  title: string;
  unit: string;
  /** Shown only where it was measured: it belongs to a setting that is off by default. */
  optional?: boolean;
  /** Why a person looks at it; in its tooltip. */
  why: string;
  series(metrics: readonly Metrics[]): Omit<Series, 'id' | 'title' | 'unit'>;
}

export const DASHED: readonly number[] = [5, 3];

export function seriesOf({ id, title, unit, series }: Spec, metrics: readonly Metrics[]): Series {
  return { id, title, unit, ...series(metrics) };
}

interface Reader {
  curve: Omit<Curve, 'values' | 'low' | 'high' | 'counts'>;
  read: Read;
  estimate?: (evaluation: Evaluation) => Estimate | null;
}

export function curve(label: string, colour: Colour, read: Read, dash?: readonly number[]): Reader {
  return { curve: { label, colour, ...(dash && { dash }) }, read };
}

/** A curve of evaluations: with points, and intervals where they are known. */
export function measured(
  label: string,
  colour: Colour,
  estimate: (evaluation: Evaluation) => Estimate | null,
  dash?: readonly number[],
  band = true,
): Reader {
  const read: Read = (row) => (row.evaluation ? estimate(row.evaluation)?.value : null);
  return {
    curve: { label, colour, points: true, ...(dash && { dash }), ...(!band && { band }) },
    read,
    estimate,
  };
}

export function valuesOf({ curve: looks, read, estimate }: Reader, metrics: readonly Metrics[]): Curve {
  const values = metrics.map((row) => read(row) ?? null);
  if (!estimate) return { ...looks, values };
  const all = metrics.map((row) => (row.evaluation ? estimate(row.evaluation) : null));
  return {
    ...looks,
    values,
    low: all.map((one) => one?.low ?? null),
    high: all.map((one) => one?.high ?? null),
    counts: all.map((one) => one?.n ?? null),
  };
}

export function lines(
  metrics: readonly Metrics[],
  readers: readonly Reader[],
  format: (value: number) => string,
  range?: readonly [number, number],
  limits?: Plot['limits'],
): Omit<Series, 'id' | 'title' | 'unit'> {
  const plot: Plot = {
    steps: metrics.map(({ step }) => step),
    curves: readers.map((reader) => valuesOf(reader, metrics)),
    ...(range && { range }),
    ...(limits && { limits }),
  };
  return { plot, format, summary: summaryOf(plot, format) };
}

export function byRole(
  metrics: readonly Metrics[],
  read: (row: Metrics) => { act: number | null; rehearse: number | null },
  format: (value: number) => string,
) {
  return lines(
    metrics,
    [
      curve('ACT', 'act', (row) => read(row).act),
      curve('REH.', 'rehearse', (row) => read(row).rehearse, DASHED),
    ],
    format,
  );
}

/** "ACT fell from .31 to .17 in 46 steps; REH. from .30 to .06." */
export function summaryOf(plot: Plot, format: (value: number) => string): string {
  const parts = plot.curves.flatMap(({ label, values }) => {
    const at = values.flatMap((value, i) => (value === null ? [] : [i]));
    const [first, last] = [at[0], at.at(-1)];
    if (first === undefined || last === undefined) return [];
    const [from, to] = [values[first]!, values[last]!];
    if (first === last) return [`${label} ${format(to)} at step ${plot.steps[last]}`];
    const how =
      format(from) === format(to)
        ? 'stayed at'
        : to > from
          ? `rose from ${format(from)} to`
          : `fell from ${format(from)} to`;
    return [`${label} ${how} ${format(to)}`];
  });
  if (parts.length === 0) return 'Nothing was measured yet.';
  return `${parts.join('; ')}, over ${whole(plot.steps.length)} ${plot.steps.length === 1 ? 'step' : 'steps'}.`;
}

export function ratio(count: number, of: number): number | null {
  return of > 0 ? count / of : null;
}

export function percent(value: number | null): number | null {
  return value === null ? null : value * 100;
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
