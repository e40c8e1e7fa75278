/** What a difference looks like to a person. Labels explain; they change no verdict. */
import type { Json } from '../json';
import { jsonInside } from './answers';

/** Floating-point arithmetic leaves this: 45.159999999999854 and 45.16 are one number. Ids are whole numbers. */
const ROUNDING = 1e-12;
const COMPARED = 2000;

export function sameButForRounding(a: number, b: number): boolean {
  if (Number.isInteger(a) && Number.isInteger(b)) return false;
  return Math.abs(a - b) <= ROUNDING * Math.max(Math.abs(a), Math.abs(b));
}

/** The number that a value is or says as text, or null. */
export function numberOf(value: Json | undefined): number | null {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || !/^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(value)) return null;
  return Number(value);
}

/** Why two values that differ may look alike, or undefined. */
export function labelOf(rehearsed: Json | undefined, real: Json | undefined): string | undefined {
  if (rehearsed === undefined) return real === null ? 'absent, and null' : undefined;
  if (real === undefined) return rehearsed === null ? 'null, and absent' : undefined;
  if (typeof rehearsed === 'string' && typeof real === 'string') return textLabel(rehearsed, real);
  if (typeof rehearsed !== typeof real || (rehearsed === null) !== (real === null)) {
    const number = numberOf(rehearsed);
    if (number !== null && number === numberOf(real)) return 'the same number, as text on one side';
    const text = typeof rehearsed === 'string' ? rehearsed : typeof real === 'string' ? real : null;
    if (text !== null && jsonInside(text) !== undefined) return 'JSON as text on one side';
    if (text !== null && text === String(text === rehearsed ? real : rehearsed))
      return 'the same value, as text on one side';
    return `${typeName(rehearsed)}, and ${typeName(real)}`;
  }
  return undefined;
}

function textLabel(rehearsed: string, real: string): string {
  if (squeezed(rehearsed) === squeezed(real)) return 'the same but for white space';
  if (squeezed(rehearsed).toLowerCase() === squeezed(real).toLowerCase())
    return 'the same but for letter case';
  if (rehearsed.normalize('NFC') === real.normalize('NFC')) return 'the same but for Unicode normalization';
  return `texts ${Math.round(100 * similarity(rehearsed, real))} % alike`;
}

const squeezed = (text: string) => text.trim().replace(/\s+/g, ' ');

function typeName(value: Json): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'list' : typeof value;
}

/** Dice coefficient of the pairs of neighbouring characters: 0 for nothing in common, 1 for the same. */
export function similarity(a: string, b: string): number {
  if (a === b) return 1;
  const pairs = new Map<string, number>();
  const [left, right] = [a.slice(0, COMPARED), b.slice(0, COMPARED)];
  for (let i = 0; i + 1 < left.length; i++) {
    const pair = left.slice(i, i + 2);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  let common = 0;
  for (let i = 0; i + 1 < right.length; i++) {
    const pair = right.slice(i, i + 2);
    const left = pairs.get(pair) ?? 0;
    if (left > 0) {
      common++;
      pairs.set(pair, left - 1);
    }
  }
  const total = Math.max(0, left.length - 1) + Math.max(0, right.length - 1);
  return total === 0 ? 0 : (2 * common) / total;
}
