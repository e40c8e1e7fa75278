/**
 * One form for answers that mean the same. A policy can only rehearse an object or a list, and real tools answer
 * plain text, numbers, JSON as text, and errors as text: each has one object that stands for it.
 */
import { isObject, type Json } from '../json';
import { parseStrict } from '../json-text';
import type { Answer } from './types';

const DECODED = 3;

/** An answer's value as the object or list that a policy would write for it. */
export function canonicalValue({ outcome, value }: Answer): Json {
  const decoded = decode(value);
  if (typeof decoded === 'object' && decoded !== null) {
    return outcome === 'error' && (Array.isArray(decoded) || !hasError(decoded))
      ? { error: soleText(decoded) ?? decoded }
      : decoded;
  }
  return outcome === 'error' ? { error: decoded } : { result: decoded };
}

function hasError(value: object): boolean {
  return Object.hasOwn(value, 'error') || Object.hasOwn(value, 'error_tool_call');
}

/** The text of `{"message": "…"}` and its like: an error is its text, whatever the field is called. */
function soleText(value: Json): string | null {
  if (!isObject(value)) return null;
  const [text, ...more] = Object.values(value);
  return more.length === 0 && typeof text === 'string' ? text : null;
}

/** JSON that was sent as text, however often it was encoded. */
function decode(value: Json): Json {
  let decoded = value;
  for (let times = 0; times < DECODED && typeof decoded === 'string'; times++) {
    const inner = jsonInside(decoded);
    if (inner === undefined) break;
    decoded = inner;
  }
  return decoded;
}

/** The object, list or encoded text that a text is, or undefined where it is only a text. */
export function jsonInside(text: string): Json | undefined {
  if (!/^\s*[[{"]/.test(text)) return undefined;
  const parsed = parseStrict(text);
  if (!parsed.ok) return undefined;
  if (typeof parsed.value === 'string') return jsonInside(parsed.value);
  return typeof parsed.value === 'object' && parsed.value !== null ? parsed.value : undefined;
}
