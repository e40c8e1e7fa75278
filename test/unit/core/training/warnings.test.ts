import assert from 'node:assert/strict';
import type { Metrics } from '../../../../src/core/training/run.types';
import { warningsOf } from '../../../../src/core/training/warnings';
import { metricsRow } from '../../support/training';

const codes = (row: Metrics, before: Metrics[] = []) => warningsOf(row, before, []).map(({ code }) => code);

describe('warnings of a step', () => {
  it('are none where all is well', () => {
    assert.deepEqual(codes(metricsRow(3), [metricsRow(1), metricsRow(2)]), []);
  });

  it('say that sampler and learner disagree, once', () => {
    const far = (step: number) => metricsRow(step, { difference: { mean: 0.06, max: 1 } });
    assert.deepEqual(codes(far(3), [metricsRow(2)]), ['sampler-learner']);
    assert.deepEqual(codes(far(4), [far(3)]), []);
    assert.deepEqual(codes(metricsRow(3, { difference: { mean: 0.04, max: 1 } })), []);
  });

  it('say that the learning rate is too high where an update leaves the clip range', () => {
    assert.deepEqual(codes(metricsRow(3, { ratio: { mean: 1.4, clipped: 0.3 } })), ['diverging']);
  });

  it('say that nothing is learned after five steps without signal, once', () => {
    const silent = (step: number) => metricsRow(step, { groups: 4, groupsWithoutSignal: 4 });
    const rows = [1, 2, 3, 4, 5, 6].map(silent);
    assert.deepEqual(codes(rows[3]!, rows.slice(0, 3)), []);
    assert.deepEqual(codes(rows[4]!, rows.slice(0, 4)), ['no-signal']);
    const told = { ...rows[4]!, warnings: warningsOf(rows[4]!, rows.slice(0, 4), []) };
    assert.deepEqual(codes(rows[5]!, [...rows.slice(0, 4), told]), []);
  });

  it('say that rollouts could not be scored', () => {
    const row = metricsRow(3, { rollouts: 32, unscored: 4 });
    assert.deepEqual(codes(row), ['unscored']);
    assert.deepEqual(codes(metricsRow(3, { rollouts: 32, unscored: 3 })), []);
  });

  it('say which records are contradicted', () => {
    const row = metricsRow(3, { recordedCalls: 20, contradictions: 15 });
    assert.match(warningsOf(row, [], [])[0]!.message, /15 of 20 rehearsals/);
  });

  it('say that a field collapsed, once for each', () => {
    const collapse = [
      {
        tool: 'get_order',
        field: '$.status',
        value: '"delivered"',
        count: 40,
        of: 40,
        reference: { source: 'records' as const, count: 2, of: 40, mostly: '"pending"', mostlyCount: 28 },
      },
    ];
    const row = metricsRow(3, { collapse });
    const told = warningsOf(row, [], []);
    assert.equal(told.length, 1);
    assert.deepEqual(codes(metricsRow(4, { collapse }), [row]), []);
    assert.deepEqual(warningsOf(metricsRow(9, { collapse }), [], told), []);
  });
});
