/** Append-only files of JSON lines. A kill leaves an unfinished last line at most, which is not there for readers. */
import fs from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

const LINE_END = 0x0a;

export interface Rows<T> {
  rows: T[];
  /** Bytes of the file at which each row begins, and the end of the last. */
  offsets: number[];
}

/** Rows up to the first line that is none: what follows it cannot be trusted. An absent file has none. */
export function readRows<T>(file: string, accept: (value: unknown) => value is T): Rows<T> {
  const data = fs.existsSync(file) ? fs.readFileSync(file) : Buffer.alloc(0);
  const found: Rows<T> = { rows: [], offsets: [0] };
  for (let at = 0; ; ) {
    const end = data.indexOf(LINE_END, at);
    if (end < 0) return found;
    const value = parseLine(data.subarray(at, end));
    if (!accept(value)) return found;
    found.rows.push(value);
    at = end + 1;
    found.offsets.push(at);
  }
}

const DECODER = new TextDecoder('utf-8', { fatal: true });

/** The value of a line; undefined where it is no JSON. */
export function parseLine(line: Uint8Array): unknown {
  try {
    return JSON.parse(DECODER.decode(line));
  } catch {
    return undefined;
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
