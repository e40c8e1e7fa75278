import assert from 'node:assert/strict';
import fc from 'fast-check';
import { meanOf, shareOf, student } from '../../../../src/core/training/estimate';
import { compareEvaluations, pairedDifference } from '../../../../src/core/training/paired';

const near = (actual: number, expected: number, tolerance: number) =>
  assert.ok(Math.abs(actual - expected) <= tolerance, `${actual} is not ${expected}`);

describe('estimates of a run', () => {
  it('have Student quantiles as tables have them', () => {
    for (const [freedom, t] of [
      [1, 12.706],
      [2, 4.303],
      [3, 3.182],
      [5, 2.571],
      [10, 2.228],
      [30, 2.042],
      [191, 1.972],
    ] as const) {
      near(student(freedom), t, 0.005 * t);
    }
  });

  it('give a mean with its interval, cut at what is possible', () => {
    const mean = meanOf([0, 1, 1, 0, 1, 1, 1, 1])!;
    assert.equal(mean.value, 0.75);
    assert.equal(mean.n, 8);
    near(mean.low, 0.75 - 2.365 * Math.sqrt(((8 / 7) * 0.1875) / 8), 0.005);
    assert.equal(mean.high, 1);
    assert.equal(meanOf([]), null);
    assert.deepEqual(meanOf([0.5]), { value: 0.5, low: 0, high: 1, n: 1 });
  });

  it('give a share the Wilson interval', () => {
    const share = shareOf(8, 10)!;
    near(share.low, 0.4901, 1e-3);
    near(share.high, 0.9433, 1e-3);
    assert.equal(shareOf(0, 0), null);
  });
});

describe('two checkpoints on the same tasks', () => {
  const values = (...list: number[]) => list.map((value, i) => ({ task: `t${i}`, value }));

  it('differ by the mean over tasks, second minus first', () => {
    const found = pairedDifference(values(0, 0, 1, 0.5), values(1, 0, 0.5, 1))!;
    assert.equal(found.value, 0.25);
    assert.equal(found.n, 4);
    assert.deepEqual([found.better, found.worse, found.same], [2, 1, 1]);
    assert.ok(found.low < 0 && found.high > 0.25);
  });

  it('are compared on the tasks that both have', () => {
    const found = pairedDifference(values(0, 1), [
      { task: 't1', value: 0 },
      { task: 'other', value: 1 },
    ])!;
    assert.equal(found.n, 1);
    assert.equal(found.value, -1);
    assert.equal(pairedDifference(values(1), []), null);
  });

  it('differ by the opposite where they change places', () => {
    const list = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 2, maxLength: 30 });
    fc.assert(
      fc.property(list, list, (a, b) => {
        const there = pairedDifference(values(...a), values(...b))!;
        const back = pairedDifference(values(...b), values(...a))!;
        near(there.value, -back.value, 1e-12);
        near(there.low, -back.high, 1e-9);
        assert.ok(there.low <= there.value && there.value <= there.high);
      }),
    );
  });

  it('are compared on the real tools where both have them, else in rehearsal', () => {
    const tasks = (real: number | null, rehearsed: number) => ({ tasks: [{ task: 't', real, rehearsed }] });
    assert.equal(compareEvaluations(tasks(0, 1), tasks(1, 0))!.on, 'real');
    assert.equal(compareEvaluations(tasks(0, 1), tasks(1, 0))!.difference.value, 1);
    assert.equal(compareEvaluations(tasks(null, 1), tasks(1, 0))!.on, 'rehearsed');
    assert.equal(compareEvaluations({ tasks: [] }, tasks(1, 0)), null);
  });
});
