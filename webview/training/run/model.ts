/** What is known of a run: its steps in order, each once. */
import type { Metrics, RunStatus } from '../../../src/core/training/run.types';
import type { RunFacts } from '../../common/training';

export interface RunModel {
  status: RunStatus;
  facts: RunFacts;
  /** Ascending by step. */
  metrics: readonly Metrics[];
}

/** With new steps; one that is there already was computed again after a resume, and everything behind it too. */
export function merged(known: readonly Metrics[], added: readonly Metrics[]): Metrics[] {
  if (added.length === 0) return [...known];
  const first = Math.min(...added.map(({ step }) => step));
  const kept = known.filter(({ step }) => step < first);
  return [...kept, ...[...added].sort((a, b) => a.step - b.step)];
}

/** Steps whose rollouts are kept: all but the start, where nothing is learned. */
export function stepsWithRollouts(metrics: readonly Metrics[]): number[] {
  return metrics.filter(({ rollouts }) => rollouts > 0).map(({ step }) => step);
}
