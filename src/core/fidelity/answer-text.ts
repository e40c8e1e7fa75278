/** The two sides of a pair as texts for an editor's own diff, and where a field stands in them. */
import { findNodeAtLocation, parseTree } from 'jsonc-parser';
import { isObject, type Json } from '../json';
import { pathLocation } from '../jsonpath';
import { canonicalValue } from './answers';
import type { Answer } from './types';

/**
 * JSON of what is compared on either side. The rehearsed answer's keys stand in the order of the real one's, since
 * their order carries no meaning; characters that reorder or hide text are written as escapes.
 */
export function answerTexts(rehearsed: Answer, real: Answer): { rehearsed: string; real: string } {
  const other = canonicalValue(real);
  const text = (value: Json) => `${safe(JSON.stringify(value, null, 2))}\n`;
  return { rehearsed: text(ordered(canonicalValue(rehearsed), other)), real: text(other) };
}

function ordered(value: Json, like: Json): Json {
  if (Array.isArray(value) && Array.isArray(like))
    return value.map((item, i) => ordered(item, like[i] ?? null));
  if (!isObject(value) || !isObject(like)) return value;
  const known = Object.keys(like).filter((key) => Object.hasOwn(value, key));
  const rest = Object.keys(value).filter((key) => !Object.hasOwn(like, key));
  return Object.fromEntries([...known, ...rest].map((key) => [key, ordered(value[key]!, like[key] ?? null)]));
}

/** Valid JSON as before: such characters can only stand inside of texts. */
function safe(json: string): string {
  return json.replace(
    /[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** A text beyond this is not searched for a place: it would take longer than a person waits. */
const SEARCHED = 4_000_000;

/** The stretch of a field in a text of `answerTexts`, or of what is nearest around it; the start where nothing is. */
export function placeOf(text: string, path: string): { offset: number; length: number } {
  const root = text.length <= SEARCHED ? parseTree(text) : undefined;
  const location = [...pathLocation(path)];
  for (; root && location.length > 0; location.pop()) {
    const node = findNodeAtLocation(root, location);
    // With its key, where it has one.
    const whole = node?.parent?.type === 'property' ? node.parent : node;
    if (whole) return { offset: whole.offset, length: whole.length };
  }
  return { offset: 0, length: 0 };
}
