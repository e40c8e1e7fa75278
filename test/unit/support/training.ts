/** A run in memory, for tests of what keeps and shows runs. */
import { DEFAULT_SETTINGS } from '../../../src/core/training/defaults';
import type { Metrics, RolloutRecord } from '../../../src/core/training/run.types';
import type { RunConfig, Settings } from '../../../src/core/training/types';
import { SHOP, TASK } from './shop';

export function newRun(
  change: Partial<RunConfig> = {},
  settings: Partial<Settings> = {},
): Omit<RunConfig, 'id' | 'created'> {
  return {
    version: 1,
    name: 'shop',
    settings: { ...DEFAULT_SETTINGS, steps: 3, tasksPerStep: 1, groupSize: 2, ...settings },
    environment: { ...SHOP, tasks: [] },
    parts: { train: [TASK], validation: [], test: [] },
    folder: '/nowhere',
    environmentFile: '/nowhere/shop.rehearsal.json',
    trainingFile: null,
    allowed: [],
    parent: null,
    ...change,
  };
}

export function metricsRow(step: number, change: Partial<Metrics> = {}): Metrics {
  return {
    step,
    time: new Date(Date.UTC(2026, 10, 29, 12, 0, step)).toISOString(),
    reward: 0.25 * (step % 4),
    success: 0.5,
    rollouts: 2,
    unscored: 0,
    groups: 1,
    groupsWithoutSignal: 0,
    advantageSpread: { act: 0.25, rehearse: 0.25 },
    outputs: { act: 4, rehearse: 2 },
    tokens: { act: 80, rehearse: 40 },
    calls: 2,
    gateFailures: {},
    wellFormed: 1,
    recordedCalls: 0,
    contradictions: 0,
    collapse: [],
    stops: { answered: 2 },
    entropy: { act: 0.5, rehearse: 0.25 },
    kl: { act: null, rehearse: null },
    difference: { mean: 0.001, max: 0.01 },
    ratio: { mean: 1, clipped: 0 },
    loss: -0.5,
    replayLoss: null,
    gradientNorm: 0.5,
    learnedTokens: 400,
    computedTokens: 200,
    seconds: { sample: 1, learn: 1, sync: 0, evaluate: 0, save: 0, other: 0, total: 2 },
    evaluation: null,
    warnings: [],
    ...change,
  };
}

export function rolloutRecord(
  step: number,
  index: number,
  change: Partial<RolloutRecord> = {},
): RolloutRecord {
  return {
    step,
    index,
    task: 'cancel',
    attempt: index,
    seed: 7 * step + index,
    reward: index % 2,
    success: index % 2 === 1,
    stop: 'answered',
    checks: [
      { title: 'answer contains "é"', verdict: index % 2 ? 'holds' : 'fails', reason: 'So it is.', turn: 1 },
    ],
    outputs: [
      {
        role: 'act',
        turn: 1,
        prompt: [1, 2, 3],
        ids: [4, 5],
        logprobs: [-0.5, null],
        advantage: index - 0.5,
      },
    ],
    records: [],
    ...change,
  };
}
