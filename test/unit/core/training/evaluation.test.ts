import assert from 'node:assert/strict';
import { type Attempt, evaluationOf } from '../../../../src/core/training/evaluation';

const attempt = (task: string, reward: number | null, shared = reward): Attempt => ({
  task,
  reward,
  success: reward === 1,
  shared,
});

describe('an evaluation', () => {
  it('has success and reward of both sides, and the gap over what both can decide', () => {
    const real = [attempt('a', 0, 0.5), attempt('b', 1), attempt('c', 1)];
    const told = [attempt('a', 1), attempt('b', 1), attempt('c', 0.5)];
    const found = evaluationOf(['a', 'b', 'c'], real, told, null);
    assert.equal(found.realSuccess!.value, 2 / 3);
    assert.equal(found.rehearsedSuccess!.value, 2 / 3);
    assert.equal(found.realReward!.value, 2 / 3);
    assert.equal(found.gap!.value, (0.5 + 0 - 0.5) / 3);
    assert.deepEqual(found.tasks[2], { task: 'c', real: 1, rehearsed: 0 });
    assert.equal(found.fidelity, null);
  });

  it('leaves out what could not be scored', () => {
    const found = evaluationOf(['a', 'b'], [attempt('a', null), attempt('b', 1)], [attempt('a', 1)], null);
    assert.deepEqual([found.realSuccess!.value, found.realSuccess!.n], [1, 1]);
    assert.equal(found.gap, null);
    assert.deepEqual(found.tasks, [
      { task: 'a', real: null, rehearsed: 1 },
      { task: 'b', real: 1, rehearsed: null },
    ]);
  });

  it('has no real side and no gap where nothing real ran', () => {
    const found = evaluationOf(['a'], null, [attempt('a', 1)], null);
    assert.deepEqual([found.realSuccess, found.realReward, found.gap], [null, null, null]);
  });

  it('counts attempts of a task together', () => {
    const told = [attempt('a', 1), attempt('a', 0), attempt('b', 1), attempt('b', 1)];
    const found = evaluationOf(['a', 'b'], null, told, null);
    assert.equal(found.rehearsedSuccess!.n, 4);
    assert.equal(found.rehearsedReward!.n, 2);
    assert.equal(found.tasks[0]!.rehearsed, 0.5);
  });
});
