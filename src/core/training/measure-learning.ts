/** What the learner's answers say of a step: how far its log-probabilities are from the sampler's, and the ratio. */
import type { AdapterBatch, Datum } from '../grpo/batch';
import type { LossResult } from '../grpo/learner';
import { mean } from './measure';
import type { Metrics } from './run.types';

/** A batch that was learned, and what came back. */
export interface Learned {
  batch: AdapterBatch;
  result: LossResult;
  /** Metrics of the optimizer's step. */
  step: Record<string, number>;
  /** Some of the samples, and the log-probabilities of their targets after the update. */
  after: { datum: Datum; logprobs: readonly number[] }[];
}

export type LearningFigures = Pick<
  Metrics,
  'difference' | 'ratio' | 'loss' | 'gradientNorm' | 'learnedTokens' | 'computedTokens'
>;

/**
 * `difference` is that of the weights that sampled: zero but for how the two programs compute. `ratio` is the new
 * weights' to the old ones, which tells how far one update goes.
 * @param clip how far the ratio may go from 1
 */
export function measureLearning(learned: readonly Learned[], clip: number): LearningFigures {
  const logs = learned.flatMap(({ batch, result }) =>
    batch.data.flatMap((datum, i) => ratios(datum, result.logprobs[i]!)),
  );
  const moved = learned.flatMap(({ after }) =>
    after.flatMap(({ datum, logprobs }) => ratios(datum, logprobs)),
  );
  const sum = (name: string) => {
    const values = learned.flatMap(({ result }) => result.metrics[name] ?? []);
    return values.length ? values.reduce((a, b) => a + b, 0) : null;
  };
  const clipped = moved.filter((log) => Math.abs(Math.exp(log) - 1) > clip).length;
  const norms = learned.flatMap(({ step }) => step['grad_norm:mean'] ?? step['skyrl.ai/grad_norm'] ?? []);
  return {
    difference: logs.length
      ? { mean: mean(logs.map(Math.abs))!, max: logs.reduce((most, log) => Math.max(most, Math.abs(log)), 0) }
      : null,
    ratio: moved.length ? { mean: mean(moved.map(Math.exp))!, clipped: clipped / moved.length } : null,
    loss: sum('loss:sum'),
    // Of several sets of weights, the norm of all gradients together.
    gradientNorm: norms.length ? Math.hypot(...norms) : null,
    learnedTokens: learned.reduce(
      (total, { batch }) => total + batch.data.reduce((tokens, { input }) => tokens + input.length, 0),
      0,
    ),
    computedTokens: sum('nodes:sum'),
  };
}

/** Log of the ratio to the sampler's probability, of each token that is trained on. */
function ratios({ advantages, logprobs }: Datum, now: readonly number[]): number[] {
  return advantages.flatMap((advantage, t) => (advantage === 0 ? [] : now[t]! - logprobs[t]!));
}
