/** Text of an environment's files as values that know where they stand. Broken text gives what can be read of it. */
import { type Node, type ParseError, parseTree } from 'jsonc-parser';
import type { Json } from '../json';
import { depthOf, MAX_DEPTH, problemText } from '../json-text';
import type { Place, Report } from './diagnostics';

export type Path = (string | number)[];

/** A value in a file. */
export class Entry {
  readonly value: Json;

  constructor(
    readonly node: Node,
    readonly file: string | undefined,
    /** Offset of the text that the node's offsets count from (a line of a JSONL file). */
    private readonly base = 0,
  ) {
    this.value = nodeValue(node);
  }

  /** Where a part of the value stands; the nearest thing around it where it is not there. */
  place(path: Path = []): Place {
    for (let length = path.length; length > 0; length--) {
      const node = nodeAt(this.node, path.slice(0, length));
      if (node) return this.at(node);
    }
    return this.at(this.node);
  }

  /** Where the name of a field stands. */
  keyPlace(path: Path): Place {
    const key = nodeAt(this.node, path)?.parent?.children?.[0];
    return key ? this.at(key) : this.place(path);
  }

  child(path: Path): Entry | null {
    const node = nodeAt(this.node, path);
    return node ? new Entry(node, this.file, this.base) : null;
  }

  items(): Entry[] {
    return this.node.type === 'array'
      ? (this.node.children ?? []).map((node) => new Entry(node, this.file, this.base))
      : [];
  }

  private at({ offset, length }: Node): Place {
    return { ...(this.file ? { file: this.file } : {}), offset: this.base + offset, length };
  }
}

/** What stands at a path: of a key that stands twice the last, as in `value`. */
function nodeAt(node: Node, path: Path): Node | undefined {
  let at: Node | undefined = node;
  for (const step of path) {
    const children: Node[] = at?.children ?? [];
    if (at?.type === 'array') at = typeof step === 'number' ? children[step] : undefined;
    else
      at = children.findLast((field) => field.children?.[0]?.value === step && field.children.length === 2)
        ?.children?.[1];
  }
  return at;
}

/** The value of a node; unlike an assignment, a key `__proto__` is a key like any other. */
function nodeValue(node: Node): Json {
  if (node.type === 'array') return (node.children ?? []).map(nodeValue);
  if (node.type !== 'object') return (node.value ?? null) as Json;
  const fields = (node.children ?? []).filter((field) => field.children?.length === 2);
  return Object.fromEntries(
    fields.map((field) => [field.children![0]!.value as string, nodeValue(field.children![1]!)]),
  );
}

export interface ParsedText {
  root: Entry | null;
  /** Offsets at which the text is broken. */
  broken: number[];
}

const SHOWN_ERRORS = 10;

/** Parses JSON with comments and trailing commas; each thing that is wrong is reported at its offset. */
export function parseText(text: string, file: string | undefined, report: Report): ParsedText {
  const place = (offset: number, length: number) => ({ ...(file ? { file } : {}), offset, length });
  const name = file ?? 'The file';
  const start = text.startsWith('\uFEFF') ? ` ${text.slice(1)}` : text;
  if (!start.trim()) {
    report.error(
      place(0, text.length),
      'empty',
      `${name} is empty.`,
      'Write an object with "tools" and "tasks".',
    );
    return { root: null, broken: [] };
  }
  if (depthOf(start) > MAX_DEPTH) {
    report.error(
      place(0, 1),
      'syntax',
      `${name} is nested deeper than ${MAX_DEPTH} levels and was not read.`,
    );
    return { root: null, broken: [] };
  }
  const errors: ParseError[] = [];
  const root = parseTree(start, errors, { allowTrailingComma: true });
  // A truncated text lacks one thing after another at its end: one of them says it.
  const ends = errors.filter((error) => start.slice(error.offset).trim() === '');
  for (const error of [...errors.filter((error) => !ends.includes(error)), ...ends.slice(0, 1)].slice(
    0,
    SHOWN_ERRORS,
  )) {
    const atEnd = ends.includes(error);
    const message = atEnd
      ? `${name} ends too early: ${problemText(error)}.`
      : `Syntax error: ${problemText(error)}.`;
    const rest = atEnd
      ? 'Complete it; what stands before is still used.'
      : 'Correct it; what stands around it is still used.';
    report.error(
      place(error.offset, Math.max(1, error.length)),
      atEnd ? 'truncated' : 'syntax',
      message,
      rest,
    );
  }
  return { root: root ? new Entry(root, file) : null, broken: errors.map((error) => error.offset) };
}

/** Entries of a JSONL file, one for each line that has one; a broken line drops only itself. */
export function parseLines(text: string, file: string, report: Report): Entry[] {
  const entries: Entry[] = [];
  let base = 0;
  for (const line of text.split('\n')) {
    const content = line.replace(/^\uFEFF/, ' ');
    if (content.trim() && !content.trim().startsWith('//')) {
      const errors: ParseError[] = [];
      const tooDeep = depthOf(content) > MAX_DEPTH;
      const root = tooDeep ? undefined : parseTree(content, errors, { allowTrailingComma: true });
      const first = errors[0];
      if (root && !first) entries.push(new Entry(root, file, base));
      else {
        const what = first ? problemText(first) : 'it is nested too deep';
        const place = { file, offset: base + (first?.offset ?? 0), length: Math.max(1, first?.length ?? 1) };
        report.error(
          place,
          'syntax',
          `This line of ${file} is not JSON and was left out: ${what}.`,
          'Write one JSON object on each line.',
        );
      }
    }
    base += line.length + 1;
  }
  return entries;
}

/** Keys that stand twice in one object, anywhere in a file; the last one counts. */
export function reportDuplicateKeys(entry: Entry, report: Report): void {
  const open = [entry.node];
  for (let node = open.pop(); node; node = open.pop()) {
    if (node.type === 'object') {
      const seen = new Set<string>();
      for (const field of node.children ?? []) {
        const key = field.children?.[0];
        if (!key) continue;
        if (seen.has(key.value as string)) {
          const message = `${JSON.stringify(key.value)} stands twice in this object; the last one counts.`;
          report.warning(new Entry(key, entry.file).place(), 'duplicate-key', message, 'Remove one of them.');
        }
        seen.add(key.value as string);
      }
    }
    open.push(...(node.children ?? []));
  }
}
