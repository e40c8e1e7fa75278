/**
 * A comparison as it is kept and sent: plain data, one record a line, the same that `rehearsal compare --json`
 * prints. Whatever is shown of it is computed from its pairs.
 */

import type { Environment } from '../environment/types';
import type { Json } from '../json';
import { authorVerdict, rulesOf } from './author';
import { compareAnswers } from './compare';
import { besideEachOther, type ModelsSummary } from './models';
import { type FidelitySummary, summarize } from './summary';
import { type SurpriseSummary, surpriseSummary } from './surprise';
import type { ComparedPair } from './types';

export interface ComparedCall extends ComparedPair {
  /** Task whose call it is, or null for a recorded call. */
  task: string | null;
  /** Index of the call in its task, or of the record. */
  index: number;
  /** Where the rehearsed side came from: what is not `rehearsed` says nothing about the policy and counts for nothing. */
  source: 'rehearsed' | 'gate' | 'recorded' | 'real' | 'edited';
  /** The model's own text, where it could not be read. */
  raw?: string;
  /** Whether the real side is the record's (true) or was executed. */
  recorded: boolean;
  /** Initial state of its session; absent means the environment's own. */
  state?: Json;
  /** A call that may have written had gone before in its session. */
  afterWrite: boolean;
  /** Of the execution; null where nothing was executed. */
  durationMs: number | null;
  /** What the executor had to say. */
  notes?: string[];
}

/** A call that could not be compared: the executor failed, or the server did. */
export interface Uncompared {
  task: string | null;
  index: number;
  tool: string;
  arguments: Json;
  reason: string;
}

/** One model's side. */
export interface ComparisonRun {
  model: string;
  pairs: ComparedCall[];
  uncompared: Uncompared[];
  /** Where the conversations of its tasks are kept: name of the session file by task. */
  conversations?: { [task: string]: string };
}

export type ComparisonRecord =
  | ({ type: 'pair'; model: string } & Omit<ComparedCall, 'author'> & {
        author: ComparedPair['author'] | null;
      })
  | ({ type: 'uncompared'; model: string } & Uncompared)
  | ({
      type: 'summary';
      environment: string;
      model: string;
      gated: number;
      uncompared: number;
      surprise: SurpriseSummary | null;
    } & FidelitySummary)
  | ({ type: 'models'; environment: string } & ModelsSummary);

/** Only what the policy rehearsed itself is counted. */
export function counted<P extends Pick<ComparedCall, 'source'>>(pairs: readonly P[]): P[] {
  return pairs.filter(({ source }) => source === 'rehearsed');
}

export function pairRecord(pair: ComparedCall, model: string): ComparisonRecord {
  const { author, durationMs, ...rest } = pair;
  const rounded = durationMs === null ? null : Math.round(durationMs * 10) / 10;
  return { type: 'pair', model, ...rest, author: author ?? null, durationMs: rounded };
}

export function uncomparedRecord(call: Uncompared, model: string): ComparisonRecord {
  return { type: 'uncompared', model, ...call };
}

export function summaryRecord(
  environment: string,
  { model, pairs, uncompared }: ComparisonRun,
): Extract<ComparisonRecord, { type: 'summary' }> {
  // In their order, not in that in which they came to an end: the same calls give the same summary.
  const own = counted(inOrder(pairs));
  return {
    type: 'summary',
    environment,
    model,
    gated: pairs.length - own.length,
    uncompared: uncompared.length,
    ...summarize(own),
    surprise: surpriseSummary(own),
  };
}

export function modelsRecord(
  environment: string,
  runs: readonly ComparisonRun[],
): Extract<ComparisonRecord, { type: 'models' }> {
  const sides = runs.map(({ model, pairs }) => ({ model, pairs: counted(inOrder(pairs)) }));
  return { type: 'models', environment, ...besideEachOther(sides) };
}

/** Everything that the command line prints with `--json`, calls in their order. */
export function recordsOf(environment: string, runs: readonly ComparisonRun[]): ComparisonRecord[] {
  const records = runs.flatMap((run) => [
    ...inOrder(run.pairs).map((pair) => pairRecord(pair, run.model)),
    ...inOrder(run.uncompared).map((call) => uncomparedRecord(call, run.model)),
    summaryRecord(environment, run),
  ]);
  return runs.length > 1 ? [...records, modelsRecord(environment, runs)] : records;
}

/** By task in the order in which tasks came, and by the call's own index. */
export function inOrder<C extends { task: string | null; index: number }>(calls: readonly C[]): C[] {
  const tasks = new Map<string | null, number>();
  for (const { task } of calls) if (!tasks.has(task)) tasks.set(task, tasks.size);
  return [...calls].sort((a, b) => tasks.get(a.task)! - tasks.get(b.task)! || a.index - b.index);
}

/** The same answers by the rules and the author's verdicts of an environment as it is now. */
export function judged(
  pairs: readonly ComparedCall[],
  environment: Pick<Environment, 'ignore' | 'tolerances' | 'examples'>,
): ComparedCall[] {
  const rules = rulesOf(environment);
  const marked = environment.examples.filter(({ verdict }) => verdict !== undefined);
  return pairs.map((pair) => ({
    ...pair,
    comparison: compareAnswers(pair.rehearsed, pair.real, rules),
    author: authorVerdict(marked, pair),
  }));
}
