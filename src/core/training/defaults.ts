/** What a run does where its file says nothing: in one place, for the file, the launch page and the command line. */
import { ADVANTAGE_DEFAULTS } from '../grpo/advantages';
import type { TrainingFile } from './schema';
import type { Settings } from './types';

export const DEFAULT_SETTINGS: Settings = {
  preset: 'default',
  variant: 'rehearse',
  weights: 'full',
  rank: 16,
  steps: 60,
  tasksPerStep: 4,
  groupSize: 8,
  learningRate: 3e-4,
  seed: 1,
  concurrency: 16,
  loss: { name: 'ppo', clip: 0.2, gradientClip: 1, weightDecay: 0 },
  advantage: ADVANTAGE_DEFAULTS,
  replayShare: 0,
  kl: { act: 0, rehearse: 0 },
  evaluation: { every: 10, attempts: 1, recorded: true },
  checkpoints: { every: 10, keep: 3 },
  onPleasing: 'warn',
  learner: { kind: 'engine' },
  sampler: { kind: 'engine' },
  judge: null,
};

/** How rehearsals of a run go, where that is not as the environment says. */
export type RehearsalSettings = NonNullable<TrainingFile['rehearsal']>;

/** Presets: what each says besides the defaults. `paper` is defined in the method's own words in `docs/training.md`. */
export const PRESETS: {
  readonly [name in Settings['preset']]: {
    settings: Pick<
      TrainingFile,
      'groupSize' | 'tasksPerStep' | 'learningRate' | 'advantage' | 'replayShare' | 'kl'
    >;
    rehearsal: RehearsalSettings;
  };
} = {
  default: { settings: {}, rehearsal: {} },
  paper: {
    settings: {
      groupSize: 4,
      tasksPerStep: 16,
      learningRate: 1e-6,
      advantage: { normalizeByStd: false, singleton: 'reward' },
      replayShare: 0,
      kl: { act: 0, rehearse: 0 },
    },
    rehearsal: { gates: 'prompt', reuseExamples: false, onGateFailed: 'stop' },
  },
};

/** Settings of a file, which is as its schema wants it, with the defaults of its preset. */
export function settingsOf(file: Partial<TrainingFile>): Settings {
  const base = DEFAULT_SETTINGS;
  const preset = PRESETS[file.preset ?? base.preset].settings;
  const given = { ...preset, ...file };
  const { variant, model, start, weights, rank, steps, tasksPerStep, groupSize, learningRate } = given;
  const plain = { variant, model, start, weights, rank, steps, tasksPerStep, groupSize, learningRate };
  const { seed, concurrency, replayShare, onPleasing } = given;
  return {
    ...base,
    ...defined({ ...plain, seed, concurrency, replayShare, onPleasing, preset: file.preset }),
    loss: { ...base.loss, ...file.loss },
    advantage: { ...base.advantage, ...preset.advantage, ...file.advantage },
    kl: { ...base.kl, ...preset.kl, ...file.kl },
    evaluation: { ...base.evaluation, ...file.evaluation },
    checkpoints: { ...base.checkpoints, ...file.checkpoints },
    learner: { ...base.learner, ...file.learner },
    sampler: { ...base.sampler, ...file.sampler },
    judge: file.judge ? { timeoutSeconds: JUDGE_SECONDS, ...file.judge } : null,
  };
}

const JUDGE_SECONDS = 60;

function defined<T extends object>(fields: T): Partial<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>;
}
