/**
 * What a learner is like, found out when connecting: servers of one protocol differ in how they add up, and do not
 * say so. Nothing is assumed from a server's name.
 */
import type { Adam, LossRequest, LossResult } from '../../core/grpo/learner';
import type { Signal } from '../../core/policy';
import { UserError } from '../../core/user-error';
import type { TinkerHttp } from './http';

export interface Backend {
  kind: 'engine' | 'other';
  /**
   * How gradients of samples are put together. `mean`: over a sample's masked tokens, then over the samples of a
   * step; `scaled` undoes that.
   */
  reduction: 'sum' | 'mean';
  clipsGradient: boolean;
  /** Whether it says the loss and what it made of the batch. */
  tellsMetrics: boolean;
  /** Whether every weight can be trained, and checkpoints are models that can be exported. */
  full: boolean;
  /** What a run on it goes without; for people. */
  lacks: string[];
}

const ENGINE: Backend = {
  kind: 'engine',
  reduction: 'sum',
  clipsGradient: true,
  tellsMetrics: true,
  full: true,
  lacks: [],
};

/** A model that is made for the test and let go of. */
export interface Scratch {
  forwardBackward(request: LossRequest): Promise<LossResult>;
  optimStep(adam: Adam): Promise<Record<string, number>>;
}

/** Finds it out; `scratch` makes a fresh small adapter. Some seconds on another server than our engine. */
export async function backendOf(
  http: TinkerHttp,
  scratch: () => Promise<Scratch>,
  signal?: Signal,
): Promise<Backend> {
  if (await http.isEngine(signal)) return ENGINE;
  const { reduction, tellsMetrics, norm } = await probeReduction(await scratch(), http);
  const clipsGradient = await probeClip(await scratch(), norm);
  const lacks = [
    ...(clipsGradient ? [] : ['It does not clip gradients: the setting is without effect.']),
    ...(tellsMetrics ? [] : ['It tells no metrics of the loss: those curves are computed here, or empty.']),
    'It trains adapters only, and its checkpoints cannot be exported from here.',
  ];
  return { kind: 'other', reduction, clipsGradient, tellsMetrics, full: false, lacks };
}

/** Small ids that every vocabulary has. */
const IDS = [5, 9, 30, 31, 32, 40, 41, 7];
const probe = (copies: number): LossRequest => ({
  loss: 'cross_entropy',
  data: Array.from({ length: copies }, () => ({
    input: IDS.slice(0, -1),
    target: IDS.slice(1),
    weights: [0, 0, 0, 1, 1, 1, 1],
  })),
});
const STILL: Adam = { learningRate: 0 };

/** The gradient of a sample twice is twice as long where samples are summed, and as long where they are averaged. */
async function probeReduction(model: Scratch, http: TinkerHttp) {
  const { metrics } = await model.forwardBackward(probe(1));
  const tellsMetrics = 'loss:sum' in metrics;
  const one = gradientNorm(await model.optimStep(STILL));
  await model.forwardBackward(probe(2));
  const two = gradientNorm(await model.optimStep(STILL));
  if (one && two) {
    const ratio = two / one;
    if (Math.abs(ratio - 2) < 0.1) return { reduction: 'sum' as const, tellsMetrics, norm: one };
    if (Math.abs(ratio - 1) < 0.1) return { reduction: 'mean' as const, tellsMetrics, norm: one };
  }
  throw new UserError(
    `How the server at ${http.url} puts the gradients of samples together could not be found out` +
      (one && two
        ? ` (twice the samples gave ${(two / one).toFixed(2)} times the gradient).`
        : ': it tells no gradient norm.'),
    'Train on our engine, SkyRL or Tinker.',
  );
}

/** With so large an epsilon Adam's step is as long as the gradient, so that a clipped one hardly moves anything. */
async function probeClip(model: Scratch, norm: number): Promise<boolean> {
  const scored = async () =>
    (await model.forwardBackward({ ...probe(1), forwardOnly: true })).logprobs[0]!.slice(3);
  const before = await scored();
  await model.forwardBackward(probe(1));
  const epsilon = 1e3 * Math.max(1, norm);
  await model.optimStep({ learningRate: (0.1 * epsilon) / norm ** 2, epsilon, gradientClip: 1e-4 * norm });
  const after = await scored();
  const change = after.reduce((sum, value, i) => sum + value - before[i]!, 0);
  return Math.abs(change) < 0.01; // 0.1 nats and more where it was not clipped
}

function gradientNorm(metrics: Record<string, number>): number | undefined {
  return Object.entries(metrics).find(([name]) => /grad_norm/.test(name))?.[1];
}

/** Tensors of a sample as they are sent. */
export interface Sent {
  input: readonly number[];
  target: readonly number[];
  logprobs?: readonly number[];
  advantages?: readonly number[];
  /** Of a policy loss: the mask over which a mean is taken. */
  weights?: readonly number[];
}

/**
 * Samples of a policy loss such that a server's mean is the sum that was asked for, over a step of `samples` in all.
 * A sample without any advantage is masked in whole, since a mean over nothing is none.
 */
export function scaled(
  data: readonly {
    input: readonly number[];
    target: readonly number[];
    logprobs: readonly number[];
    advantages: readonly number[];
  }[],
  samples: number,
): Sent[] {
  return data.map((datum) => {
    const on = datum.advantages.map((advantage) => (advantage === 0 ? 0 : 1));
    const count = on.reduce<number>((sum, value) => sum + value, 0);
    if (!count) return { ...datum, weights: on.map(() => 1) };
    return {
      ...datum,
      weights: on,
      advantages: datum.advantages.map((advantage) => advantage * count * samples),
    };
  });
}
