import assert from 'node:assert/strict';
import { isDue, marked } from '../../../../server/runner/training/checkpoints';
import type { Checkpoint } from '../../../../src/core/training/run.types';

const at = (step: number, success: number | null): Checkpoint => ({
  step,
  model: `run/step-${step}`,
  ...(step ? { addresses: { shared: `tinker://run/weights/step-${step}` } } : {}),
  best: false,
  success: success === null ? null : { value: success, low: 0, high: 1, n: 10 },
  kept: true,
});
const kept = (checkpoints: Checkpoint[]) => checkpoints.filter((one) => one.kept).map(({ step }) => step);

describe('checkpoints of a run', () => {
  it('are due every so many steps, and at the last', () => {
    assert.deepEqual(
      [1, 2, 3, 4, 5, 6, 7].filter((step) => isDue(step, 3, 7)),
      [3, 6, 7],
    );
    assert.ok(!isDue(7, 0, 7));
  });

  it('have one best: the first of the best success', () => {
    const all = marked([at(0, 0.2), at(10, 0.7), at(20, 0.7), at(30, null)], 9);
    assert.deepEqual(
      all.filter(({ best }) => best).map(({ step }) => step),
      [10],
    );
    assert.ok(marked([at(0, 0.5), at(10, 0.4)], 9)[0]!.best);
    assert.ok(!marked([at(10, null)], 9)[0]!.best);
  });

  it('are kept: the start, the best, the last, and the latest of the others', () => {
    const all = [at(0, 0.1), at(10, 0.9), at(20, 0.5), at(30, 0.5), at(40, 0.5), at(50, 0.5), at(60, 0.5)];
    assert.deepEqual(kept(marked(all, 2)), [0, 10, 40, 50, 60]);
    assert.deepEqual(kept(marked(all, 1, new Set([20]))), [0, 10, 20, 50, 60]);
  });

  it('do not come back once they are gone', () => {
    const gone = { ...at(10, 0.9), kept: false };
    const all = marked([at(0, 0.1), gone, at(20, 0.5)], 3);
    assert.deepEqual(kept(all), [0, 20]);
    assert.ok(all[2]!.best);
  });
});
