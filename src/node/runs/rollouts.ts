/**
 * `rollouts.jsonl`, one rollout a line, and `rollouts.index`, which says where they stand: one line for each write.
 * The line of the index is written last, so that what one call appended is there as a whole or not at all. An index
 * that is missing or does not fit is made again from the rollouts.
 */
import fs from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import type { RolloutRecord } from '../../core/training/run.types';
import { Appender, parseLine, readRows, writeWhole } from '../jsonl';

/** What was appended at once: where it begins, and step, index and bytes of each rollout. */
interface Write {
  offset: number;
  rollouts: [step: number, index: number, bytes: number][];
}

export interface RolloutPlace {
  step: number;
  index: number;
  offset: number;
  bytes: number;
}

const DATA = 'rollouts.jsonl';
const INDEX = 'rollouts.index';

/** Where the rollouts of a folder stand. Reads; changes nothing. */
export function rolloutPlaces(folder: string): { places: RolloutPlace[]; length: number; fits: boolean } {
  const data = path.join(folder, DATA);
  const size = fs.existsSync(data) ? fs.statSync(data).size : 0;
  const { rows } = readRows(path.join(folder, INDEX), isWrite);
  const indexed = placesOf(rows);
  // Not even its first line: then nothing is known of what was whole.
  if (rows.length && holds(data, size, indexed)) return { ...indexed, fits: true };
  return { ...scanned(data), fits: false };
}

function placesOf(writes: readonly Write[]): { places: RolloutPlace[]; length: number } {
  const places: RolloutPlace[] = [];
  let length = 0;
  for (const write of writes) {
    if (write.offset < length) return { places: [], length: Number.POSITIVE_INFINITY };
    length = write.offset;
    for (const [step, index, bytes] of write.rollouts) {
      places.push({ step, index, offset: length, bytes });
      length += bytes;
    }
  }
  return { places, length };
}

/** Whether lines begin where the index says; looked at, not read through: the file may be large. */
function holds(
  file: string,
  size: number,
  { places, length }: { places: RolloutPlace[]; length: number },
): boolean {
  if (length > size) return false;
  if (!places.length) return true;
  const fd = fs.openSync(file, 'r');
  try {
    const head = Buffer.alloc(64);
    return places.every(({ step, index, offset, bytes }) => {
      const wanted = beginning(step, index);
      fs.readSync(fd, head, 0, wanted.length, offset);
      if (head.toString('latin1', 0, wanted.length) !== wanted) return false;
      fs.readSync(fd, head, 0, 1, offset + bytes - 1);
      return head[0] === 0x0a;
    });
  } finally {
    fs.closeSync(fd);
  }
}

const beginning = (step: number, index: number) => `{"step":${step},"index":${index},`;

/** From the rollouts themselves. A line that is none is damaged, and costs only itself. */
function scanned(file: string): { places: RolloutPlace[]; length: number } {
  const data = fs.existsSync(file) ? fs.readFileSync(file) : Buffer.alloc(0);
  const places: RolloutPlace[] = [];
  let length = 0;
  for (let offset = 0, end = data.indexOf(0x0a); end >= 0; end = data.indexOf(0x0a, offset)) {
    const value = parseLine(data.subarray(offset, end));
    if (isRollout(value)) {
      places.push({ step: value.step, index: value.index, offset, bytes: end + 1 - offset });
      length = end + 1;
    }
    offset = end + 1;
  }
  return { places, length };
}

/** As few writes as give these places: a new one after each gap. */
function linesOf(places: readonly RolloutPlace[]): string {
  const writes: RolloutPlace[][] = [[]];
  for (const place of places) {
    const last = writes.at(-1)!.at(-1);
    if (last && last.offset + last.bytes !== place.offset) writes.push([]);
    writes.at(-1)!.push(place);
  }
  return writes.map((write) => lineOf(write).toString()).join('');
}

function isWrite(value: unknown): value is Write {
  const { offset, rollouts } = (value ?? {}) as Write;
  const whole = (n: unknown) => Number.isInteger(n) && (n as number) >= 0;
  return (
    whole(offset) && Array.isArray(rollouts) && rollouts.every((r) => Array.isArray(r) && r.every(whole))
  );
}

function isRollout(value: unknown): value is RolloutRecord {
  const { step, index } = (value ?? {}) as RolloutRecord;
  return Number.isInteger(step) && Number.isInteger(index);
}

/** Reads rollouts by their places, in that order. */
export async function readRollouts(
  folder: string,
  places: readonly RolloutPlace[],
): Promise<RolloutRecord[]> {
  if (!places.length) return [];
  const handle = await open(path.join(folder, DATA), 'r');
  try {
    const records: RolloutRecord[] = [];
    for (const { step, index, offset, bytes } of places) {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytes), 0, bytes, offset);
      const value = bytesRead === bytes ? parseLine(buffer) : undefined;
      if (!isRollout(value)) throw new Error(`rollout ${index} of step ${step} is damaged`);
      records.push(value);
    }
    return records;
  } finally {
    await handle.close();
  }
}

/** The writer's side. */
export class RolloutFile {
  private readonly data: Appender;
  private readonly index: Appender;
  places: RolloutPlace[];
  private readonly known: Set<string>;

  constructor(folder: string) {
    const { places, length, fits } = rolloutPlaces(folder);
    this.places = places;
    this.known = new Set(places.map(keyOf));
    this.data = new Appender(path.join(folder, DATA), length);
    const file = path.join(folder, INDEX);
    if (!fits) writeWhole(file, linesOf(places));
    const { offsets } = readRows(file, isWrite);
    this.index = new Appender(file, offsets.at(-1)!);
  }

  /** Those that are stored already are left as they are. */
  async append(records: readonly RolloutRecord[]): Promise<void> {
    const fresh = records.filter((record) => !this.known.has(keyOf(record)));
    if (!fresh.length) return;
    const lines = fresh.map(({ step, index, ...rest }) =>
      Buffer.from(`${JSON.stringify({ step, index, ...rest })}\n`),
    );
    let offset = this.data.length;
    const places = fresh.map(({ step, index }, i) => {
      const bytes = lines[i]!.length;
      offset += bytes;
      return { step, index, offset: offset - bytes, bytes };
    });
    const before = this.data.length;
    await this.data.append(Buffer.concat(lines));
    try {
      await this.index.append(lineOf(places));
    } catch (error) {
      await this.data.truncate(before).catch(() => {});
      throw error;
    }
    for (const place of places) {
      this.places.push(place);
      this.known.add(keyOf(place));
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.data.close(), this.index.close()]);
  }
}

const keyOf = ({ step, index }: { step: number; index: number }) => `${step}/${index}`;

function lineOf(places: readonly RolloutPlace[]): Buffer {
  const write: Write = {
    offset: places[0]?.offset ?? 0,
    rollouts: places.map(({ step, index, bytes }) => [step, index, bytes]),
  };
  return Buffer.from(`${JSON.stringify(write)}\n`);
}
