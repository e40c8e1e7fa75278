/** How checks look for something in a text. */
import type { Json } from '../json';

/** Patterns run on this many characters at most: a pattern from a file may take long on a long text. */
export const PATTERN_INPUT = 20_000;

/** A regular expression, or null where it does not compile. */
export function regex(pattern: string, ignoreCase = false): RegExp | null {
  for (const flags of ['u', '']) {
    try {
      return new RegExp(pattern, flags + (ignoreCase ? 'i' : ''));
    } catch {
      // Patterns such as `[\w-\.]` compile only without the `u` flag.
    }
  }
  return null;
}

// Scripts written without spaces (and Hangul, whose particles are attached): a word's end cannot be seen.
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const WORD = /[\p{L}\p{N}\p{M}_]/u;

const plain = (text: string) => text.normalize('NFC').replace(/\s+/g, ' ');

/**
 * Whether a text contains another as whole words and whole numbers: "10" is not in "2010", "10.5", "10,000",
 * "-10", "10:30" or "2026-10-22", and "cancel" is not in "cancelled". Runs of white space count as one space.
 */
export function containsWhole(text: string, needle: string, ignoreCase = false): boolean {
  const fold = (s: string) => (ignoreCase ? plain(s).toLowerCase() : plain(s));
  const hay = fold(text);
  const sought = fold(needle).trim();
  if (!sought) return true;
  for (let at = hay.indexOf(sought); at >= 0; at = hay.indexOf(sought, at + 1)) {
    if (startsWhole(hay, at) && endsWhole(hay, at + sought.length)) return true;
  }
  // "130" is stated by "130.00", and "1300" by "1,300".
  return (
    /^-?(0|[1-9]\d*)(\.\d+)?$/.test(sought) && numbersIn(hay).some(({ value }) => value === Number(sought))
  );
}

function startsWhole(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - 12), at);
  const first = String.fromCodePoint(text.codePointAt(at)!);
  const previous = [...before].at(-1) ?? '';
  if (joins(previous, first)) return false;
  if (!/\d/.test(first)) return true;
  if (/\d[.\-/:]$/.test(before)) return false;
  if (/\d,$/.test(before) && /^\d{3}(?!\d)/.test(text.slice(at))) return false;
  return !/(^|[\s(=:$€£])-$/.test(before);
}

function endsWhole(text: string, end: number): boolean {
  const last = [...text.slice(Math.max(0, end - 2), end)].at(-1)!;
  const rest = text.slice(end, end + 8);
  if (joins(last, [...rest][0] ?? '')) return false;
  return !(/\d/.test(last) && /^([.\-/:]\d|,\d{3}(?!\d))/.test(rest));
}

function joins(left: string, right: string): boolean {
  return WORD.test(left) && WORD.test(right) && !UNSPACED.test(left) && !UNSPACED.test(right);
}

/** Whether a text states a JSON value: words and numbers as a person would read them. */
export function states(text: string, value: Json): boolean {
  if (typeof value === 'number') return numbersIn(text).some((number) => sameNumber(number, value));
  if (typeof value === 'string') return containsWhole(text, value, true);
  if (Array.isArray(value)) return value.every((item) => states(text, item));
  if (typeof value === 'object' && value !== null)
    return Object.values(value).every((item) => states(text, item));
  return containsWhole(text, String(value), true);
}

interface WrittenNumber {
  value: number;
  decimals: number;
}

/** Numbers of a text, thousands separators understood: "1,234.50" is 1234.5 with two decimals. */
function numbersIn(text: string): WrittenNumber[] {
  const found = text.matchAll(
    /(?<![\p{L}\p{N}_.]|\d[-/:])(?:(?<=^|[\s(=:$€£])[-−])?(?:0|[1-9]\d*)(?:,\d{3})*(?:\.\d+)?(?!\p{N}|[-/:]\d)/gu,
  );
  return [...found].map(([written]) => ({
    value: Number(written.replace(/,/g, '').replace('−', '-')),
    decimals: written.split('.')[1]?.length ?? 0,
  }));
}

/** Equal, or equal once floating-point dust (45.159999999999854) is rounded to the decimals that were written. */
function sameNumber(written: WrittenNumber, value: number): boolean {
  if (written.value === value) return true;
  const dusty = Math.abs(value - Number(value.toFixed(6))) > 0 || String(value).length > 15;
  return dusty && written.decimals >= 2 && Math.abs(written.value - value) <= 0.5 * 10 ** -written.decimals;
}
