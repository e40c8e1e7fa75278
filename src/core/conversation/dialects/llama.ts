/**
 * Llama 3: the message is `{"name": …, "parameters": {…}}`, several of them separated by `;` or line breaks, or
 * begins with `<|python_tag|>`. A message that is JSON of another kind is an answer.
 */
import { isObject } from '../../json';
import { parseStrict, skipSpace, valueEnd } from '../../json-text';
import type { Block, Context, DialectParser } from './dialect';
import { readCallObject, unfinished } from './dialect';

const TAG = '<|python_tag|>';
const KEYS = ['parameters', 'arguments'];

export const llama: DialectParser = { next, read };

function next(text: string, from: number): number {
  const tag = text.indexOf(TAG, from);
  const first = skipSpace(text, from);
  const bare = onlySpaceBefore(text, from) && looksLikeCall(text, first) ? first : -1;
  if (bare >= 0 && (tag < 0 || bare < tag)) return bare;
  return tag;
}

/** A bare call is a call only where the message (after reasoning) begins with it. */
function onlySpaceBefore(text: string, from: number): boolean {
  const before = text.slice(0, from).trimEnd();
  return before === '' || before.endsWith('</think>');
}

function looksLikeCall(text: string, at: number): boolean {
  if (text[at] !== '{') return false;
  const value = valueEnd(text, at);
  const parsed = value && parseStrict(text.slice(value.start, value.end));
  if (parsed?.ok) {
    const object = parsed.value;
    return isObject(object) && 'name' in object && KEYS.some((key) => key in object);
  }
  return /^\{\s*("type"\s*:\s*"function"\s*,\s*)?"name"\s*:/.test(text.slice(at, at + 200));
}

function read(text: string, at: number, context: Context): Block {
  const notes: string[] = [];
  const items: Block['items'] = [];
  let position = text.startsWith(TAG, at) ? at + TAG.length : at;
  for (;;) {
    const value = valueEnd(text, position);
    if (!value) break;
    items.push(readCallObject(text.slice(value.start, value.end), KEYS, notes));
    position = value.end;
    const more = /^[\s;,]*(?=\{|<\|python_tag\|>)(<\|python_tag\|>)?/.exec(text.slice(position));
    if (!more) return { end: position, items, notes };
    position += more[0].length;
  }
  const rest = text.slice(position).trim();
  if (rest.startsWith('{')) items.push(unfinished(context, 'closing brace', rest));
  else items.push(readCallObject(rest, KEYS, notes));
  return { end: text.length, items, notes };
}
