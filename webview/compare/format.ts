/** Shares, bits and kinds as people read them. */
import type { DifferenceView, Kind, ShareView, SurpriseView } from '../../src/core/fidelity/view.types';
import { whole } from '../common/format';

const MINUS = '−';

/** "0.82", or a dash where there is nothing to tell it from. */
export function share({ share: value }: ShareView): string {
  return value === null ? '–' : value.toFixed(2);
}

/** "79 of 96" */
export function outOf({ good, n }: ShareView): string {
  return `${whole(good)} of ${whole(n)}`;
}

/** "0.73 to 0.89" */
export function interval({ n, low, high }: ShareView): string {
  return n === 0 ? '–' : `${low.toFixed(2)} to ${high.toFixed(2)}`;
}

/** "0.82, 95 % interval 0.73 to 0.89, 79 of 96", for screen readers and tooltips. */
export function spokenShare(value: ShareView): string {
  return value.n === 0 ? 'no call' : `${share(value)}, 95 % interval ${interval(value)}, ${outOf(value)}`;
}

export function bits(value: number | null | undefined, digits = 2): string {
  return value === null || value === undefined ? '–' : value.toFixed(digits);
}

export function perToken(surprise: SurpriseView | null): string {
  return bits(surprise?.bitsPerToken);
}

/** Bits per byte are small: three digits. */
export function perByte(surprise: SurpriseView | null): string {
  return bits(surprise?.bitsPerByte, 3);
}

/** "+0.12 (−0.03 to +0.27)" */
export function difference(value: DifferenceView | null, digits: number): string {
  if (!value) return '–';
  const signed = (number: number) => {
    const text = Math.abs(number).toFixed(digits);
    return Number(text) === 0 ? text : `${number < 0 ? MINUS : '+'}${text}`;
  };
  return `${signed(value.value)} (${signed(value.low)} to ${signed(value.high)})`;
}

/** Whether an interval leaves zero out. */
export function isClear(value: DifferenceView | null): boolean {
  return value !== null && (value.low > 0 || value.high < 0);
}

/** "1 call", "12 calls" */
export function calls(n: number): string {
  return `${whole(n)} ${n === 1 ? 'call' : 'calls'}`;
}

/** What became of a field, in a sentence: "`$.status` differs". */
export const KIND_WORDS: { [kind in Kind]: string } = {
  match: 'matches',
  tolerable: 'is tolerable',
  differs: 'differs',
  missing: 'is missing in the rehearsal',
  extra: 'is not in the real answer',
};

/** Codicons, so that no verdict is told by colour alone. */
export const KIND_ICONS: { [kind in Kind]: string } = {
  match: 'check',
  tolerable: 'circle-large-outline',
  differs: 'close',
  missing: 'remove',
  extra: 'add',
};

/** A field without the `$.` in front, as a column heading would be. */
export function fieldName(field: string): string {
  return field === '$' ? 'the whole answer' : field.replace(/^\$\.?/, '');
}
