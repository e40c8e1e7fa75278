/** The two protobuf messages of the Tinker protocol that learning needs (package tinker_public, SDK 0.38). */
import { PbfReader, PbfWriter } from 'pbf';
import type { LossRequest, LossResult } from '../../core/grpo/learner';
import type { Sent } from './backend';

const FLOAT32 = 1;
const INT64 = 2;

export interface Addressed {
  model: string;
  seq: number;
}

/** A request as it goes out, its samples perhaps scaled. */
export type Sendable = Omit<LossRequest, 'data' | 'loss'> & {
  loss: LossRequest['loss'];
  data: readonly Sent[];
  config?: Readonly<Record<string, number>>;
};

/** A ForwardBackwardRequest. */
export function encodeRequest({ model, seq }: Addressed, request: Sendable): Uint8Array {
  const pbf = new PbfWriter();
  pbf.writeStringField(1, model);
  pbf.writeVarintField(2, seq);
  const asked = request.loss === 'cross_entropy' ? ['weights'] : ['logprobs', 'advantages', 'weights'];
  for (const datum of request.data) {
    const names = (asked as Name[]).filter((name) => datum[name]);
    pbf.writeMessage(3, writeDatum, { names, datum: datum as Fields });
  }
  pbf.writeStringField(4, request.loss);
  const config = request.loss === 'cross_entropy' ? {} : (request.config ?? {});
  for (const entry of Object.entries(config)) pbf.writeMessage(5, writeSetting, entry);
  if (request.forwardOnly) pbf.writeBooleanField(6, true);
  return pbf.finish();
}

type Name = 'weights' | 'logprobs' | 'advantages';
type Fields = Record<Name | 'input' | 'target', readonly number[]>;

function writeDatum({ names, datum }: { names: readonly Name[]; datum: Fields }, pbf: PbfWriter): void {
  pbf.writeMessage(1, writeChunk, datum.input);
  pbf.writeMessage(2, writeInput, ['target_tokens', INT64, datum.target] as const);
  for (const name of names) pbf.writeMessage(2, writeInput, [name, FLOAT32, datum[name]] as const);
}

function writeChunk(ids: readonly number[], pbf: PbfWriter): void {
  pbf.writeMessage(
    1,
    (values: readonly number[], inner) => inner.writeBytesField(1, bytesOf(Int32Array.from(values))),
    ids,
  );
}

type Input = readonly [name: string, dtype: number, values: readonly number[]];

function writeInput([name, dtype, values]: Input, pbf: PbfWriter): void {
  pbf.writeStringField(1, name);
  pbf.writeMessage(2, writeTensor, [dtype, values] as const);
}

function writeTensor([dtype, values]: readonly [number, readonly number[]], pbf: PbfWriter): void {
  const array = dtype === INT64 ? BigInt64Array.from(values, BigInt) : Float32Array.from(values);
  pbf.writeBytesField(1, bytesOf(array));
  pbf.writeVarintField(3, dtype);
  pbf.writePackedVarint(4, [values.length]);
}

function writeSetting([name, value]: [string, number], pbf: PbfWriter): void {
  pbf.writeStringField(1, name);
  pbf.writeDoubleField(2, value);
}

/** Arrays are little-endian on the wire, as on every machine that Node runs on. */
function bytesOf(array: Int32Array | BigInt64Array | Float32Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

/** A ForwardBackwardOutput. Throws where the bytes are none. */
export function decodeResult(bytes: Uint8Array): LossResult {
  const result: LossResult = { logprobs: [], metrics: {} };
  new PbfReader(bytes).readFields((tag, _, pbf) => {
    if (tag === 2) result.logprobs.push(...readRecord(message(pbf)));
    else if (tag === 3) {
      const [name, value] = readEntry(message(pbf), (inner) => inner.readDouble());
      result.metrics[name] = value ?? 0;
    }
  }, null);
  return result;
}

/** A sequence that a server of the protocol sampled. */
export interface Sampled {
  tokens: number[];
  logprobs: number[];
  /** It ended by a stop, not by the limit. */
  stopped: boolean;
}

/** A SampleResponse. Throws where the bytes are none. */
export function decodeSamples(bytes: Uint8Array): Sampled[] {
  const sequences: Sampled[] = [];
  new PbfReader(bytes).readFields((tag, _, pbf) => {
    if (tag !== 1) return;
    const found: Sampled = { tokens: [], logprobs: [], stopped: true };
    message(pbf).readFields((field, __, inner) => {
      if (field === 1) found.stopped = inner.readVarint() === 0;
      else if (field === 2) found.tokens = Array.from(new Int32Array(copied(inner)));
      else if (field === 3) found.logprobs = Array.from(new Float32Array(copied(inner)));
    }, null);
    sequences.push(found);
  }, null);
  return sequences;
}

/** A copy, which is aligned. */
function copied(pbf: PbfReader): ArrayBuffer {
  return new Uint8Array(pbf.readBytes()).buffer;
}

function message(pbf: PbfReader): PbfReader {
  return new PbfReader(pbf.readBytes());
}

function readEntry<T>(pbf: PbfReader, read: (inner: PbfReader) => T): [string, T | undefined] {
  let name = '';
  let value: T | undefined;
  pbf.readFields((tag, _, inner) => {
    if (tag === 1) name = inner.readString();
    else if (tag === 2) value = read(inner);
  }, null);
  return [name, value];
}

function readRecord(pbf: PbfReader): number[][] {
  let rows: number[][] = [];
  pbf.readFields((tag, _, inner) => {
    if (tag !== 2) return;
    const [name, values] = readEntry(message(inner), (entry) => readRows(message(entry)));
    if (name === 'logprobs') rows = values ?? [];
  }, null);
  return rows;
}

function readRows(pbf: PbfReader): number[][] {
  let data = new ArrayBuffer(0);
  let offsets = new ArrayBuffer(0);
  pbf.readFields((tag, _, inner) => {
    if (tag === 1) data = copied(inner);
    else if (tag === 2) offsets = copied(inner);
  }, null);
  const values = new Float32Array(data);
  const ends = [...new BigInt64Array(offsets)].map((at) => Number(at) >> 2);
  return ends.slice(1).map((end, i) => Array.from(values.subarray(ends[i], end)));
}
