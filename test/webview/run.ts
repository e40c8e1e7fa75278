/** A run as its page is sent it, made from the types: the mock's scene, and whatever a test changes in it. */
import type { Estimate, Evaluation, Metrics, RunStatus } from '../../src/core/training/run.types';
import type {
  GroupView,
  RolloutDetail,
  RunChoice,
  RunFacts,
  ToTraining,
} from '../../webview/common/training';

/** Repeats itself: a test that draws must draw the same each time. */
export function draws(seed = 7): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const around = (value: number, n: number): Estimate => {
  const half = 1.96 * Math.sqrt((value * (1 - value)) / n);
  return { value, low: Math.max(0, value - half), high: Math.min(1, value + half), n };
};

const REAL = [0.33, 0.36, 0.42, 0.47, 0.53, 0.58, 0.59, 0.56, 0.53, 0.5];
const DREAM = [0.38, 0.42, 0.47, 0.53, 0.58, 0.64, 0.69, 0.84, 0.93, 0.97];
const FIDELITY = [0.71, 0.74, 0.77, 0.79, 0.81, 0.82, 0.82, 0.74, 0.66, 0.58];

export function evaluation(step: number): Evaluation | null {
  const at = step / 5;
  const [real, dream, fidelity] = [REAL[at], DREAM[at], FIDELITY[at]];
  if (real === undefined || dream === undefined || fidelity === undefined) return null;
  const gap = dream - real;
  return {
    part: 'validation',
    realSuccess: around(real, 64),
    realReward: around(real, 64),
    rehearsedSuccess: around(dream - 0.02, 64),
    rehearsedReward: around(dream, 64),
    gap: { value: gap, low: gap - 0.06, high: gap + 0.06, n: 64 },
    fidelity: around(fidelity, 120),
    anticipation: { recall: around(fidelity - 0.1, 30), precision: around(fidelity - 0.05, 28) },
    tasks: [],
    seconds: 3,
  };
}

export function metrics(last: number): Metrics[] {
  const draw = draws();
  return Array.from({ length: last + 1 }, (_, step): Metrics => {
    const t = step / 46;
    const noise = () => (draw() - 0.5) * 0.03;
    const learns = step > 0;
    return {
      step,
      time: new Date(Date.UTC(2026, 10, 29, 12, 0, step * 4)).toISOString(),
      reward: learns ? 0.4 + 0.55 * t ** 1.2 + noise() : null,
      success: learns ? 0.3 + 0.6 * t ** 1.2 + noise() : null,
      rollouts: learns ? 32 : 0,
      unscored: learns && step % 9 === 0 ? 1 : 0,
      groups: learns ? 4 : 0,
      groupsWithoutSignal: learns ? Math.min(4, Math.floor(t * 3 + draw())) : 0,
      advantageSpread: {
        act: learns ? 0.34 - 0.17 * t + noise() : null,
        rehearse: learns ? 0.33 - 0.26 * t + noise() : null,
      },
      outputs: { act: learns ? 96 : 0, rehearse: learns ? 64 : 0 },
      tokens: { act: learns ? 3900 - 12 * step : 0, rehearse: learns ? 3100 - 20 * step : 0 },
      calls: learns ? 88 : 0,
      gateFailures: learns
        ? {
            missing_argument: Math.round(18 * (1 - t)),
            unknown_tool: Math.round(7 * (1 - t)),
            bad_enum: Math.round(4 * (1 - t) + draw()),
          }
        : {},
      wellFormed: learns ? 0.82 + 0.17 * t + noise() / 3 : null,
      recordedCalls: learns ? 20 : 0,
      contradictions: learns ? Math.round(2 + 9 * Math.max(0, t - 0.6)) : 0,
      collapse: learns
        ? [
            {
              tool: 'get_order_details',
              field: '$.status',
              value: '"delivered"',
              count: Math.round(40 * Math.min(1, 0.3 + 0.8 * t)),
              of: 40,
              reference: { source: 'records', count: 6, of: 40, mostly: '"pending"', mostlyCount: 28 },
            },
          ]
        : [],
      stops: learns ? { answered: 30, turn_limit: 2 } : {},
      entropy: {
        act: learns ? 0.6 - 0.22 * t + noise() : null,
        rehearse: learns ? 0.55 - 0.46 * t + noise() : null,
      },
      kl: { act: learns ? 0.02 * t : null, rehearse: learns ? 0.09 * t * t : null },
      difference: learns ? { mean: 0.007 + noise() / 20, max: 0.03 } : null,
      ratio: learns ? { mean: 1, clipped: 0.02 } : null,
      loss: learns ? -0.1 : null,
      replayLoss: null,
      gradientNorm: learns ? 0.8 : null,
      learnedTokens: learns ? 9000 : 0,
      computedTokens: learns ? 4200 : null,
      seconds: {
        sample: 2.2 - 0.3 * t,
        learn: 1.2 + noise(),
        sync: 0.2,
        evaluate: step % 5 ? 0 : 1.1,
        save: 0.1,
        other: 0.1,
        total: 5,
      },
      evaluation: step % 5 === 0 ? evaluation(step) : null,
      warnings: [],
    };
  });
}

export function status(change: Partial<RunStatus> = {}): RunStatus {
  const steps = [0, 10, 20, 30, 40, 45];
  return {
    id: 'shop-01',
    name: 'shop-01',
    state: 'running',
    message: '',
    step: 46,
    steps: 120,
    phase: 'sampling',
    created: '2026-11-29T12:00:00Z',
    started: '2026-11-29T12:00:01Z',
    ended: null,
    secondsLeft: 310,
    environmentFile: '/w/shop/retail-shop.rehearsal.json',
    trainingFile: '/w/shop/shop.training.json',
    environment: 'retail-shop',
    variant: 'rehearse',
    model: 'nano-1.7m',
    parent: null,
    bestStep: 30,
    checkpoints: steps.map((step) => ({
      step,
      model: `shop-01/step-${step}`,
      best: step === 30,
      success: around(REAL[step / 5]!, 64),
      kept: step !== 10 && step !== 20,
    })),
    warnings: [
      {
        step: 38,
        code: 'pleasing',
        message: '`status` is `delivered` in 40 of 40 rehearsals; 28 records say `pending`',
        rollout: { step: 46, index: 4 },
      },
    ],
    ...change,
  };
}

export const facts: RunFacts = {
  groupSize: 8,
  tasksPerStep: 4,
  weights: 'full',
  place: "this machine's CPU",
  tasks: { train: 32, validation: 64, test: 192 },
  real: true,
};

export function choices(): RunChoice[] {
  const evaluated = [0, 5, 10, 15, 20, 25, 30, 35, 40, 45];
  return [
    { id: 'shop-01', name: 'shop-01', state: 'running', variant: 'rehearse', step: 46, evaluated },
    { id: 'act-only-02', name: 'act-only', state: 'done', variant: 'act-only', step: 60, evaluated },
  ];
}

export function runMessage(change: Partial<RunStatus> = {}, last = 46): Extract<ToTraining, { type: 'run' }> {
  return { type: 'run', status: status(change), facts, metrics: metrics(last), runs: choices() };
}

const cell = (index: number, reward: number | null, reason = '') => ({
  index,
  attempt: index % 8,
  reward,
  success: reward === 1,
  reason,
});

export function groups(): GroupView[] {
  const rows: [string, (number | null)[]][] = [
    ['check and cancel W4284542', [1, 1, 1, 1, 0.4, 1, 1, 1]],
    ['change address of W1170936', [1, 0.6, 1, 1, 1, null, 1, 1]],
    ['price of product 7736', [1, 1, 1, 1, 1, 1, 1, 1]],
    ['status of order W5520418', [1, 1, 0, 1, 1, 1, 0.5, 1]],
  ];
  return rows.map(([task, rewards], row) => {
    const scored = rewards.filter((one): one is number => one !== null);
    return {
      task,
      rollouts: rewards.map((reward, i) => cell(row * 8 + i, reward, reward === 0.4 ? 'check 1 fails' : '')),
      mean: scored.reduce((sum, one) => sum + one, 0) / scored.length,
      unscored: rewards.length - scored.length,
      spread: new Set(scored).size > 1,
    };
  });
}

const tokens = (text: string) =>
  text.split(/(?<=[ ":{}#(),])/).map((part, i) => ({ text: part, logprob: -0.02 * (i % 7) }));

export function detail(change: Partial<RolloutDetail> = {}): RolloutDetail {
  const output = (
    role: 'act' | 'rehearse',
    turn: number,
    summary: string,
    advantage: number,
    source: string | null = null,
  ) => ({
    role,
    turn,
    summary,
    source,
    advantage,
    tokens: tokens(summary),
  });
  return {
    step: 46,
    index: 4,
    task: 'check and cancel W4284542',
    attempt: 4,
    reward: 0.4,
    mean: 0.925,
    success: false,
    stop: 'answered',
    outputs: [
      output('act', 1, 'get_order_details({"order_id": "#W4284542"})', -0.494),
      output('rehearse', 1, '{"status": "pending"}', -0.467, 'agrees with a record'),
      output('act', 2, 'cancel_order({"order_id": "#W4284542"})', -0.494),
      output('rehearse', 2, 'error: reason is missing', -0.467),
      output('act', 3, 'I could not cancel it.', -0.494),
    ],
    checks: [
      {
        title: 'looks the order up, then cancels it',
        verdict: 'fails',
        reason: 'No call cancel_order succeeded.',
        turn: 3,
      },
      { title: 'at most 4 calls', verdict: 'holds', reason: '2 calls.' },
    ],
    baseline: { act: 0.894, rehearse: 0.867 },
    turn: 3,
    weights: 45,
    ...change,
  };
}
