/** Collapse over the last few steps, against the records or the rehearsals of the first step, which the start wrote. */
import { collapseOf, rehearsedAnswers, type ToolAnswer } from '../../../src/core/training/collapse';
import type { Collapse } from '../../../src/core/training/run.types';
import type { RunConfig } from '../../../src/core/training/types';
import { type StepRollout, storedRollouts } from './rollouts';
import type { RunStore, TrainingRun } from './run';
import type { Policies } from './weights';

/** One step has few tasks, and so few different calls. */
const WINDOW = 5;
const BASE_STEP = 1;

/** Answers by step, so that they are read from the run's folder only after a restart. */
const known = new WeakMap<RunStore, Map<number, ToolAnswer[]>>();

export async function collapseAt(
  run: TrainingRun,
  policies: Policies,
  step: number,
  rollouts: readonly StepRollout[],
): Promise<Collapse[]> {
  const steps = known.get(run.store) ?? new Map<number, ToolAnswer[]>();
  known.set(run.store, steps);
  steps.set(step, rehearsedAnswers(rollouts));
  const answers = async (at: number) => {
    if (!steps.has(at)) steps.set(at, rehearsedAnswers(await storedRollouts(run, policies, at)));
    return steps.get(at)!;
  };
  const window: ToolAnswer[] = [];
  for (let at = Math.max(1, step - WINDOW + 1); at <= step; at++) window.push(...(await answers(at)));
  const base = await answers(BASE_STEP);
  for (const at of steps.keys()) if (at !== BASE_STEP && at <= step - WINDOW) steps.delete(at);
  return collapseOf(window, recordedAnswers(run.store.config), base);
}

function recordedAnswers({ environment }: RunConfig): ToolAnswer[] {
  return environment.examples
    .filter(({ outcome, verdict }) => outcome === 'result' && verdict !== 'real tool wrong')
    .map(({ tool, value }, i) => ({ tool, value, question: String(i) }));
}
