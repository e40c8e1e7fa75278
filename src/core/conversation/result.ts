/** Reads what a policy wrote in its REHEARSE role. */
import { isObject, type Json } from '../json';
import { parseStrict, skipSpace, valueEnd } from '../json-text';
import { typeOf } from './dialects/dialect';
import { RESULT_CLOSE, RESULT_OPEN } from './prompts';
import { leadingReasoning } from './reasoning';
import type { ResultParse } from './types';

export interface ResultOptions {
  /** The output hit its token limit. */
  cut?: boolean;
  /** The prompt ended in an opened reasoning block. */
  thinking?: boolean;
}

/**
 * The JSON object or array inside the one `<execution_result>` block that stands outside of reasoning. Never
 * throws. Other text around the block is not part of the answer and is ignored.
 */
export function parseResult(text: string, options: ResultOptions = {}): ResultParse {
  const fail = (reason: string): ResultParse => ({
    ok: false,
    reason: options.cut ? `cut off at the output limit: ${reason}` : reason,
    raw: text,
  });
  if (!text.trim()) return fail('the answer is empty');
  const lead = leadingReasoning(text, options.thinking ?? false, (from) => blockSpan(text, from));
  const open = text.indexOf(RESULT_OPEN, lead.end);
  if (open < 0) return fail(noBlock(text, lead.end));
  const start = open + RESULT_OPEN.length;
  const value = valueEnd(text, start);
  const after = value ? skipSpace(text, value.end) : -1;
  const close = value && text.startsWith(RESULT_CLOSE, after) ? after : text.indexOf(RESULT_CLOSE, start);
  if (close < 0) return fail(`${RESULT_CLOSE} missing`);
  if (text.indexOf(RESULT_OPEN, close) >= 0) return fail(`more than one ${RESULT_OPEN} block`);
  const body = text.slice(start, close).trim();
  const parsed = parseStrict(body);
  if (!parsed.ok) return fail(parsed.reason);
  if (typeof parsed.value !== 'object' || parsed.value === null) {
    return fail(`an answer is a JSON object or array, got ${typeOf(parsed.value)}`);
  }
  return { ok: true, value: parsed.value, text: body };
}

function noBlock(text: string, from: number): string {
  if (!text.slice(from).trim()) return 'only reasoning, no answer';
  const other = text.toLowerCase().includes(RESULT_OPEN) ? ' (a tag in another case does not count)' : '';
  return `${RESULT_OPEN} missing${other}`;
}

/** Block as a span, so that a closing reasoning tag inside a value does not end anything. */
function blockSpan(text: string, from: number): { start: number; end: number } | null {
  const start = text.indexOf(RESULT_OPEN, from);
  if (start < 0) return null;
  const value = valueEnd(text, start + RESULT_OPEN.length);
  return { start, end: value?.end ?? start + RESULT_OPEN.length };
}

/** Whether an observation is an error: an object with `error_tool_call`, or with an `error` that says something. */
export function isErrorValue(value: Json): boolean {
  if (!isObject(value)) return false;
  if (Object.hasOwn(value, 'error_tool_call')) return true;
  const error = Object.hasOwn(value, 'error') ? value.error : null;
  return error !== null && error !== false && error !== '';
}
