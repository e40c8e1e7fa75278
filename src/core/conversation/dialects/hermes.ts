/** Hermes (Qwen, Nous, and most open models): `<tool_call>\n{"name": …, "arguments": {…}}\n</tool_call>`. */
import { skipSpace, valueEnd } from '../../json-text';
import type { Block, Context, DialectParser } from './dialect';
import { atLineStart, formatError, readCallObject, unfinished } from './dialect';

export const OPEN = '<tool_call>';
export const CLOSE = '</tool_call>';

const nextOpen = atLineStart(OPEN);
const nextClose = atLineStart(CLOSE);

export const hermes: DialectParser = { next: nextOpen, read };

function read(text: string, at: number, context: Context): Block {
  const start = at + OPEN.length;
  const notes: string[] = [];
  const value = valueEnd(text, start);
  if (value) {
    const after = skipSpace(text, value.end);
    if (text.startsWith(CLOSE, after)) {
      const item = readCallObject(text.slice(value.start, value.end), ['arguments'], notes);
      return { end: after + CLOSE.length, items: [item], notes };
    }
  }
  const { bodyEnd, end } = brokenBlockEnd(text, start);
  const body = text.slice(start, bodyEnd).trim();
  if (end === bodyEnd) return { end, items: [unfinished(context, 'closing tag', body)], notes };
  const item = readCallObject(body, ['arguments'], notes);
  return { end, items: [item.kind === 'call' ? formatError('not JSON', body) : item], notes };
}

/** A block that is not one JSON value ends at its closing tag, or where the next block begins. */
export function brokenBlockEnd(text: string, start: number): { bodyEnd: number; end: number } {
  const next = nextOpen(text, start);
  const limit = next < 0 ? text.length : next;
  const within = text.slice(0, limit);
  let close = nextClose(within, start);
  if (close < 0) close = within.indexOf(CLOSE, start);
  return close < 0 ? { bodyEnd: limit, end: limit } : { bodyEnd: close, end: close + CLOSE.length };
}
