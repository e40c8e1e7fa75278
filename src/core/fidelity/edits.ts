/**
 * Records and ignored fields written into an author's own text: comments, order and formatting of everything else
 * stay as they are. Pure; `features` makes an undoable edit of the difference.
 */
import { findNodeAtLocation, modify, type Node, parseTree } from 'jsonc-parser';
import type { Place } from '../environment/diagnostics';
import type { Example } from '../environment/types';
import { formatJson, type Json } from '../json';
import type { Location } from '../jsonpath';

/** Where the records stand in a text: one a line, or a list at this place. */
export type RecordsPlace = 'lines' | Location;

/** Fields to set; `undefined` takes a field away. */
export type RecordFields = { [field in keyof Example]?: Example[field] | undefined };

export interface RecordEdits {
  /** Records that stand in the text already. Their places must be those of this very text. */
  changed: readonly { at: Pick<Place, 'offset' | 'length'>; fields: RecordFields }[];
  added: readonly Example[];
}

export function editRecords(text: string, where: RecordsPlace, { changed, added }: RecordEdits): string {
  // From the end, so that the places before stay right.
  const inOrder = [...changed].sort((a, b) => b.at.offset - a.at.offset);
  let result = text;
  for (const { at, fields } of inOrder) {
    const [start, end] = [at.offset, at.offset + at.length];
    result = result.slice(0, start) + withFields(result.slice(start, end), fields) + result.slice(end);
  }
  if (added.length === 0) return result;
  if (where === 'lines')
    return withLines(
      result,
      added.map((record) => formatJson(asJson(record))),
    );
  return withItems(result, where, added.map(asJson));
}

/** Adds paths to `ignore`; those that are there already are left alone. */
export function addIgnored(text: string, paths: readonly string[]): string {
  const list = nodeOf(text, ['ignore']);
  const known = new Set((list?.children ?? []).map(({ value }) => value as unknown));
  const fresh = [...new Set(paths)].filter((path) => !known.has(path));
  return fresh.length ? withItems(text, ['ignore'], fresh) : text;
}

/** Where the records of a text are, by what its environment file says; null where it is no list at all. */
export function recordsIn(text: string, name: string): RecordsPlace | null {
  if (/\.(jsonl|ndjson)$/i.test(name)) return 'lines';
  const places: Location[] = [[], ['examples'], ['result', 'examples']];
  return places.find((place) => nodeOf(text, place)?.type === 'array') ?? null;
}

function asJson(record: Example): Json {
  return record as unknown as Json;
}

function nodeOf(text: string, place: Location): Node | undefined {
  const root = parseTree(text, [], { allowTrailingComma: true });
  return root && findNodeAtLocation(root, [...place]);
}

/** A record's text with fields set or taken away, each in the way in which the record is written. */
function withFields(text: string, fields: RecordFields): string {
  let result = text;
  for (const [name, value] of Object.entries(fields) as [string, Json | undefined][]) {
    const root = parseTree(result, [], { allowTrailingComma: true });
    if (root?.type !== 'object') return text;
    const known = root.children?.findLast((field) => field.children?.[0]?.value === name);
    if (value === undefined) {
      if (known)
        for (const edit of modify(result, [name], undefined, {}))
          result = spliced(result, edit.offset, edit.length, edit.content);
      continue;
    }
    const old = known?.children?.[1];
    if (old) result = spliced(result, old.offset, old.length, formatJson(value));
    else result = withProperty(result, root, name, value);
  }
  return result;
}

function withProperty(text: string, object: Node, name: string, value: Json): string {
  const property = `${JSON.stringify(name)}: ${formatJson(value)}`;
  const last = object.children?.at(-1);
  if (!last) return spliced(text, object.offset, object.length, `{ ${property} }`);
  const before = gapBefore(text, last, object);
  return spliced(text, last.offset + last.length, 0, `,${before || ' '}${property}`);
}

/** What stands between a list's last item and what comes before it: nothing but space, or a line end with its indent. */
function gapBefore(text: string, last: Node, list: Node): string {
  const siblings = list.children!;
  const earlier = siblings.length > 1 ? siblings.at(-2)! : null;
  const start = earlier ? earlier.offset + earlier.length : list.offset + 1;
  const gap = text.slice(start, last.offset);
  const line = /\r?\n[ \t]*$/.exec(gap);
  return line ? line[0] : earlier ? ' ' : '';
}

function withItems(text: string, place: Location, items: readonly Json[]): string {
  const list = nodeOf(text, place);
  if (list?.type !== 'array') {
    const options = { insertSpaces: true, tabSize: 2, eol: eolOf(text) };
    const edits = modify(text, [...place], [...items], { formattingOptions: options });
    return edits.reduceRight(
      (result, { offset, length, content }) => spliced(result, offset, length, content),
      text,
    );
  }
  const last = list.children?.at(-1);
  if (!last) {
    const indent = `${eolOf(text)}${indentAt(text, list.offset)}`;
    const inner = `${indent}  `;
    return spliced(
      text,
      list.offset,
      list.length,
      `[${inner}${items.map(formatJson).join(`,${inner}`)}${indent}]`,
    );
  }
  const gap = gapBefore(text, last, list) || ' ';
  const isTall = text.slice(last.offset, last.offset + last.length).includes('\n');
  const written = items.map((item) =>
    isTall ? tall(item, indentAt(text, last.offset), eolOf(text)) : formatJson(item),
  );
  return spliced(text, last.offset + last.length, 0, written.map((item) => `,${gap}${item}`).join(''));
}

function tall(item: Json, indent: string, eol: string): string {
  return JSON.stringify(item, null, 2).replaceAll('\n', `${eol}${indent}`);
}

function withLines(text: string, lines: readonly string[]): string {
  const eol = eolOf(text);
  const start = text === '' || text.endsWith('\n') ? text : text + eol;
  return start + lines.map((line) => line + eol).join('');
}

function indentAt(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
  return /^[ \t]*/.exec(line)![0];
}

function eolOf(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n';
}

function spliced(text: string, offset: number, length: number, content: string): string {
  return text.slice(0, offset) + content + text.slice(offset + length);
}

/** The one stretch in which two texts differ, as a replacement in the first. */
export function replacementOf(
  before: string,
  after: string,
): { offset: number; length: number; text: string } {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  return { offset: head, length: before.length - head - tail, text: after.slice(head, after.length - tail) };
}
