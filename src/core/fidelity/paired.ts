/** What two models' results on the same calls differ by, with what the figure is worth. */

export interface Difference {
  /** Second minus first. */
  value: number;
  /** Bounds of the 95 % interval. */
  low: number;
  high: number;
  n: number;
}

/** 97.5 % quantile of the normal distribution. */
const Z = 1.959963984540054;

/**
 * Difference of two shares on the same n calls, of which only the order pair matters.
 * Source: Bonett and Price (2012), adjusted Wald interval for paired proportions.
 * @param onlyFirst calls that only the first one has right
 * @param onlySecond calls that only the second one has right
 */
export function pairedShares(onlyFirst: number, onlySecond: number, n: number): Difference | null {
  if (n === 0) return null;
  const [first, second] = [(onlyFirst + 1) / (n + 2), (onlySecond + 1) / (n + 2)];
  const centre = second - first;
  const half = Z * Math.sqrt((first + second - centre * centre) / (n + 2));
  const within = (value: number) => Math.min(1, Math.max(-1, value));
  return {
    value: (onlySecond - onlyFirst) / n,
    low: within(centre - half),
    high: within(centre + half),
    n,
  };
}

/**
 * Difference of two ratios `Σ bits / Σ bytes` over the same calls: the bytes are the answer's, so they are the same
 * on both sides, and calls with long answers weigh more. The usual linearization of a ratio gives the interval.
 * Source: Cochran, Sampling Techniques (1977), 6.4. Null for fewer than two calls.
 */
export function pairedRates(
  calls: readonly { first: number; second: number; size: number }[],
): Difference | null {
  const n = calls.length;
  const size = calls.reduce((sum, call) => sum + call.size, 0);
  if (n < 2 || size === 0) return null;
  const value = calls.reduce((sum, { first, second }) => sum + second - first, 0) / size;
  const squares = calls.reduce((sum, call) => {
    const residual = call.second - call.first - value * call.size;
    return sum + residual * residual;
  }, 0);
  const half = (Z * Math.sqrt((squares * n) / (n - 1))) / size;
  return { value, low: value - half, high: value + half, n };
}
