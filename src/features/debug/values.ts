/** Values as the debugger's tree shows them: JSON, opened level by level, with control characters escaped. */
import type { DebugProtocol as P } from '@vscode/debugprotocol';
import { formatJson, type Json } from '../../core/json';
import { escaped } from '../../core/text';

/** A row that may be opened. */
export interface Row {
  name: string;
  value: string;
  type?: string;
  children?: () => Row[];
}

const PREVIEW = 200;

/** One line of text: line ends as `\n`, control characters shown, cut where it is long. */
export function oneLine(text: string, most = PREVIEW): string {
  return escaped(text.length > most ? `${text.slice(0, most)}…` : text);
}

export function jsonRow(name: string, value: Json | undefined): Row {
  if (value === undefined) return { name, value: 'undefined', type: 'undefined' };
  if (typeof value === 'string') return textRow(name, value);
  if (typeof value !== 'object' || value === null) return { name, value: String(value), type: typeof value };
  const entries = Object.entries(value);
  return {
    name: oneLine(name),
    value: oneLine(formatJson(value)),
    type: Array.isArray(value) ? 'array' : 'object',
    ...(entries.length > 0 && { children: () => entries.map(([key, item]) => jsonRow(oneLine(key), item)) }),
  };
}

/** A text: quoted on one line, and opened line by line where it has several or is long. */
export function textRow(name: string, text: string): Row {
  const lines = text.split('\n');
  const isLong = lines.length > 1 || text.length > PREVIEW;
  return {
    name: oneLine(name),
    value: `"${oneLine(text)}"`,
    type: 'string',
    ...(isLong && {
      children: () => lines.map((line, i) => ({ name: String(i + 1), value: oneLine(line, 10_000) })),
    }),
  };
}

/** References that the client opens rows by; valid until the session moves. */
export class RowHandles {
  private readonly rows = new Map<number, () => Row[]>();
  private last = 1000;

  clear(): void {
    this.rows.clear();
  }

  add(children: () => Row[]): number {
    this.rows.set(++this.last, children);
    return this.last;
  }

  /** An outdated reference opens to nothing. */
  open(reference: number): P.Variable[] {
    return (this.rows.get(reference)?.() ?? []).map((row) => ({
      name: row.name,
      value: row.value,
      ...(row.type && { type: row.type }),
      variablesReference: row.children ? this.add(row.children) : 0,
    }));
  }
}
