/** What the learner's answers say of a step: how far its log-probabilities are from the sampler's, and the ratio. */
import type { AdapterBatch } from '../grpo/batch';
import type { LossResult } from '../grpo/learner';
import { mean } from './measure';
import type { Metrics } from './run.types';

/** A batch that was learned, and what came back. */
export interface Learned {
  batch: AdapterBatch;
  result: LossResult;
  /** Metrics of the optimizer's step. */
  step: Record<string, number>;
}

export type LearningFigures = Pick<
  Metrics,
  'difference' | 'ratio' | 'loss' | 'gradientNorm' | 'learnedTokens' | 'computedTokens'
>;

/** @param clip how far the ratio may go from 1 */
export function measureLearning(learned: readonly Learned[], clip: number): LearningFigures {
  const logs = learned.flatMap(({ batch, result }) =>
    batch.data.flatMap((datum, i) =>
      datum.advantages.flatMap((advantage, t) =>
        advantage === 0 ? [] : result.logprobs[i]![t]! - datum.logprobs[t]!,
      ),
    ),
  );
  const sum = (name: string) => {
    const values = learned.flatMap(({ result }) => result.metrics[name] ?? []);
    return values.length ? values.reduce((a, b) => a + b, 0) : null;
  };
  const ratios = logs.map(Math.exp);
  const clipped = ratios.filter((ratio) => Math.abs(ratio - 1) > clip).length;
  const norms = learned.flatMap(({ step }) => step['grad_norm:mean'] ?? step['skyrl.ai/grad_norm'] ?? []);
  return {
    difference: logs.length
      ? { mean: mean(logs.map(Math.abs))!, max: logs.reduce((most, log) => Math.max(most, Math.abs(log)), 0) }
      : null,
    ratio: logs.length ? { mean: mean(ratios)!, clipped: clipped / ratios.length } : null,
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
