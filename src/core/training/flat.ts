/** Rows of metrics as flat columns, for pandas, TensorBoard, W&B and spreadsheets. What each is: `docs/run-format.md`. */
import { isObject, type Json } from '../json';
import type { Metrics } from './run.types';

export type FlatRow = Record<string, number | string | null>;

/** Nested figures get dotted names; lists become how many they have. */
export function flatMetrics(row: Metrics): FlatRow {
  // First what a person looks for; the rest as the run writes it.
  const { step, time, ...rest } = row;
  const flat: FlatRow = { step, time };
  add(flat, '', rest as unknown as Json);
  return flat;
}

function add(flat: FlatRow, name: string, value: Json): void {
  if (Array.isArray(value)) flat[name] = value.length;
  else if (isObject(value)) {
    for (const [key, inner] of Object.entries(value)) add(flat, name ? `${name}.${key}` : key, inner);
  } else flat[name] = typeof value === 'boolean' ? Number(value) : value;
}

/** Names of all columns, in the order in which rows bring them. */
function columnsOf(rows: readonly FlatRow[]): string[] {
  return [...new Set(rows.flatMap((row) => Object.keys(row)))];
}

/** RFC 4180; absent and null are empty. */
export function csvOf(rows: readonly FlatRow[]): string {
  const columns = columnsOf(rows);
  const cell = (value: number | string | null | undefined) => {
    const text = value === null || value === undefined ? '' : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = [columns.map(cell), ...rows.map((row) => columns.map((column) => cell(row[column])))];
  return lines.map((line) => `${line.join(',')}\r\n`).join('');
}
