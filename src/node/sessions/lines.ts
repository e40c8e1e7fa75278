/**
 * The lines of a session file. A process may have been killed in the middle of a write: what follows the last
 * line end is then not whole, and is left out.
 */
import type { SessionRecord } from '../../core/rehearsal/session';

export interface Lines {
  records: SessionRecord[];
  /** Bytes of the file that hold these records: where the next one goes. */
  length: number;
  /** The last record's line end was not written any more. */
  open: boolean;
  /** A line in the middle that is no record. Whatever follows it is left out. */
  damage: { line: number; reason: string } | null;
}

const LINE_END = 0x0a;

export function readLines(data: Uint8Array): Lines {
  const result: Lines = { records: [], length: 0, open: false, damage: null };
  for (let at = 0, line = 1; at < data.length; line++) {
    const found = data.indexOf(LINE_END, at);
    const end = found < 0 ? data.length : found;
    const record = parse(data.subarray(at, end));
    if (typeof record === 'string') {
      // An unfinished last line is what a kill leaves behind; anywhere else something else happened.
      if (found >= 0) result.damage = { line, reason: record };
      return result;
    }
    result.records.push(record);
    result.length = end + (found < 0 ? 0 : 1);
    result.open = found < 0;
    at = end + 1;
  }
  return result;
}

const DECODER = new TextDecoder('utf-8', { fatal: true });

/** The record, or why there is none. */
function parse(line: Uint8Array): SessionRecord | string {
  let value: unknown;
  try {
    value = JSON.parse(DECODER.decode(line));
  } catch (error) {
    return error instanceof SyntaxError ? 'it is not JSON' : 'it is not UTF-8';
  }
  return isRecord(value) ? value : 'it is not a session record';
}

function isRecord(value: unknown): value is SessionRecord {
  if (typeof value !== 'object' || value === null) return false;
  const { t } = value as { t?: unknown };
  return t === 'session' || t === 'reply' || t === 'at';
}
