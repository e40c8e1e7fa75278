/**
 * Qwen3-Coder's XML: `<tool_call><function=name><parameter=key>text</parameter>…</function></tool_call>`. Values are
 * plain text with a line break around them; their types come from the tool's schema.
 */
import type { Tool } from '../../environment/types';
import type { Json, JsonObject } from '../../json';
import { parseStrict } from '../../json-text';
import type { ActItem } from '../types';
import type { Block, Context, DialectParser } from './dialect';
import { atLineStart, formatError, unfinished } from './dialect';
import { brokenBlockEnd, CLOSE, OPEN } from './hermes';
import { readsAs } from './qwen-types';

const FUNCTION = '<function=';
const nextOpen = atLineStart(OPEN);

export const qwenCoder: DialectParser = {
  // The model is known to leave out the outer tag; its own parser takes such a call as well.
  next: atLineStart(OPEN, FUNCTION),
  read,
};

function read(text: string, at: number, context: Context): Block {
  const wrapped = text.startsWith(OPEN, at);
  const start = wrapped ? at + OPEN.length : at;
  const notes = wrapped ? [] : [`A call began without ${OPEN}; it was taken as one.`];
  const name = /^\s*<function=([^>\n]*)>/.exec(text.slice(start));
  if (name) {
    const inner = start + name[0].length;
    const close = functionEnd(text, inner);
    if (close) {
      const item = readFunction(name[1]!.trim(), text.slice(inner, close.bodyEnd), context.tools);
      return { end: close.end, items: [item], notes };
    }
  }
  const { bodyEnd, end } = brokenBlockEnd(text, start);
  const body = text.slice(at, bodyEnd).trim();
  if (end === bodyEnd)
    return { end, items: [unfinished(context, name ? '</function>' : CLOSE, body)], notes };
  const reason = name ? '</function> missing' : `${FUNCTION}name> missing after ${OPEN}`;
  return { end, items: [formatError(reason, body)], notes };
}

/** The first `</function>` that ends the block: inside a value the tag may stand as text. */
function functionEnd(text: string, from: number): { bodyEnd: number; end: number } | null {
  for (let at = text.indexOf('</function>', from); at >= 0; at = text.indexOf('</function>', at + 1)) {
    const rest = text.slice(at + '</function>'.length);
    const tail = /^\s*<\/tool_call>/.exec(rest);
    const body = text.slice(from, at).trimEnd();
    const complete = !body.trim() || body.endsWith('</parameter>');
    const blockFollows = /^\s*<\/tool_call>\s*<tool_call>\s*<function=/.test(rest);
    if (blockFollows || (complete && (tail || /^\s*(<tool_call>|<function=|$)/.test(rest)))) {
      return { bodyEnd: at, end: at + '</function>'.length + (tail?.[0].length ?? 0) };
    }
  }
  const first = text.indexOf('</function>', from);
  const next = nextOpen(text, from);
  if (first < 0 || (next >= 0 && next < first)) return null;
  const tail = /^\s*<\/tool_call>/.exec(text.slice(first + '</function>'.length));
  return { bodyEnd: first, end: first + '</function>'.length + (tail?.[0].length ?? 0) };
}

function readFunction(name: string, body: string, tools: readonly Tool[]): ActItem {
  const whole = `<function=${name}>${body}</function>`;
  if (!name) return formatError('name is empty', whole);
  const schema = tools.find((tool) => tool.name === name)?.parameters;
  const fields: { key: string; value: Json; text: string }[] = [];
  let rest = body;
  while (rest.trim()) {
    const open = /^\s*<parameter=([^>\n]*)>/.exec(rest);
    if (!open) return formatError(`text outside of parameters: ${rest.trim().slice(0, 60)}`, whole);
    const key = open[1]!.trim();
    const close = /<\/parameter>\s*(?=<parameter=|$)/.exec(rest.slice(open[0].length));
    if (!close) return formatError(`parameter ${key} is not closed`, whole);
    const raw = rest.slice(open[0].length, open[0].length + close.index);
    fields.push({ key, ...typed(raw.replace(/^\r?\n/, '').replace(/\r?\n$/, ''), key, schema) });
    rest = rest.slice(open[0].length + close.index + close[0].length);
  }
  // Object.fromEntries defines own properties, so that `__proto__` is a key like any other.
  const args = Object.fromEntries(fields.map(({ key, value }) => [key, value]));
  const argumentsText = `{${fields.map(({ key, text }) => `${JSON.stringify(key)}: ${text}`).join(', ')}}`;
  return { kind: 'call', call: { name, arguments: args, argumentsText } };
}

/** The value of a parameter's text, and how it is written as JSON (digits kept). */
function typed(raw: string, key: string, schema: JsonObject | undefined): { value: Json; text: string } {
  const parsed = parseStrict(raw.trim());
  if (parsed.ok && readsAs(parsed.value, key, schema)) return { value: parsed.value, text: raw.trim() };
  const boolean = /^(true|false|none)$/i.exec(raw.trim())?.[0].toLowerCase();
  if (boolean) {
    const value = boolean === 'none' ? null : boolean === 'true'; // Python's spelling, which its template may write
    if (schema && readsAs(value, key, schema)) return { value, text: JSON.stringify(value) };
  }
  return { value: raw, text: JSON.stringify(raw) };
}
