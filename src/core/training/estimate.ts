/** Shares, means and paired differences with what they are worth, as a run's files keep them. */
import { wilson } from '../fidelity/interval';
import type { Estimate } from './run.types';

/** Share with its Wilson interval; null for none. */
export function shareOf(good: number, n: number): Estimate | null {
  const { share, low, high } = wilson(good, n);
  return share === null ? null : { value: share, low, high, n };
}

/** Mean with a Student interval over the values; of a single value, the interval is [low, high] of what it may be. */
export function meanOf(values: readonly number[], least = 0, most = 1): Estimate | null {
  const n = values.length;
  if (n === 0) return null;
  const value = values.reduce((sum, one) => sum + one, 0) / n;
  if (n === 1) return { value, low: least, high: most, n };
  const squares = values.reduce((sum, one) => sum + (one - value) ** 2, 0);
  const half = student(n - 1) * Math.sqrt(squares / (n - 1) / n);
  return { value, low: Math.max(least, value - half), high: Math.min(most, value + half), n };
}

/** 97.5 % quantile of the normal distribution. */
const Z = 1.959963984540054;

/**
 * 97.5 % quantile of Student's t. Exact for 1 and 2 degrees of freedom, else within 0.5 %.
 * Source: Abramowitz and Stegun (1964), 26.7.5.
 */
export function student(freedom: number): number {
  if (freedom === 1) return 12.7062047361747;
  if (freedom === 2) return 4.30265272974946;
  const z2 = Z * Z;
  const first = (z2 + 1) / 4;
  const second = (5 * z2 * z2 + 16 * z2 + 3) / 96;
  const third = (3 * z2 ** 3 + 19 * z2 * z2 + 17 * z2 - 15) / 384;
  const fourth = (79 * z2 ** 4 + 776 * z2 ** 3 + 1482 * z2 * z2 - 1920 * z2 - 945) / 92160;
  return Z * (1 + first / freedom + second / freedom ** 2 + third / freedom ** 3 + fourth / freedom ** 4);
}
