/** Append-only files of JSON lines. A kill leaves an unfinished last line at most, which is not there for readers. */
import fs from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

const LINE_END = 0x0a;

export interface Lines<T> {
  rows: T[];
  /** Bytes at which each row begins, and behind the last: where the next one goes. */
  offsets: number[];
  /** The last row's line end was not written any more. */
  open: boolean;
  /** A line in the middle that is none. Whatever follows it is left out. */
  damage: { line: number; reason: string } | null;
}

/** @param what "a session record": what `accept` takes */
export function readLines<T>(
  data: Uint8Array,
  accept: (value: unknown) => value is T,
  what = 'a row',
): Lines<T> {
  const result: Lines<T> = { rows: [], offsets: [0], open: false, damage: null };
  for (let at = 0; at < data.length; ) {
    const found = data.indexOf(LINE_END, at);
    const end = found < 0 ? data.length : found;
    const { value, problem = `it is not ${what}` } = parsed(data.subarray(at, end));
    if (!accept(value)) {
      // An unfinished last line is what a kill leaves behind; anywhere else something else happened.
      if (found >= 0) result.damage = { line: result.rows.length + 1, reason: problem };
      return result;
    }
    result.rows.push(value);
    at = found < 0 ? end : end + 1;
    result.offsets.push(at);
    result.open = found < 0;
  }
  return result;
}

/** Rows of a file up to the first line that is none, whole or not. An absent file has none. */
export function readRows<T>(
  file: string,
  accept: (value: unknown) => value is T,
): Pick<Lines<T>, 'rows' | 'offsets'> {
  const { rows, offsets, open } = readLines(
    fs.existsSync(file) ? fs.readFileSync(file) : new Uint8Array(),
    accept,
  );
  return open ? { rows: rows.slice(0, -1), offsets: offsets.slice(0, -1) } : { rows, offsets };
}

const DECODER = new TextDecoder('utf-8', { fatal: true });

/** The value of a line; undefined where it is no JSON. */
export function parseLine(line: Uint8Array): unknown {
  return parsed(line).value;
}

function parsed(line: Uint8Array): { value?: unknown; problem?: string } {
  try {
    return { value: JSON.parse(DECODER.decode(line)) };
  } catch (error) {
    return { problem: error instanceof SyntaxError ? 'it is not JSON' : 'it is not UTF-8' };
  }
}

/** Appends whole lines. What a failed write left of one is cut off again. */
export class Appender {
  private handle: FileHandle | null = null;

  /** @param length bytes that are whole; what stands behind them is cut off */
  constructor(
    private readonly file: string,
    public length: number,
  ) {}

  /** All of the text is in the file and on the disk when this returns, or nothing of it. */
  async append(data: Buffer): Promise<void> {
    const handle = await this.opened();
    try {
      for (let at = 0; at < data.length; ) {
        const { bytesWritten } = await handle.write(data, at, data.length - at, this.length + at);
        at += bytesWritten;
      }
      await handle.sync();
    } catch (error) {
      await handle.truncate(this.length).catch(() => {});
      throw error;
    }
    this.length += data.length;
  }

  async truncate(length: number): Promise<void> {
    const handle = await this.opened();
    await handle.truncate(length);
    await handle.sync();
    this.length = length;
  }

  async close(): Promise<void> {
    await this.handle?.close();
    this.handle = null;
  }

  private async opened(): Promise<FileHandle> {
    if (!this.handle) {
      // Not "a": where a write was cut short, the next one goes over what is left of it.
      this.handle = await open(this.file, fs.constants.O_RDWR | fs.constants.O_CREAT, 0o644);
      await this.handle.truncate(this.length);
    }
    return this.handle;
  }
}

/** Writes a file that is there as a whole or not at all, also after a power cut. */
export function writeWhole(file: string, text: string): void {
  const temporary = `${file}.${process.pid}.new`;
  try {
    const fd = fs.openSync(temporary, 'w', 0o644);
    try {
      fs.writeFileSync(fd, text);
      fs.fsyncSync(fd);
    } finally {
      fs.closeSync(fd);
    }
    fs.renameSync(temporary, file);
  } catch (error) {
    fs.rmSync(temporary, { force: true });
    throw error;
  }
}
