/** Which checkpoints a run keeps, and which of them is the best. */
import fs from 'node:fs';
import path from 'node:path';
import type { Checkpoint, Estimate, Metrics } from '../../../src/core/training/run.types';
import type { Phases } from './phases';
import type { TrainingRun } from './run';
import { modelOf, type Weights } from './weights';

/** Every so many steps, and at the last. 0 is never. */
export function isDue(step: number, every: number, last: number): boolean {
  return every > 0 && (step % every === 0 || step === last);
}

/**
 * Saves the weights where a checkpoint is due. What is returned lists it in the status and is called once the step's
 * row is written: a run that goes on from a checkpoint has the row of its step.
 */
export async function keep(
  run: TrainingRun,
  weights: Weights,
  phases: Phases,
  { step, evaluation }: Pick<Metrics, 'step' | 'evaluation'>,
): Promise<() => Promise<void>> {
  const { checkpoints, steps } = run.store.config.settings;
  const due = evaluation !== null || isDue(step, checkpoints.every, steps) || run.signal.aborted;
  if (!due && step > 0) return async () => {};
  const addresses = step === 0 ? undefined : await phases.time('save', () => weights.save(step));
  return () => list(run, weights, step, evaluation, addresses);
}

/** Keeps the weights of a step whose row is written already: the run was told to stop after it. */
export async function keepNow(run: TrainingRun, weights: Weights, step: number): Promise<void> {
  if (step === 0 || run.store.status.checkpoints.some((one) => one.step === step && one.kept)) return;
  await list(run, weights, step, null, await weights.save(step));
}

async function list(
  run: TrainingRun,
  weights: Weights,
  step: number,
  evaluation: Metrics['evaluation'],
  addresses?: Record<string, string>,
): Promise<void> {
  const { config, status } = run.store;
  const added: Checkpoint = {
    step,
    model: step === 0 ? weights.start : modelOf(config, step),
    ...(addresses ? { addresses } : {}),
    best: false,
    success: evaluation?.realSuccess ?? evaluation?.rehearsedSuccess ?? null,
    kept: true,
  };
  const all = marked(
    [...status.checkpoints.filter((one) => one.step < step), added],
    config.settings.checkpoints.keep,
    run.ports.branched?.(),
  );
  await run.store.setStatus({ checkpoints: all, bestStep: all.find(({ best }) => best)?.step ?? null });
  for (const one of all) if (!one.kept) forget(run, one);
}

/**
 * The best has the best success on validation; of equals it is the first. Kept are the best, the last, the start, the
 * latest `keep` of the others, and what is `needed`.
 */
export function marked(
  checkpoints: readonly Checkpoint[],
  keep: number,
  needed: ReadonlySet<number> = new Set(),
): Checkpoint[] {
  const value = (success: Estimate | null) => success?.value ?? Number.NEGATIVE_INFINITY;
  const candidates = checkpoints.filter(({ kept, success }) => kept && success);
  const best = candidates.reduce<Checkpoint | null>(
    (top, one) => (value(one.success) > value(top?.success ?? null) ? one : top),
    null,
  );
  const last = checkpoints.at(-1);
  const others = checkpoints.filter((one) => one.kept && one !== best && one !== last && one.addresses);
  const spared = new Set(others.slice(Math.max(0, others.length - keep)));
  return checkpoints.map((one) => ({
    ...one,
    best: one === best,
    kept:
      one.kept && (one === best || one === last || !one.addresses || spared.has(one) || needed.has(one.step)),
  }));
}

/** On our engine a checkpoint is a folder in the run's own; other learners keep theirs as they like. */
function forget({ store }: TrainingRun, { step, addresses = {} }: Checkpoint): void {
  for (const adapter of Object.keys(addresses)) {
    const name = adapter === 'shared' ? `step-${step}` : `step-${step}.${adapter}`;
    fs.rmSync(path.join(store.folder, 'checkpoints', name), { recursive: true, force: true });
  }
}
