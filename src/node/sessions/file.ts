/**
 * Session files: append-only JSONL, one record a line (`docs/session-format.md`). A record is in the file when
 * `append` returns, so that killing this process loses nothing; the disk is told to keep it (fsync) at the end
 * of every output and at the end of the session, so that a power cut loses one output at most.
 */
import fs from 'node:fs';
import path from 'node:path';
import { Session, type SessionRecord, type Sink } from '../../core/rehearsal/session';
import type { Setup } from '../../core/rehearsal/types';
import '../bounded';
import { errors, NodeError } from '../errors';
import { type Lines, readLines } from '../jsonl';
import { type Header, isRecord, isWhole, renamed } from './record';

export const FORMAT_VERSION = 1;

/** A session with the file it is written to. */
export interface StoredSession {
  id: string;
  /** ISO 8601, UTC. */
  created: string;
  /** File that further records go to. */
  path: string;
  session: Session;
  /** Path of the environment file it was started from, where that is known; it need not exist any more. */
  environmentFile: string | null;
  /** What a person should know: the file was damaged, and how far it could be read. */
  notice: string | null;
  close(): void;
}

export interface StoreOptions {
  now?: Date;
  environmentFile?: string;
  /** Told of each record once it is in the file. */
  onRecord?: Sink;
  /** A rollout, which can be drawn again: the disk is told to keep it when it is over, and nobody waits for that. */
  rollout?: boolean;
}

/** Starts a session with a file of its own in `folder`, which is made where it is missing. */
export function createSession(folder: string, setup: Setup, options: StoreOptions = {}): StoredSession {
  const created = (options.now ?? new Date()).toISOString();
  const { id, file } = freshFile(folder, created);
  const environmentFile = options.environmentFile ?? null;
  const from = environmentFile && {
    environmentFile: path.relative(path.resolve(folder, '../..'), environmentFile),
  };
  const header: SessionRecord = { t: 'session', version: FORMAT_VERSION, id, created, ...from, setup };
  writeWhole(file, `${JSON.stringify(header)}\n`);
  const writer = new Writer(file, options.rollout);
  const session = new Session(setup, writing(writer, options.onRecord));
  return { id, created, path: file, session, environmentFile, notice: null, close: () => writer.close() };
}

/**
 * Opens a saved session to go on with it. An unfinished last line is dropped. A damaged file is left as it is:
 * the session goes on in a new file beside it, that holds all that came before the damage.
 */
export function openSession(file: string, options: Pick<StoreOptions, 'onRecord'> = {}): StoredSession {
  const loaded = loadSession(file);
  const { header, session, damage, lines } = loaded;
  let target = file;
  let notice: string | null = null;
  if (damage) {
    target = freeName(file);
    const kept = lines.rows.slice(0, loaded.fitting);
    writeWhole(target, kept.map((record) => `${JSON.stringify(record)}\n`).join(''));
    notice = `${file} is damaged in line ${damage.line} (${damage.reason}). It is left as it is; what came before goes on in ${path.basename(target)}.`;
  } else {
    trim(file, lines);
  }
  const writer = new Writer(target);
  loaded.attach(writing(writer, options.onRecord));
  const environmentFile = header.environmentFile
    ? path.resolve(path.dirname(file), '../..', header.environmentFile)
    : null;
  const { id, created } = header;
  return { id, created, path: target, session, environmentFile, notice, close: () => writer.close() };
}

function writing(writer: Writer, onRecord?: Sink): Sink {
  return (record) => {
    writer.append(record);
    try {
      onRecord?.(record);
    } catch (error) {
      // The record is kept: whoever is told of it must not undo that by failing.
      process.nextTick(() => {
        throw error;
      });
    }
  };
}

export interface LoadedSession {
  header: Header;
  session: Session;
  damage: Lines<SessionRecord>['damage'];
  lines: Lines<SessionRecord>;
  /** How many records fit; the rest is after the damage. */
  fitting: number;
  /** Where further records go; nowhere until then. */
  attach(sink: Sink): void;
}

/** Reads a session without touching its file. Throws `NodeError` where not even its beginning is there. */
export function loadSession(file: string): LoadedSession {
  let data: Uint8Array;
  try {
    // Reading a pipe would wait for whoever writes into it.
    if (!fs.statSync(file).isFile()) throw new Error('it is no regular file');
    data = fs.readFileSync(file);
  } catch (error) {
    throw errors.session(file, (error as Error).message);
  }
  const lines = readLines(data, isRecord, 'a session record');
  const [header] = lines.rows;
  if (!header) throw errors.session(file, lines.damage ? `in line 1 ${lines.damage.reason}` : 'it is empty');
  if (header.t !== 'session') throw errors.session(file, 'it does not begin with a session');
  if (header.version !== FORMAT_VERSION) {
    throw errors.session(
      file,
      `it has format version ${String(header.version)}, which this version does not know`,
    );
  }
  let sink: Sink = () => {};
  let session: Session;
  try {
    if (!isWhole(header)) throw new Error('a field is missing');
    session = new Session(header.setup, (record) => sink(record));
  } catch {
    throw errors.session(file, 'its first line is not complete');
  }
  let damage = lines.damage;
  let fitting = 1;
  for (; fitting < lines.rows.length; fitting++) {
    try {
      session.replay(renamed(lines.rows[fitting]!));
    } catch (error) {
      damage = { line: fitting + 1, reason: (error as Error).message };
      break;
    }
  }
  const attach = (given: Sink) => {
    sink = given;
  };
  return { header, session, damage, lines, fitting, attach };
}

/** Cuts off what a kill left unfinished, and ends the last whole line. */
function trim(file: string, lines: Lines<SessionRecord>): void {
  try {
    const length = lines.offsets.at(-1)!;
    if (fs.statSync(file).size > length) fs.truncateSync(file, length);
    if (lines.open) fs.appendFileSync(file, '\n');
  } catch (error) {
    throw errors.sessionUnwritable(file, (error as Error).message);
  }
}

class Writer {
  private fd: number | null;
  /** Bytes of whole records; a write that failed may have left a part of one behind them. */
  private whole: number;
  private torn = false;

  constructor(
    private readonly file: string,
    private readonly rollout = false,
  ) {
    try {
      this.fd = fs.openSync(file, 'a');
      this.whole = fs.fstatSync(this.fd).size;
    } catch (error) {
      throw errors.sessionUnwritable(file, (error as Error).message);
    }
  }

  append(record: SessionRecord): void {
    if (this.fd === null) throw errors.sessionUnwritable(this.file, 'it was closed');
    const data = Buffer.from(`${JSON.stringify(record)}\n`);
    try {
      this.mend();
      if (fs.fstatSync(this.fd).size !== this.whole) throw errors.sessionTaken(this.file);
      this.torn = true;
      writeAll(this.fd, data);
      this.torn = false;
      this.whole += data.length;
    } catch (error) {
      try {
        this.mend();
      } catch {
        // Tried again before the next record.
      }
      throw error instanceof NodeError
        ? error
        : errors.sessionUnwritable(this.file, (error as Error).message);
    }
    if (!this.rollout && record.t === 'reply' && (record.reply.kind !== 'token' || record.reply.token.end))
      this.keep();
  }

  /** A full disk takes a part of a record: what follows it later must not stand on the same line. */
  private mend(): void {
    if (!this.torn) return;
    fs.ftruncateSync(this.fd!, this.whole);
    this.torn = false;
  }

  close(): void {
    if (this.fd === null) return;
    const fd = this.fd;
    this.fd = null;
    if (this.rollout) {
      fs.fsync(fd, () => fs.close(fd, () => {}));
      return;
    }
    try {
      fs.fsyncSync(fd);
    } finally {
      fs.closeSync(fd);
    }
  }

  /** Asks the disk in the background; only a power cut in between loses anything. */
  private keep(): void {
    fs.fsync(this.fd!, () => {});
  }
}

function writeAll(fd: number, data: Buffer): void {
  for (let at = 0; at < data.length; ) at += fs.writeSync(fd, data, at);
}

/** A file that is there as a whole or not at all. */
function writeWhole(file: string, text: string): void {
  const temporary = `${file}.new`;
  try {
    fs.writeFileSync(temporary, text);
    fs.renameSync(temporary, file);
  } catch (error) {
    throw errors.sessionUnwritable(file, (error as Error).message);
  }
}

/** `2026-11-29T15-40-12-1`: sorts by time, and is no path whatever a task is called. */
function freshFile(folder: string, created: string): { id: string; file: string } {
  ensureFolder(folder);
  const stamp = created.slice(0, 19).replaceAll(':', '-');
  for (let n = 1; ; n++) {
    const id = `${stamp}-${n}`;
    const file = path.join(folder, `${id}.jsonl`);
    try {
      // Taken at once, so that two sessions of one second do not share a file.
      fs.closeSync(fs.openSync(file, 'wx'));
      return { id, file };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST')
        throw errors.sessionUnwritable(file, (error as Error).message);
    }
  }
}

function freeName(file: string): string {
  const stem = file.replace(/\.jsonl$/, '');
  for (let n = 1; ; n++) {
    const name = `${stem}-recovered-${n}.jsonl`;
    if (!fs.existsSync(name)) return name;
  }
}

/** Makes the folder; a `.gitignore` keeps sessions out of the person's repository. */
function ensureFolder(folder: string): void {
  try {
    fs.mkdirSync(folder, { recursive: true });
    if (path.basename(path.dirname(folder)) === '.rehearsal') {
      const ignore = path.join(path.dirname(folder), '.gitignore');
      if (!fs.existsSync(ignore)) fs.writeFileSync(ignore, '*\n');
    }
  } catch (error) {
    throw errors.sessionUnwritable(folder, (error as Error).message);
  }
}

/** Where the sessions of environments in a workspace folder are kept. */
export function sessionsFolder(workspaceFolder: string): string {
  return path.join(workspaceFolder, '.rehearsal', 'sessions');
}
