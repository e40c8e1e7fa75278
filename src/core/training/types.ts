/** A training run as the runner sees it: every file read, every default filled in. `schema.ts` is what people write. */

import type { Environment, Task } from '../environment/types';
import type { AdvantageOptions } from '../grpo/advantages';
import type { Variant } from '../grpo/batch';
import type { LossName } from '../grpo/learner';

export interface Server {
  url?: string;
  /** Environment variable, or name in SecretStorage, of its key. */
  keyVariable?: string;
}

/** Settings of a run, defaults filled in. */
export interface Settings {
  preset: 'default' | 'paper';
  variant: Variant;
  /** Absent: the server's first. */
  model?: string;
  /** `run/step` of a checkpoint to branch from. */
  start?: string;
  weights: 'full' | 'lora';
  rank: number;
  steps: number;
  tasksPerStep: number;
  groupSize: number;
  learningRate: number;
  seed: number;
  concurrency: number;
  loss: { name: LossName; clip: number; gradientClip: number; weightDecay: number };
  advantage: AdvantageOptions;
  replayShare: number;
  kl: { act: number; rehearse: number };
  evaluation: { every: number; attempts: number; recorded: boolean };
  checkpoints: { every: number; keep: number };
  onPleasing: 'warn' | 'stop';
  learner: Server & { kind: 'engine' | 'tinker' | 'skyrl' };
  sampler: Server & { kind: 'engine' | 'vllm' };
  judge: (Server & { model?: string; timeoutSeconds: number }) | null;
}

export type Part = 'train' | 'validation' | 'test';

/** `config.json` of a run: a snapshot, so that nothing that is edited later changes the run. */
export interface RunConfig {
  version: 1;
  /** Lower case letters, digits and hyphens; also the folder's name. */
  id: string;
  name: string;
  created: string;
  settings: Settings;
  /** With the training file's examples and `rehearsal` settings applied; `tasks` is empty, the parts have them. */
  environment: Environment;
  parts: Record<Part, Task[]>;
  /** Folder that paths of executor and task states are relative to. */
  folder: string;
  environmentFile: string;
  trainingFile: string | null;
  /** Tools whose real execution the person consented to; empty: nothing real runs. */
  allowed: string[];
  /** What the executor was when they consented: where it is something else, nothing real runs. */
  executorHash?: string;
  parent: { run: string; step: number } | null;
}
