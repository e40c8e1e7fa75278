/** What is kept of a run: its course, and success task by task, so that runs can be compared on the same tasks. */
import type { Evaluation, Metrics, RunStatus } from '../../src/core/training/run.types';
import type { RunConfig } from '../../src/core/training/types';

export interface KeptRun {
  name: string;
  /** Training file, `please-replay` and `please-reuse` being `please` with one setting changed. */
  file: string;
  variant: string;
  seed: number;
  steps: number;
  learningRate: number;
  bestStep: number;
  warnings: { step: number; code: string; message: string }[];
  /** By the clock, the evaluations and the test included. */
  minutes: number;
  rows: KeptRow[];
  /** Null where the run did not come to it. */
  test: { start: KeptEvaluation; best: KeptEvaluation } | null;
}

export interface KeptRow {
  step: number;
  reward: number | null;
  success: number | null;
  seconds: number;
  contradictions: number;
  recordedCalls: number;
  validation?: KeptEvaluation;
}

export interface KeptEvaluation {
  real: number;
  rehearsed: number | null;
  /** Of the rewards: rehearsed less real. */
  gap: number | null;
  fidelity: number | null;
  /** Of real errors, how many were rehearsed as errors. */
  recall: number | null;
  /** Real success of each task in their order: `1` or `0`. */
  tasks: string;
}

export function keptOf(config: RunConfig, status: RunStatus, metrics: readonly Metrics[]): KeptRun {
  const { name, bestStep, warnings, result } = status;
  const tests = result ? result.start.seconds + result.best.seconds : 0;
  const { variant, seed, steps, learningRate } = config.settings;
  return {
    name,
    file: name.slice(0, name.indexOf(`-${variant}-seed-`)),
    variant,
    seed,
    steps,
    learningRate,
    bestStep: bestStep ?? 0,
    warnings: warnings.map(({ step, code, message }) => ({ step, code, message })),
    minutes: round((metrics.reduce((sum, row) => sum + row.seconds.total, 0) + tests) / 60, 1),
    rows: metrics.map(rowOf),
    test: result ? { start: evaluationOf(result.start), best: evaluationOf(result.best) } : null,
  };
}

function rowOf({
  step,
  reward,
  success,
  seconds,
  contradictions,
  recordedCalls,
  evaluation,
}: Metrics): KeptRow {
  const row = { step, reward: rounded(reward), success: rounded(success), seconds: round(seconds.total, 2) };
  const more = evaluation ? { validation: evaluationOf(evaluation) } : {};
  return { ...row, contradictions, recordedCalls, ...more };
}

function evaluationOf({
  realSuccess,
  rehearsedSuccess,
  gap,
  fidelity,
  anticipation,
  tasks,
}: Evaluation): KeptEvaluation {
  return {
    real: rounded(realSuccess?.value) ?? 0,
    rehearsed: rounded(rehearsedSuccess?.value),
    gap: rounded(gap?.value),
    fidelity: rounded(fidelity?.value),
    recall: rounded(anticipation?.recall?.value),
    tasks: tasks.map(({ real }) => (real === 1 ? '1' : '0')).join(''),
  };
}

const round = (value: number, digits: number) => Number(value.toFixed(digits));
const rounded = (value: number | null | undefined) =>
  value === null || value === undefined ? null : round(value, 4);

/** Success of each task, averaged over runs: seeds of a task are not independent of one another. */
export function byTask(strings: readonly string[]): number[] {
  const [first = ''] = strings;
  return [...first].map((_, task) => strings.filter((one) => one[task] === '1').length / strings.length);
}
