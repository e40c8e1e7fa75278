/** Runs that start from a checkpoint of another one. */
import type { RunStatus } from '../../../src/core/training/run.types';
import { runErrors } from '../../../src/node/runs/errors';

/** States in which nothing more is done on a run, unless a person resumes it. */
export const ENDED: ReadonlySet<RunStatus['state']> = new Set(['stopped', 'done', 'failed']);

/** Runs that start from `id` and have not ended. */
export function branchesOf(runs: readonly RunStatus[], id: string): RunStatus[] {
  return runs.filter(({ parent, state }) => parent?.run === id && !ENDED.has(state));
}

/** Throws `NodeError` where `parent` keeps no checkpoint of that step to start from. */
export function checkParent({ id, checkpoints }: RunStatus, step: number): void {
  const kept = checkpoints.filter((one) => one.kept && (one.addresses || one.step === 0));
  if (kept.some((one) => one.step === step)) return;
  const steps = kept.map((one) => one.step).join(', ');
  throw runErrors.state(id, `has no checkpoint of step ${step}`, `It has those of steps ${steps || 'none'}.`);
}
