/**
 * A run from wherever it stands to its end. Whatever instant it was killed at, it goes back to its last checkpoint:
 * rollouts that are stored are not sampled again, rows of the steps after it are computed anew. The same happens
 * without anybody's doing where the engine was started again meanwhile.
 */
import { setMaxListeners } from 'node:events';
import { compareEvaluations } from '../../../src/core/training/paired';
import type { Checkpoint, RunStatus, Warning } from '../../../src/core/training/run.types';
import { errorText, UserError } from '../../../src/core/user-error';
import { NodeError } from '../../../src/node/errors';
import { LearnerError } from '../../../src/node/learners/errors';
import { serverFailed } from '../../../src/node/training/failed';
import { keepNow } from './checkpoints';
import { changedInputs } from './inputs';
import { NotFiniteError } from './learn';
import { evaluate, trainFrom } from './loop';
import type { TrainingRun } from './run';
import { Weights } from './weights';

/** Failures of the server without a whole step in between, until the run gives up. */
const MOST_FAILURES = 8;
const LONGEST_PAUSE_MS = 30_000;

/** Ends with the run's state `done`, `stopped` or `failed`. Rejects only where that cannot be written down. */
export async function train(run: TrainingRun): Promise<void> {
  const { store, ports, signal } = run;
  setMaxListeners(0, signal); // each rollout listens
  store.setStatus({
    state: 'running',
    message: '',
    started: store.status.started ?? ports.now(),
    ended: null,
  });
  const end = async (state: RunStatus['state'], message = '') => {
    // A step that was under way is not learned.
    const step = (await store.metrics()).at(-1)?.step ?? 0;
    store.setStatus({ state, message, step, ended: ports.now(), phase: '', secondsLeft: null });
  };
  try {
    await changedInputs(run, 0);
    for (let failures = 0, reached = -1; ; ) {
      try {
        const pleases = await fromLastCheckpoint(run);
        if (!pleases) return await end('done');
        return await end('stopped', `It stopped because it learned to please: ${pleases.message}`);
      } catch (error) {
        if (signal.aborted)
          return await end('stopped', 'It was stopped. What it learned is kept; it can go on.');
        if (!cameBack(error)) throw error;
        const { step } = (await store.metrics()).at(-1) ?? { step: -1 };
        failures = step > reached ? 1 : failures + 1;
        reached = Math.max(reached, step);
        if (failures > MOST_FAILURES) throw error;
        ports.log?.(
          `${store.config.id}: goes back to its last checkpoint after step ${step}: ${errorText(error)}`,
        );
        store.setStatus({ phase: 'waiting for the engine', message: errorText(error) });
        await pause(Math.min(LONGEST_PAUSE_MS, 250 * 2 ** failures), signal);
      }
    }
  } catch (error) {
    await end(signal.aborted ? 'stopped' : 'failed', signal.aborted ? '' : errorText(error));
    if (!(error instanceof UserError)) throw error; // a defect, for the log
  }
}

/** The server was away or was started again, and what it had in memory is gone. */
function cameBack(error: unknown): boolean {
  return serverFailed(error) || (error instanceof LearnerError && error.code === 'lost');
}

/** Trains from the last checkpoint that can be read to the end. The warning that stopped it, if one did. */
async function fromLastCheckpoint(run: TrainingRun): Promise<Warning | null> {
  const { store, signal } = run;
  const { weights, from } = await open(run);
  try {
    store.setStatus({ message: '' });
    await store.truncateMetrics(from);
    tellLacks(run, weights);
    const pleases = await trainFrom(run, weights, from).catch(async (error) => {
      // Told to stop between two steps, or a step that changed nothing: the weights are those of the last row.
      if (signal.aborted || error instanceof NotFiniteError) {
        const last = (await store.metrics()).at(-1);
        if (last) await keepNow(run, weights, last.step);
      }
      throw error;
    });
    signal.throwIfAborted();
    if (pleases) await keepNow(run, weights, pleases.step);
    else await report(run, weights);
    return pleases;
  } finally {
    await weights.close();
  }
}

/** Where the learner is another's, what it does without; told once. */
function tellLacks({ store }: TrainingRun, { lacks }: Weights): void {
  const { warnings } = store.status;
  const fresh = lacks.filter((message) => !warnings.some((one) => one.message === message));
  const added = fresh.map((message): Warning => ({ step: 0, code: 'other', message }));
  if (added.length) store.setStatus({ warnings: [...warnings, ...added] });
}

/** The weights of the last checkpoint that can be read, and its step. */
async function open(run: TrainingRun): Promise<{ weights: Weights; from: number }> {
  const { store } = run;
  for (;;) {
    const last = store.status.checkpoints.findLast(({ kept, addresses }) => kept && addresses) ?? null;
    try {
      return { weights: await Weights.open(run, last), from: last?.step ?? 0 };
    } catch (error) {
      const damaged = error instanceof LearnerError && ['damaged', 'not_found'].includes(error.code);
      if (!damaged || !last) throw error;
      leaveOut(run, last, error);
    }
  }
}

function leaveOut({ store }: TrainingRun, { step }: Checkpoint, error: UserError): void {
  const { checkpoints, warnings } = store.status;
  const message = `The checkpoint of step ${step} cannot be read, so the run goes back to the one before. ${error.message}`;
  const warning: Warning = { step, code: 'checkpoint', message };
  store.setStatus({
    checkpoints: checkpoints.map((one) => (one.step === step ? { ...one, kept: false, best: false } : one)),
    warnings: [...warnings, warning],
  });
}

/** What the run is worth: its best checkpoint and its start on the test tasks, which chose nothing. */
async function report(run: TrainingRun, weights: Weights): Promise<void> {
  const { store, signal } = run;
  if (store.config.parts.test.length === 0 || store.status.result) return;
  store.setStatus({ phase: 'testing' });
  const { checkpoints, bestStep } = store.status;
  const step = bestStep ?? store.status.step;
  const chosen = checkpoints.find((one) => one.step === step) ?? { step };
  const before = await weights.policiesOf({ step: 0 }).catch((error) => startIsGone(run, error));
  if (!before) return;
  const start = await evaluate(run, before, 'test');
  const best = step === 0 ? start : await evaluate(run, await weights.policiesOf(chosen), 'test');
  signal.throwIfAborted();
  if (!start || !best) return;
  const compared = compareEvaluations(start, best);
  store.setStatus({
    result: { step, best, start, on: compared?.on ?? 'real', difference: compared?.difference ?? null },
  });
}

/** A branch outlives the checkpoint that it started from: what it learned is no failure for that. */
function startIsGone({ store }: TrainingRun, error: unknown): null {
  if (!(error instanceof NodeError && error.code === 'model-unknown')) throw error;
  const { warnings, step } = store.status;
  const message = `What the run is worth on the test tasks is not told, since what it started from is gone. ${error.message}`;
  store.setStatus({ warnings: [...warnings, { step, code: 'other', message }] });
  return null;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
