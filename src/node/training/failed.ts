/** Many rollouts at once on one server: what ends them all. */
import { setMaxListeners } from 'node:events';
import { NodeError } from '../errors';

/** Whether a failure is the model server's own: it would fail for every rollout, and says nothing about one. */
export function serverFailed(error: unknown): error is NodeError {
  return error instanceof NodeError && (error.code.startsWith('server-') || error.code === 'model-unknown');
}

/** Aborted where either is; each rollout that runs listens, which is many and no leak. */
export function eitherOf(first: AbortSignal, second: AbortSignal): AbortSignal {
  const signal = AbortSignal.any([first, second]);
  setMaxListeners(0, signal);
  return signal;
}
