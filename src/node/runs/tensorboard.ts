/**
 * Metrics as a TensorBoard event file: records of TensorFlow's framing (length, checksum, data, checksum), each an
 * `Event` message with scalar summaries. Source: tensorflow/core/util/event.proto and lib/io/record_writer.
 */
import fs from 'node:fs';
import path from 'node:path';
import { flatMetrics } from '../../core/training/flat';
import type { Metrics } from '../../core/training/run.types';
import { runErrors } from './errors';

/** Writes a file that `tensorboard --logdir FOLDER` shows; returns its path. */
export function writeEvents(folder: string, run: string, rows: readonly Metrics[]): string {
  const started = rows[0] ? Date.parse(rows[0].time) / 1000 : 0;
  const file = path.join(folder, run, `events.out.tfevents.${Math.floor(started)}.${run}`);
  try {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(
      file,
      Buffer.concat([record(header(started)), ...rows.map((row) => record(event(row)))]),
    );
  } catch (error) {
    throw runErrors.output(folder, error);
  }
  return file;
}

function header(time: number): Buffer {
  return Buffer.concat([double(1, time), bytes(3, Buffer.from('brain.Event:2'))]);
}

function event(row: Metrics): Buffer {
  const { step, time: _, ...figures } = flatMetrics(row);
  const values = Object.entries(figures).flatMap(([name, value]) => {
    if (typeof value !== 'number' || !Number.isFinite(value)) return [];
    // TensorBoard groups tags by what stands before a slash.
    return bytes(1, Buffer.concat([bytes(1, Buffer.from(name.replaceAll('.', '/'))), float(2, value)]));
  });
  return Buffer.concat([
    double(1, Date.parse(row.time) / 1000),
    Buffer.concat([key(2, 0), varint(Number(step))]),
    bytes(5, Buffer.concat(values)),
  ]);
}

const key = (field: number, wire: number) => varint((field << 3) | wire);

function varint(value: number): Buffer {
  const parts: number[] = [];
  let left = value;
  for (; left > 0x7f; left = Math.floor(left / 128)) parts.push((left % 128) | 0x80);
  return Buffer.from([...parts, left]);
}

function double(field: number, value: number): Buffer {
  const data = Buffer.alloc(8);
  data.writeDoubleLE(value);
  return Buffer.concat([key(field, 1), data]);
}

function float(field: number, value: number): Buffer {
  const data = Buffer.alloc(4);
  data.writeFloatLE(value);
  return Buffer.concat([key(field, 5), data]);
}

function bytes(field: number, data: Buffer): Buffer {
  return Buffer.concat([key(field, 2), varint(data.length), data]);
}

function record(data: Buffer): Buffer {
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(data.length));
  return Buffer.concat([length, masked(length), data, masked(data)]);
}

/** CRC-32C (Castagnoli), rotated and offset as TensorFlow stores it. */
function masked(data: Buffer): Buffer {
  let crc = 0xffffffff;
  for (const byte of data) crc = TABLE[(crc ^ byte) & 0xff]! ^ (crc >>> 8);
  crc = (crc ^ 0xffffffff) >>> 0;
  const out = Buffer.alloc(4);
  out.writeUInt32LE((((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0);
  return out;
}

const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  let crc = n;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  return crc >>> 0;
});
