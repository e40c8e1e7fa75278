/** Which checkpoints a run keeps, and which of them is the best. */
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
  { store }: TrainingRun,
  weights: Weights,
  phases: Phases,
  { step, evaluation }: Pick<Metrics, 'step' | 'evaluation'>,
): Promise<() => Promise<void>> {
  const { config } = store;
  const { settings } = config;
  const { checkpoints } = store.status;
  const due = step === 0 || evaluation !== null || isDue(step, settings.checkpoints.every, settings.steps);
  if (!due) return async () => {};
  const addresses = step === 0 ? undefined : await phases.time('save', () => weights.save(step));
  const added: Checkpoint = {
    step,
    model: step === 0 ? weights.start : modelOf(config, step),
    ...(addresses ? { addresses } : {}),
    best: false,
    success: evaluation?.realSuccess ?? evaluation?.rehearsedSuccess ?? null,
    kept: true,
  };
  const all = marked([...checkpoints.filter((one) => one.step < step), added]);
  return async () => {
    await store.setStatus({ checkpoints: all, bestStep: all.find(({ best }) => best)?.step ?? null });
  };
}

/** The best is the one of the best success on validation; of equals, the first. */
export function marked(checkpoints: readonly Checkpoint[]): Checkpoint[] {
  const value = (success: Estimate | null) => success?.value ?? Number.NEGATIVE_INFINITY;
  const best = checkpoints.reduce<Checkpoint | null>(
    (top, one) => (one.success && value(one.success) > value(top?.success ?? null) ? one : top),
    null,
  );
  return checkpoints.map((one) => ({ ...one, best: one === best }));
}
