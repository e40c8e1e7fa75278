/** A rollout of training as a session that the debugger opens, with the weights that sampled it where they are kept. */
import type { PolicyInfo } from '../../../src/core/policy';
import { DEFAULT_OPTIONS } from '../../../src/core/rehearsal/options';
import type { SessionRecord } from '../../../src/core/rehearsal/session';
import type { Setup } from '../../../src/core/rehearsal/types';
import type { Checkpoint, RolloutRecord } from '../../../src/core/training/run.types';
import type { RunConfig } from '../../../src/core/training/types';
import { runErrors } from '../../../src/node/runs/errors';
import { FORMAT_VERSION } from '../../../src/node/sessions/file';

/** The kept checkpoint nearest to the weights that sampled a step, which are those of the step before. */
export function nearestCheckpoint(checkpoints: readonly Checkpoint[], step: number): Checkpoint | null {
  const wanted = step - 1;
  return checkpoints
    .filter(({ kept }) => kept)
    .reduce<Checkpoint | null>((best, one) => {
      const far = (checkpoint: Checkpoint) => Math.abs(checkpoint.step - wanted);
      return !best || far(one) < far(best) ? one : best;
    }, null);
}

/** @param policy the model that the session goes on with */
export function sessionText(config: RunConfig, rollout: RolloutRecord, policy: PolicyInfo): string {
  const task = config.parts.train.find(({ id }) => id === rollout.task);
  if (!task) throw runErrors.unreadable(config.id, new Error(`it has no task ${rollout.task}`));
  const setup: Setup = {
    environment: { ...config.environment, tasks: [task] },
    task,
    policy,
    options: {
      ...DEFAULT_OPTIONS,
      seed: rollout.seed,
      observations: config.settings.variant === 'real' ? 'real' : 'rehearse',
    },
  };
  const header: SessionRecord = {
    t: 'session',
    version: FORMAT_VERSION,
    id: `${config.id}-${rollout.step}-${rollout.index}`,
    created: config.created,
    setup,
    environmentFile: config.environmentFile,
  };
  return [header, ...rollout.records].map((record) => `${JSON.stringify(record)}\n`).join('');
}
