/**
 * Comparisons on disk: one record a line, appended as calls are compared, so that nothing is lost when the window
 * goes. After the head they are the records of `rehearsal compare --json`.
 */
import fs from 'node:fs';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { compareAnswers } from '../../core/fidelity/compare';
import {
  type ComparedCall,
  type ComparisonRun,
  pairRecord,
  type Uncompared,
  uncomparedRecord,
} from '../../core/fidelity/comparison';
import type { Answer } from '../../core/fidelity/types';
import { isObject, type Json } from '../../core/json';
import { errors } from '../errors';
import { type Basis, type CompareRequest, isBasis, isRequest } from './request';

export interface ComparisonHead {
  type: 'comparison';
  version: 1;
  id: string;
  /** ISO 8601. */
  created: string;
  environment: string;
  /** Path of the environment file from the folder that holds `.rehearsal`. */
  environmentFile: string;
  what: string;
  request: CompareRequest;
  basis: Basis;
}

export interface StoredComparison {
  head: ComparisonHead;
  runs: ComparisonRun[];
  /** False where it was cancelled, or the window went away in the middle. */
  complete: boolean;
  /** What a person should know: a part of the file could not be read. */
  notice: string | null;
}

/** Where the comparisons of environments in a workspace folder are kept. */
export function comparisonsFolder(workspaceFolder: string): string {
  return path.join(workspaceFolder, '.rehearsal', 'comparisons');
}

/** Appends to the file of one comparison. A disk that is full is told at the first record that does not fit. */
export class ComparisonWriter {
  private constructor(readonly file: string) {}

  static create(
    folder: string,
    head: Omit<ComparisonHead, 'type' | 'version' | 'id'>,
  ): {
    writer: ComparisonWriter;
    head: ComparisonHead;
  } {
    const stamp = head.created.slice(0, 19).replaceAll(':', '-');
    try {
      fs.mkdirSync(folder, { recursive: true });
      const ignore = path.join(path.dirname(folder), '.gitignore');
      if (path.basename(path.dirname(folder)) === '.rehearsal' && !fs.existsSync(ignore))
        fs.writeFileSync(ignore, '*\n');
      for (let n = 1; ; n++) {
        const id = `${stamp}-${n}`;
        const file = path.join(folder, `${id}.jsonl`);
        if (fs.existsSync(file)) continue;
        const whole: ComparisonHead = { type: 'comparison', version: 1, id, ...head };
        fs.writeFileSync(file, `${JSON.stringify(whole)}\n`, { flag: 'wx' });
        return { writer: new ComparisonWriter(file), head: whole };
      }
    } catch (error) {
      throw errors.comparisonUnwritable(folder, (error as Error).message);
    }
  }

  /** Goes on in a file that is there. */
  static open(file: string): ComparisonWriter {
    return new ComparisonWriter(file);
  }

  model(model: string): void {
    this.append({ type: 'model', model });
  }

  pair(pair: ComparedCall, model: string): void {
    this.append(pairRecord(pair, model));
  }

  uncompared(call: Uncompared, model: string): void {
    this.append(uncomparedRecord(call, model));
  }

  /** Where the conversation of a task is kept: a name in `conversationsFolder`. */
  conversation(task: string, file: string, model: string): void {
    this.append({ type: 'conversation', model, task, file });
  }

  /** Every call of this model was looked at. */
  done(model: string): void {
    this.append({ type: 'done', model });
  }

  private append(record: object): void {
    try {
      fs.appendFileSync(this.file, `${JSON.stringify(record)}\n`);
    } catch (error) {
      throw errors.comparisonUnwritable(this.file, (error as Error).message);
    }
  }
}

/** Lines read before others get a turn: a large file must not hold up the window. */
const AT_ONCE = 200;

/** Throws `NodeError` where not even its beginning can be read; a line that is broken is left out, and said. */
export async function readComparison(file: string): Promise<StoredComparison> {
  let text: string;
  try {
    regular(file);
    text = await fs.promises.readFile(file, 'utf8');
  } catch (error) {
    throw errors.comparison(file, (error as Error).message);
  }
  const lines = text.split('\n');
  const head = headOf(lines[0] ?? '', file);
  const runs = new Map<string, ComparisonRun>();
  const ended = new Set<string>();
  let broken = 0;
  for (const [index, line] of lines.entries()) {
    if (index === 0 || line === '') continue;
    if (index % AT_ONCE === 0) await nextTurn();
    const record = parsed(line);
    // What follows the last line end was being written as its process went away.
    if (record === null && index === lines.length - 1) continue;
    if (record === null || !take(record, runs, ended)) broken++;
  }
  const all = [...runs.values()];
  return {
    head,
    runs: all,
    complete: all.length > 0 && all.every(({ model }) => ended.has(model)),
    notice: broken
      ? `${broken} ${broken === 1 ? 'line' : 'lines'} of ${file} could not be read and were left out.`
      : null,
  };
}

/** Comparisons of a folder, newest first; those that cannot be read are left out. */
export function listComparisons(folder: string): { file: string; head: ComparisonHead }[] {
  let names: string[];
  try {
    names = fs.readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
  } catch {
    return [];
  }
  return names
    .sort()
    .reverse()
    .flatMap((name) => {
      const file = path.join(folder, name);
      try {
        return { file, head: headOf(firstLine(file), file) };
      } catch {
        return [];
      }
    });
}

/** Path of the environment file that a comparison is of. */
export function environmentFileOf(file: string, { environmentFile }: ComparisonHead): string {
  return path.resolve(path.dirname(file), '../..', environmentFile);
}

/** Reading a pipe would wait for whoever writes into it. */
function regular(file: string): void {
  if (!fs.statSync(file).isFile()) throw new Error('it is no regular file');
}

function firstLine(file: string): string {
  regular(file);
  const handle = fs.openSync(file, 'r');
  try {
    const buffer = Buffer.alloc(1 << 16);
    const read = fs.readSync(handle, buffer, 0, buffer.length, 0);
    return buffer.toString('utf8', 0, read).split('\n', 1)[0]!;
  } finally {
    fs.closeSync(handle);
  }
}

function headOf(line: string, file: string): ComparisonHead {
  const head = parsed(line);
  if (head?.type !== 'comparison') throw errors.comparison(file, 'it does not begin with a comparison');
  if (head.version !== 1)
    throw errors.comparison(
      file,
      `it has format version ${String(head.version)}, which this version does not know`,
    );
  const { id, created, environment, environmentFile, what, request, basis } = head;
  const texts = [id, created, environment, environmentFile, what].every((one) => typeof one === 'string');
  if (!texts || !isRequest(request) || !isBasis(basis))
    throw errors.comparison(file, 'its first line is not complete');
  return head as unknown as ComparisonHead;
}

function parsed(line: string): { [field: string]: Json } | null {
  try {
    const value = JSON.parse(line) as unknown;
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function take(
  record: { [field: string]: Json },
  runs: Map<string, ComparisonRun>,
  ended: Set<string>,
): boolean {
  const { type, model, ...rest } = record;
  if (typeof model !== 'string') return type === 'models';
  const run = runs.get(model) ?? { model, pairs: [], uncompared: [] };
  runs.set(model, run);
  if (type === 'pair') {
    const pair = pairFrom(rest);
    if (!pair) return false;
    run.pairs.push(pair);
  } else if (type === 'uncompared') {
    if (typeof rest.tool !== 'string' || typeof rest.index !== 'number') return false;
    run.uncompared.push(rest as unknown as Uncompared);
  } else if (type === 'conversation') {
    const { task, file } = rest;
    if (typeof task !== 'string' || typeof file !== 'string' || path.basename(file) !== file) return false;
    run.conversations = { ...run.conversations, [task]: file };
  } else if (type === 'done') ended.add(model);
  return true;
}

/** Only the answers are taken as they are; what became of each field is computed anew, by whatever rules hold. */
function pairFrom(record: { [field: string]: Json }): ComparedCall | null {
  const { tool, arguments: args, rehearsed, real, index, task = null, author, surprise, ...rest } = record;
  if (typeof tool !== 'string' || !isObject(args) || !isAnswer(rehearsed) || !isAnswer(real)) return null;
  if (typeof index !== 'number' || (task !== null && typeof task !== 'string')) return null;
  const call = {
    tool,
    arguments: args,
    rehearsed,
    real,
    index,
    task,
    comparison: compareAnswers(rehearsed, real),
  };
  const scored = isObject(surprise) && Array.isArray(surprise.marks) ? { surprise } : {};
  const more = { source: 'rehearsed', recorded: false, afterWrite: false, durationMs: null, ...rest };
  return { ...more, ...call, ...scored, author: author ?? undefined } as unknown as ComparedCall;
}

function isAnswer(value: Json | undefined): value is Json & Answer {
  return (
    isObject(value) &&
    (value.outcome === 'result' || value.outcome === 'error') &&
    Object.hasOwn(value, 'value')
  );
}
