/**
 * JSON inside model output: where a value ends, and what is wrong with one that is none. Strict (RFC 8259), and
 * its reasons do not depend on the JavaScript engine, since they become part of prompts.
 */
import { type ParseError, parse as parseJsonc, parseTree, printParseErrorCode } from 'jsonc-parser';
import type { Json } from './json';

/** Deeper values are refused, so that nothing that walks a value can run out of stack. */
export const MAX_DEPTH = 200;

export type Strict = { ok: true; value: Json } | { ok: false; reason: string };

/**
 * The end (exclusive) of the object or array that starts at `from`, white space skipped; null where there is
 * none or it is not finished. Brackets and tags inside strings do not count.
 */
export function valueEnd(text: string, from: number): { start: number; end: number } | null {
  const start = skipSpace(text, from);
  if (text[start] !== '{' && text[start] !== '[') return null;
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const char = text[at]!;
    if (char === '"') {
      at = stringEnd(text, at);
      if (at < 0) return null;
    } else if (char === '{' || char === '[') depth++;
    else if (char === '}' || char === ']') {
      if (--depth === 0) return { start, end: at + 1 };
    } else if (char === '<') return null; // no JSON outside of strings has it: a tag of what comes next
  }
  return null;
}

/** Position of the first character at or after `from` that is no white space, or the end of the text. */
export function skipSpace(text: string, from: number): number {
  const space = /\s*/y;
  space.lastIndex = from;
  space.exec(text);
  return space.lastIndex;
}

/** Index of the closing quote of the string that opens at `at`, or −1; a raw line break ends no string. */
function stringEnd(text: string, at: number): number {
  for (let i = at + 1; i < text.length; i++) {
    const char = text[i];
    if (char === '\\') i++;
    else if (char === '"') return i;
    else if (char === '\n' || char === '\r') return -1;
  }
  return -1;
}

const MAY_OVERFLOW = /\d[eE]\+?\d{3}|\d{200}/;

/** Parses JSON; NaN, Infinity, numbers out of range and very deep values are refused with a reason. */
export function parseStrict(text: string): Strict {
  if (!text.trim()) return { ok: false, reason: 'not JSON: it is empty' };
  if (depthOf(text) > MAX_DEPTH) return { ok: false, reason: `nested deeper than ${MAX_DEPTH} levels` };
  try {
    const value = JSON.parse(text) as Json;
    // Only such a number can be out of range; looking for it in the text is quicker than in the value.
    const finite = !MAY_OVERFLOW.test(text) || allFinite(value);
    return finite ? { ok: true, value } : { ok: false, reason: 'a number is out of range' };
  } catch {
    return { ok: false, reason: `not JSON: ${whatIsWrong(text)}` };
  }
}

/** Whether every number in a value is finite; `1e999` is JSON and reads as Infinity. */
export function allFinite(value: Json): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.values(value).every(allFinite);
}

/** How deep a text nests; brackets inside strings do not count. One pass, since answers may have 10 MB. */
export function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  const lineEnd = nextLineEnd(text);
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) {
      const end = closingQuote(text, at);
      // A raw line break ends no string.
      if (end > 0 && lineEnd(at) > end) at = end;
    } else if (code === 0x7b || code === 0x5b) deepest = Math.max(deepest, ++depth);
    else if (code === 0x7d || code === 0x5d) depth--;
  }
  return deepest;
}

/** Position of the next line break at or after a position that only grows. */
function nextLineEnd(text: string): (at: number) => number {
  const next = (char: string) => {
    let found = -1;
    return (at: number) => {
      if (found < at) found = text.indexOf(char, at);
      if (found < 0) found = Number.POSITIVE_INFINITY;
      return found;
    };
  };
  const [lf, cr] = [next('\n'), next('\r')];
  return (at) => Math.min(lf(at), cr(at));
}

/** Index of the quote that closes the string which opens at `at`, whatever is between; −1 where there is none. */
function closingQuote(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === 0x5c) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return -1;
}

const WRONG: Record<string, string> = {
  InvalidSymbol: 'a word that JSON does not have',
  InvalidNumberFormat: 'a malformed number',
  PropertyNameExpected: 'a name in double quotes is missing',
  ValueExpected: 'a value is missing',
  ColonExpected: 'a colon is missing',
  CommaExpected: 'a comma is missing',
  CloseBraceExpected: 'a closing brace is missing',
  CloseBracketExpected: 'a closing bracket is missing',
  EndOfFileExpected: 'more text after the value',
  UnexpectedEndOfString: 'a string does not end on its line',
  InvalidUnicode: 'a malformed \\u escape',
  InvalidEscapeCharacter: 'an unknown escape in a string',
  UnexpectedEndOfComment: 'a comment does not end',
  UnexpectedEndOfNumber: 'a number does not end',
  InvalidCommentToken: 'a comment, which JSON does not have',
  InvalidCharacter: 'a control character in a string',
};

function whatIsWrong(text: string): string {
  const errors: ParseError[] = [];
  try {
    parseJsonc(text, errors, { disallowComments: true });
  } catch {
    return 'it cannot be read';
  }
  const first = errors[0];
  return first ? `${problemText(first)} at character ${first.offset + 1}` : 'it cannot be read';
}

/** A parser's error in words. */
export function problemText(error: ParseError): string {
  return WRONG[printParseErrorCode(error.error)] ?? 'something unexpected';
}

/** Text of a top-level field of an object as it was written (of the last, where a key stands twice). */
export function fieldText(objectText: string, key: string): string | null {
  const root = parseTree(objectText);
  const fields = root?.children?.filter((field) => field.children?.[0]?.value === key);
  const value = fields?.at(-1)?.children?.[1];
  return value ? objectText.slice(value.offset, value.offset + value.length) : null;
}

/** Whether some object in the text has a key twice; the last one wins, as in every JSON parser. */
export function hasDuplicateKey(text: string): boolean {
  const root = parseTree(text);
  if (!root) return false;
  const open = [root];
  for (let node = open.pop(); node; node = open.pop()) {
    if (node.type === 'object') {
      const keys = (node.children ?? []).map((field) => field.children?.[0]?.value as string);
      if (new Set(keys).size < keys.length) return true;
    }
    open.push(...(node.children ?? []));
  }
  return false;
}
