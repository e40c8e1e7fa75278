/** A run from wherever it stands to its end. */
import { errorText } from '../../../src/core/user-error';
import { trainFrom } from './loop';
import type { TrainingRun } from './run';
import { Weights } from './weights';

export async function train(run: TrainingRun): Promise<void> {
  const { store, ports, signal } = run;
  store.setStatus({
    state: 'running',
    message: '',
    started: store.status.started ?? ports.now(),
    ended: null,
  });
  try {
    const checkpoint = store.status.checkpoints.findLast(({ kept, addresses }) => kept && addresses) ?? null;
    await store.truncateMetrics(checkpoint?.step ?? 0);
    const weights = await Weights.open(run, checkpoint);
    try {
      await trainFrom(run, weights, checkpoint?.step ?? 0);
    } finally {
      await weights.close();
    }
    store.setStatus({ state: 'done', ended: ports.now(), phase: '' });
  } catch (error) {
    if (signal.aborted) store.setStatus({ state: 'stopped', ended: ports.now(), phase: '' });
    else {
      store.setStatus({ state: 'failed', message: errorText(error), ended: ports.now(), phase: '' });
      throw error;
    }
  }
}
