/** Mistral: `[TOOL_CALLS] [{"name": …, "arguments": {…}}, …]`, and since v11 `[TOOL_CALLS]name[ARGS]{…}` for each call. */
import { parseTree } from 'jsonc-parser';
import { parseStrict, skipSpace, valueEnd } from '../../json-text';
import type { Block, Context, DialectParser } from './dialect';
import { formatError, readCallObject, unfinished } from './dialect';

const TAG = '[TOOL_CALLS]';

export const mistral: DialectParser = { next: (text, from) => text.indexOf(TAG, from), read };

function read(text: string, at: number, context: Context): Block {
  const start = at + TAG.length;
  const first = skipSpace(text, start);
  return text[first] === '[' || text[first] === '{'
    ? readList(text, first, context)
    : readNamed(text, start, context);
}

function readList(text: string, at: number, context: Context): Block {
  const value = valueEnd(text, at);
  if (!value) {
    const end = blockEnd(text, at);
    const body = text.slice(at, end).trim();
    const parsed = parseStrict(body);
    const open = end === text.length && context.cut;
    const item =
      open || parsed.ok ? unfinished(context, 'closing bracket', body) : formatError(parsed.reason, body);
    return { end, items: [item], notes: [] };
  }
  const body = text.slice(value.start, value.end);
  const notes: string[] = [];
  const parsed = parseStrict(body);
  if (!parsed.ok) return { end: value.end, items: [formatError(parsed.reason, body)], notes };
  if (!Array.isArray(parsed.value))
    return { end: value.end, items: [readCallObject(body, ['arguments'], notes)], notes };
  const elements = parseTree(body)?.children ?? [];
  const items = elements.map((node) =>
    readCallObject(body.slice(node.offset, node.offset + node.length), ['arguments'], notes),
  );
  if (!items.length) items.push(formatError('the list of calls is empty', body));
  return { end: value.end, items, notes };
}

/** `name[ARGS]{…}`, with an id between as `[CALL_ID]…` where the template writes one. */
function readNamed(text: string, start: number, context: Context): Block {
  const head = /^\s*([^\s[\]{}]+)\s*(?:\[CALL_ID\][^[\]{}]*)?(?:\[ARGS\])?\s*/.exec(text.slice(start));
  const end = blockEnd(text, start);
  const body = text.slice(start, end).trim();
  if (!head)
    return {
      end,
      items: [context.cut ? unfinished(context, 'name', body) : formatError('name missing', body)],
      notes: [],
    };
  const at = start + head[0].length;
  const value = valueEnd(text, at);
  if (!value || value.start !== at) {
    const rest = text.slice(at, end).trim();
    if (!rest) return { end, items: [unfinished(context, 'arguments', body)], notes: [] };
    if (context.cut && end === text.length)
      return { end, items: [unfinished(context, 'rest', body)], notes: [] };
    const parsed = parseStrict(rest);
    return {
      end,
      items: [formatError(parsed.ok ? 'arguments are not an object' : parsed.reason, body)],
      notes: [],
    };
  }
  const argumentsText = text.slice(value.start, value.end);
  const parsed = parseStrict(argumentsText);
  const item = parsed.ok
    ? ({ kind: 'call', call: { name: head[1]!, arguments: parsed.value, argumentsText } } as const)
    : formatError(parsed.reason, text.slice(start, value.end).trim());
  return { end: value.end, items: [item], notes: [] };
}

/** Where a broken block ends: at the next one, or with the message. */
function blockEnd(text: string, start: number): number {
  const next = text.indexOf(TAG, start);
  return next < 0 ? text.length : next;
}
