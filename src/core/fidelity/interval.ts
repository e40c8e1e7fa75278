/** Shares of few observations with what they are worth. */

export interface Share {
  good: number;
  n: number;
  /** `good / n`, or null for none. */
  share: number | null;
  /** Bounds of the 95 % Wilson score interval; 0 and 1 for none. */
  low: number;
  high: number;
}

/** 97.5 % quantile of the normal distribution. */
const Z = 1.959963984540054;

/** Source: Wilson (1927), without continuity correction. */
export function wilson(good: number, n: number): Share {
  if (n === 0) return { good, n, share: null, low: 0, high: 1 };
  const p = good / n;
  const scale = 1 + (Z * Z) / n;
  const centre = (p + (Z * Z) / (2 * n)) / scale;
  const half = (Z / scale) * Math.sqrt((p * (1 - p)) / n + (Z * Z) / (4 * n * n));
  // The bounds of none and all are 0 and 1 exactly, whatever the rounding.
  return {
    good,
    n,
    share: p,
    low: good === 0 ? 0 : centre - half,
    high: good === n ? 1 : centre + half,
  };
}
