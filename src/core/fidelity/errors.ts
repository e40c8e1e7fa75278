/**
 * Which error an answer is: its code where it has one, else its message without what changes from call to call.
 * "Order #W1 not found" and "Order #W2 not found" are one class.
 */
import { isObject, type Json, type JsonObject } from '../json';
import { canonicalValue } from './answers';
import type { Answer } from './types';

export const RESULT_CLASS = 'result';
const LENGTH = 80;
const CODES = ['code', 'error_code', 'errorCode', 'type', 'status'];
const MESSAGES = ['message', 'error', 'detail', 'details', 'title', 'text', 'description'];

export function outcomeClass(answer: Answer): string {
  if (answer.outcome === 'result') return RESULT_CLASS;
  const value = canonicalValue(answer);
  if (!isObject(value)) return 'error';
  const inner = value.error_tool_call ?? value.error;
  // A code beside the message: `{"error": "…", "code": "NOT_FOUND"}`.
  const code = (isObject(inner) && codeOf(inner)) || codeOf(value);
  if (code) return code;
  return classOfText(messageOf(inner) ?? messageOf(value) ?? '') || 'error';
}

function codeOf(value: JsonObject): string | null {
  for (const key of CODES) {
    const code = Object.hasOwn(value, key) ? value[key] : null;
    if (typeof code === 'number' || (typeof code === 'string' && /^[\w.-]{1,60}$/.test(code)))
      return String(code);
  }
  return null;
}

function messageOf(value: Json | undefined): string | null {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return messageOf(value[0]);
  if (!isObject(value)) return null;
  for (const key of MESSAGES) {
    const text = Object.hasOwn(value, key) ? messageOf(value[key]) : null;
    if (text) return text;
  }
  return null;
}

/** A message without ids, numbers, paths, addresses and times. */
export function classOfText(message: string): string {
  const line = message.slice(0, 2000).trim().split(/\r?\n/, 1)[0]!;
  return line
    .replace(/^((error|exception|fatal|MCP error -?\d+)\b[:\s]+)+/i, '')
    .replace(/https?:\/\/\S+/g, '<url>')
    .replace(/\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?)?(Z|[+-]\d\d:?\d\d)?/g, '<time>')
    .replace(/(["'`])(?:(?!\1).){0,200}\1/g, '<text>')
    .replace(/(^|[\s(=])(?:[A-Za-z]:)?[\\/][^\s,;:)]+/g, '$1<path>')
    .replace(/[^\s,;:()<>]*\d[^\s,;:()<>]*/g, (word) => word.replace(/[^.]*\d.*?(?=\.?$)/, '<id>'))
    .replace(/\s+/g, ' ')
    .replace(/[.!\s]+$/, '')
    .slice(0, LENGTH);
}
