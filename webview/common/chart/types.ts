/** What a chart shows, as plain data: the curves and the table beside them are made from the same. */

/** A colour by its role; `styles/roles.css` has what each theme makes of it. */
export type Colour = 'act' | 'rehearse' | 'real' | 'strong' | 'fg' | 'mute' | 'warn' | 'fail' | 'edge';

export interface Curve {
  label: string;
  colour: Colour;
  /** One value a step; null where nothing was measured. */
  values: readonly (number | null)[];
  /** Lengths of strokes and gaps in pixels; a solid line where absent. */
  dash?: readonly number[];
  /** Pixels, 1.5 by default. */
  width?: number;
  /** A ring at each value: for what is measured now and then. */
  points?: boolean;
  /** Bounds of the 95 % interval at each step. */
  low?: readonly (number | null)[];
  high?: readonly (number | null)[];
  /** False: the interval is in the table only, since several would hide one another. */
  band?: boolean;
  /** Observations behind each value. */
  counts?: readonly (number | null)[];
  /** Not named at its end. */
  quiet?: boolean;
}

export interface Plot {
  /** Ascending. */
  steps: readonly number[];
  curves: readonly Curve[];
  /** Of the values; what does not fit is not cut off, the range grows. */
  range?: readonly [number, number];
  /** Horizontal lines with a meaning. */
  limits?: readonly { value: number; label: string }[];
  /** Curves are parts of a whole, drawn as bars on top of one another. */
  stacked?: boolean;
  /** A step with a mark on one of the curves, named above and below. */
  mark?: { step: number; curve: number; above: string; below: string };
  /** The distance of two curves at their ends, as a figure beside them. */
  gap?: { upper: number; lower: number; figure: string; note: string; isWide: boolean };
  /** Two curves that have parted at a step. */
  hatch?: { upper: number; lower: number; from: number };
}

/** Index of the last value at or before `index`, −1 where there is none. */
export function lastAt(values: readonly (number | null)[], index: number): number {
  for (let i = Math.min(index, values.length - 1); i >= 0; i--) if (values[i] != null) return i;
  return -1;
}

/** Value at `index` of a curve that is straight between its values; null outside of them. */
export function between(plot: Pick<Plot, 'steps'>, values: readonly (number | null)[], index: number) {
  const before = lastAt(values, index);
  if (before < 0) return null;
  if (before === index) return values[index]!;
  const after = values.findIndex((value, i) => i > index && value !== null);
  if (after < 0) return null;
  const share = (plot.steps[index]! - plot.steps[before]!) / (plot.steps[after]! - plot.steps[before]!);
  return values[before]! + share * (values[after]! - values[before]!);
}

/**
 * Moves the middles of things apart until none overlap, within `low` and `high`; their order is kept.
 * @param sizes of each, in the order of `positions`
 */
export function spread(
  positions: readonly number[],
  sizes: readonly number[],
  low: number,
  high: number,
): number[] {
  const order = positions
    .map((at, i) => ({ at, i, half: sizes[i]! / 2 }))
    .sort((a, b) => a.at - b.at || a.i - b.i);
  let least = low;
  for (const one of order) {
    one.at = Math.max(one.at, least + one.half);
    least = one.at + one.half;
  }
  let most = high;
  for (const one of [...order].reverse()) {
    one.at = Math.min(one.at, most - one.half);
    most = one.at - one.half;
  }
  const placed = [...positions];
  for (const { at, i } of order) placed[i] = at;
  return placed;
}
