import assert from 'node:assert/strict';
import type { Datum } from '../../../../src/core/grpo/batch';
import { type Learned, measureLearning } from '../../../../src/core/training/measure-learning';

const datum = (logprobs: number[], advantages: number[]): Datum => ({
  input: logprobs.map((_, i) => i),
  target: logprobs.map((_, i) => i + 1),
  logprobs,
  advantages,
});

const learned = (data: Datum[], logprobs: number[][], more: Partial<Learned> = {}): Learned => ({
  batch: { adapter: 'shared', data, sources: data.map((_, i) => i), tokens: 10 },
  result: { logprobs, metrics: { 'loss:sum': -2, 'nodes:sum': 5 } },
  step: { 'grad_norm:mean': 3 },
  after: [],
  ...more,
});

describe('what the learner says of a step', () => {
  it('is the difference of the two programs over trained tokens alone', () => {
    const one = datum([-1, -2, 0], [0.5, -0.5, 0]);
    const { difference, ...figures } = measureLearning([learned([one], [[-1.1, -2.3, -9]])], 0.2);
    assert.ok(Math.abs(difference!.mean - 0.2) < 1e-12);
    assert.ok(Math.abs(difference!.max - 0.3) < 1e-12);
    assert.deepEqual(
      [figures.loss, figures.gradientNorm, figures.learnedTokens, figures.computedTokens],
      [-2, 3, 3, 5],
    );
  });

  it('is how far the update went, in shares of tokens beyond the clip range', () => {
    const one = datum([-1, -1, -1, -1, 0], [1, 1, -1, -1, 0]);
    const after = [{ datum: one, logprobs: [-1, -0.5, -1.1, -2, 5] }];
    const { ratio } = measureLearning([learned([one], [[-1, -1, -1, -1, 0]], { after })], 0.2);
    assert.equal(ratio!.clipped, 0.5);
    assert.ok(Math.abs(ratio!.mean - (1 + Math.exp(0.5) + Math.exp(-0.1) + Math.exp(-1)) / 4) < 1e-12);
  });

  it('puts the gradients of several sets of weights together', () => {
    const one = datum([-1], [1]);
    const figures = measureLearning(
      [learned([one], [[-1]]), learned([one], [[-1]], { step: { 'grad_norm:mean': 4 } })],
      0.2,
    );
    assert.equal(figures.gradientNorm, 5);
    assert.equal(figures.loss, -4);
  });

  it('is nothing where nothing was learned', () => {
    const figures = measureLearning([], 0.2);
    assert.deepEqual(figures, {
      difference: null,
      ratio: null,
      loss: null,
      gradientNorm: null,
      learnedTokens: 0,
      computedTokens: null,
    });
  });
});
