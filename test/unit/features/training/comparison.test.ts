import assert from 'node:assert/strict';
import { comparisonView, evaluatedSteps } from '../../../../src/features/training/comparison';
import { evaluation, metrics } from '../../../webview/run';

/** Rows whose evaluations have these tasks. */
function withTasks(real: Record<number, (number | null)[]>) {
  return metrics(10).map((row) => {
    const values = real[row.step];
    if (!values) return { ...row, evaluation: null };
    const tasks = values.map((value, i) => ({ task: `t${i}`, real: value, rehearsed: 1 }));
    return { ...row, evaluation: { ...evaluation(0)!, tasks } };
  });
}

describe('comparison of two checkpoints', () => {
  const rows = withTasks({ 0: [0, 0, 1, 1, 0], 10: [1, 1, 1, 0, 0] });
  const first = { run: 'a', step: 0 };
  const second = { run: 'a', step: 10 };

  it('is paired by task, and names the tasks that changed', () => {
    const view = comparisonView(first, second, { first: rows, second: rows });
    assert.equal(view.measure, 'success on real tools');
    assert.ok(Math.abs(view.difference.value - 0.2) < 1e-12);
    assert.equal(view.difference.n, 5);
    assert.ok(view.difference.low < 0.2 && view.difference.high > 0.2);
    assert.deepEqual(
      view.tasks.map(({ task }) => task),
      ['t0', 't1', 't3'],
    );
    assert.equal(view.same, 2);
    assert.ok(Math.abs(view.firstMean - 0.4) < 1e-12 && Math.abs(view.secondMean - 0.6) < 1e-12);
  });

  it('falls back to rehearsal where nothing real ran, and says so', () => {
    const dreamt = withTasks({ 0: [null, null], 10: [null, null] });
    assert.equal(
      comparisonView(first, second, { first: dreamt, second: dreamt }).measure,
      'success in rehearsal',
    );
  });

  it('refuses in words what cannot be compared', () => {
    assert.throws(
      () => comparisonView(first, { run: 'a', step: 4 }, { first: rows, second: rows }),
      /Step 4 of a was not evaluated/,
    );
    const none = withTasks({ 0: [], 10: [] });
    assert.throws(() => comparisonView(first, second, { first: none, second: none }), { name: 'UserError' });
  });

  it('offers the steps that were evaluated', () => {
    assert.deepEqual(evaluatedSteps(rows), [0, 10]);
  });
});
