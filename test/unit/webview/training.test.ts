/** What the training page draws and says, as data. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { between, lastAt, spread } from '../../../webview/common/chart/types';
import { about, bytes, figure, share } from '../../../webview/common/format';
import { isFromTraining, isToTraining } from '../../../webview/common/training-validators.generated';
import { stepped } from '../../../webview/training/form/stepped';
import { checkpointRows, gapSeries, hasParted } from '../../../webview/training/run/gap';
import { merged, stepsWithRollouts } from '../../../webview/training/run/model';
import { seriesOf } from '../../../webview/training/run/series';
import { SPECS } from '../../../webview/training/run/specs';
import { detail, groups, metrics, runMessage, status } from '../../webview/run';

describe('curves of a run', () => {
  const rows = metrics(46);
  const of = (id: string, all = rows) => seriesOf(SPECS.find((spec) => spec.id === id)!, all);

  it('have a value, or none, for each step', () => {
    for (const spec of SPECS) {
      const { plot } = seriesOf(spec, rows);
      for (const curve of plot.curves) assert.equal(curve.values.length, plot.steps.length, spec.id);
    }
  });

  it('say in a sentence what they show', () => {
    assert.match(
      of('advantage').summary,
      /^ACT fell from \.3\d to \.1\d; REH\. fell from .*, over 47 steps\.$/,
    );
    for (const spec of SPECS) {
      assert.match(seriesOf(spec, rows).summary, /\.$/, spec.id);
      assert.equal(seriesOf(spec, []).summary, 'Nothing was measured yet.');
    }
  });

  it('count gate failures by 100 calls and by kind, the largest first', () => {
    const { plot } = of('gates');
    assert.deepEqual(
      plot.curves.map(({ label }) => label),
      ['all', 'missing argument', 'unknown tool', 'bad enum'],
    );
    const first = rows[1]!;
    const all = Object.values(first.gateFailures).reduce((sum, count) => sum + count, 0);
    assert.equal(plot.curves[0]!.values[1], (100 * all) / first.calls);
  });

  it('warn by a line where sampler and learner differ too much', () => {
    assert.deepEqual(of('difference').plot.limits, [{ value: 0.05, label: 'warns .05' }]);
  });

  it('put the parts of a step on top of one another to its whole time', () => {
    const { plot } = of('time');
    assert.ok(plot.stacked);
    const sums = plot.steps.map((_, i) => plot.curves.reduce((sum, { values }) => sum + (values[i] ?? 0), 0));
    assert.ok(sums.every((sum) => Math.abs(sum - 5) < 1e-9));
  });

  it('show intervals and counts of what was evaluated', () => {
    const [real] = of('validation').plot.curves;
    assert.ok(real!.low![45]! < real!.values[45]! && real!.high![45]! > real!.values[45]!);
    assert.equal(real!.counts![45], 64);
    assert.equal(real!.values[44], null);
  });

  it('name the field whose rehearsed values crowd on one', () => {
    const { plot } = of('collapse');
    assert.equal(plot.curves[0]!.label, 'status');
    assert.equal(plot.curves[0]!.values[46], 1);
  });
});

describe('the reality gap', () => {
  const rows = metrics(46);

  it('marks the best checkpoint and where the two part', () => {
    const { plot, summary } = gapSeries(rows, 30);
    assert.equal(plot.mark?.step, 30);
    assert.equal(plot.mark?.above, 'they part at step 30');
    assert.equal(plot.mark?.below, 'best checkpoint, real success .59');
    assert.equal(plot.gap?.figure, 'gap .47');
    assert.equal(plot.hatch?.from, 30);
    assert.equal(plot.gap?.isWide, true);
    assert.match(
      summary,
      /^Reward in rehearsal is \.9\d in training and \.97 on the validation tasks, success on the real tools \.50, a gap of \.47, \.41 to .+ on the same tasks\. They part at step 30/,
    );
  });

  it('says nothing of a parting while the best is the last, or the interval reaches 0', () => {
    assert.equal(gapSeries(metrics(30), 30).plot.mark?.above, '');
    const close = rows.map((row) =>
      row.evaluation
        ? { ...row, evaluation: { ...row.evaluation, gap: { value: 0.2, low: -0.01, high: 0.4, n: 8 } } }
        : row,
    );
    assert.equal(
      hasParted(
        close.filter(({ evaluation }) => evaluation),
        30,
      ),
      false,
    );
  });

  it('takes the run at its word that the rehearser pleases', () => {
    const low = rows.map((row) =>
      row.evaluation
        ? { ...row, evaluation: { ...row.evaluation, gap: { value: -0.5, low: -0.6, high: -0.4, n: 64 } } }
        : row,
    );
    assert.equal(gapSeries(low, 30).plot.hatch, undefined);
    assert.equal(gapSeries(low, 30, true).plot.mark?.above, 'they part at step 30');
    assert.equal(gapSeries(low, 30, true).plot.gap?.isWide, false);
  });

  it('claims no gap where the real tools did not run', () => {
    const dreamt = rows.map((row) =>
      row.evaluation
        ? { ...row, evaluation: { ...row.evaluation, realSuccess: null, realReward: null, gap: null } }
        : row,
    );
    const { plot, summary } = gapSeries(dreamt, 30);
    assert.equal(plot.gap, undefined);
    assert.equal(plot.hatch, undefined);
    assert.deepEqual(
      plot.curves.map(({ label }) => label),
      ['reward in rehearsal', 'same tasks, rehearsed'],
    );
    assert.match(summary, /real tools did not run, so no gap can be measured/);
  });

  it('shows the training reward where nothing was evaluated', () => {
    const bare = rows.map((row) => ({ ...row, evaluation: null }));
    assert.equal(gapSeries(bare, null).plot.curves[0]!.values[46], rows[46]!.reward);
  });

  it('lists checkpoints newest first, those whose weights are gone with their figures', () => {
    const listed = checkpointRows(status(), rows);
    assert.equal(listed[0]!.step, 45);
    assert.deepEqual(
      listed.filter(({ best }) => best).map(({ step }) => step),
      [30],
    );
    assert.equal(listed.find(({ step }) => step === 10)!.kept, false);
    assert.equal(listed.find(({ step }) => step === 10)!.success!.value, 0.42);
  });
});

describe('steps of a run', () => {
  it('that are told again after a resume take the place of the old ones, and of all behind them', () => {
    const before = metrics(12);
    const again = metrics(9)
      .slice(8)
      .map((row) => ({ ...row, reward: 0.123 }));
    const after = merged(before, again);
    assert.deepEqual(
      after.map(({ step }) => step),
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    );
    assert.equal(after[8]!.reward, 0.123);
  });

  it('stay as they are when nothing is added', () => {
    assert.equal(merged(metrics(4), []).length, 5);
  });

  it('have rollouts from the first on', () => {
    assert.deepEqual(stepsWithRollouts(metrics(3)), [1, 2, 3]);
  });
});

describe('labels at the ends of curves', () => {
  it('stand apart, in the order of their values, within the chart', () => {
    const positions = fc.array(fc.double({ min: 0, max: 100, noNaN: true }), { maxLength: 6 });
    fc.assert(
      fc.property(positions, (given) => {
        const placed = spread(
          given,
          given.map(() => 16),
          0,
          100,
        );
        const order = given.map((at, i) => ({ at, i })).sort((a, b) => a.at - b.at || a.i - b.i);
        for (let k = 1; k < order.length; k++)
          assert.ok(placed[order[k]!.i]! - placed[order[k - 1]!.i]! >= 16 - 1e-9);
        assert.ok(placed.every((at) => at >= 8 - 1e-9 && at <= 92 + 1e-9));
      }),
    );
  });

  it('move nothing that has room', () => {
    assert.deepEqual(spread([80, 10, 40], [16, 16, 16], 0, 100), [80, 10, 40]);
  });

  it('find the last value that is known, and those between', () => {
    assert.equal(lastAt([1, null, null], 2), 0);
    assert.equal(lastAt([null], 0), -1);
    assert.equal(between({ steps: [0, 5, 10] }, [0, null, 1], 1), 0.5);
    assert.equal(between({ steps: [0, 5, 10] }, [0, null, null], 1), null);
  });
});

describe('figures', () => {
  it('read as people write them', () => {
    assert.deepEqual([0.97, 1, 0, -0.12, 0.004].map(share), ['.97', '1', '0', '−.12', '0']);
    assert.deepEqual([12345, 4.21, 0.0078, 0, 3348].map(figure), ['12.3k', '4.2', '.008', '0', '3,348']);
    assert.deepEqual([12, 300, 7800].map(about), ['12 s', '5 min', '2 h 10 min']);
    assert.deepEqual([512, 3.2e8, 2 ** 31].map(bytes), ['512 B', '305 MiB', '2.0 GiB']);
  });

  it('step by one, and rates by half and twice, within their bounds', () => {
    assert.equal(stepped({ kind: 'integer', minimum: 2 }, 2, false), 2);
    assert.equal(stepped({ kind: 'integer' }, 8, true), 9);
    assert.equal(stepped({ kind: 'number' }, 3e-4, true), 6e-4);
    assert.equal(stepped({ kind: 'number', maximum: 1 }, 0.8, true), 1);
    assert.equal(stepped({ kind: 'number' }, Number.NaN, true), null);
  });
});

describe('messages of the training pages', () => {
  it('pass where they are of the protocol', () => {
    assert.ok(isToTraining(runMessage()));
    assert.ok(isToTraining({ type: 'rollouts', step: 46, groups: groups() }));
    assert.ok(isToTraining({ type: 'rollout', detail: detail() }));
    assert.ok(isFromTraining({ type: 'set', path: ['steps'], value: 3 }));
    assert.ok(isFromTraining({ type: 'set', path: ['steps'] }));
  });

  it('are refused where they are not', () => {
    for (const wrong of [
      null,
      {},
      { type: 'launch!' },
      { type: 'rollout', step: 1.5, index: 0 },
      { type: 'checkpoint', step: 1, do: 'format' },
    ])
      assert.ok(!isFromTraining(wrong), JSON.stringify(wrong));
    assert.ok(!isToTraining({ ...runMessage(), metrics: [{ step: 1 }] }));
  });
});
