/** Hermes (Qwen, Nous, and most open models): `<tool_call>\n{"name": …, "arguments": {…}}\n</tool_call>`. */
import { valueEnd } from '../../json-text';
import type { Block, Context, DialectParser } from './dialect';
import { formatError, nextAtLineStart, readCallObject, unfinished } from './dialect';

export const OPEN = '<tool_call>';
export const CLOSE = '</tool_call>';

export const hermes: DialectParser = {
  next: (text, from) => nextAtLineStart(text, from, [OPEN]),
  read,
};

function read(text: string, at: number, context: Context): Block {
  const start = at + OPEN.length;
  const notes: string[] = [];
  const value = valueEnd(text, start);
  if (value) {
    const after = value.end + text.slice(value.end).search(/\S|$/);
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
  const next = nextAtLineStart(text, start, [OPEN]);
  const limit = next < 0 ? text.length : next;
  const within = text.slice(0, limit);
  let close = nextAtLineStart(within, start, [CLOSE]);
  if (close < 0) close = within.indexOf(CLOSE, start);
  return close < 0 ? { bodyEnd: limit, end: limit } : { bodyEnd: close, end: close + CLOSE.length };
}
