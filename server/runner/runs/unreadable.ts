import type { RunStatus } from '../../../src/core/training/run.types';

/** A run whose status cannot be read is told, so that people can delete it. */
export function unreadableStatus(id: string, message: string): RunStatus {
  return {
    id,
    name: id,
    state: 'failed',
    message,
    step: 0,
    steps: 0,
    phase: '',
    created: '',
    started: null,
    ended: null,
    secondsLeft: null,
    environmentFile: '',
    trainingFile: null,
    environment: '',
    variant: '',
    model: '',
    parent: null,
    bestStep: null,
    checkpoints: [],
    warnings: [],
  };
}
