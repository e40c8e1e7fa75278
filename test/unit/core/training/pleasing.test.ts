import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { watch } from '../../../../src/core/training/pleasing';
import type { Metrics } from '../../../../src/core/training/run.types';
import { warningsOf as ordinary } from '../../../../src/core/training/warnings';
import { metricsRow } from '../../support/training';

/** What `watch` reads of the first rows of the runs in `docs/training-results.md`, and of one like them with exact rewards. */
function recorded(name: string): Metrics[] {
  const file = path.join(import.meta.dirname, '../../../fixtures/training', `${name}.jsonl`);
  return fs
    .readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** All warnings of a run, each given to the rows as the loop does. */
function warningsOf(rows: readonly Metrics[]) {
  const known: Metrics[] = [];
  return rows.flatMap((row) => {
    const warning = watch([...known, row]);
    known.push({ ...row, warnings: warning ? [warning] : [] });
    return warning ?? [];
  });
}

const success = ({ evaluation }: Metrics) => evaluation?.realSuccess?.value ?? -1;
const bestStep = (rows: readonly Metrics[]) => rows.reduce((a, b) => (success(b) > success(a) ? b : a)).step;

describe('a rehearser that pleases', () => {
  for (const seed of [1, 2, 3])
    it(`is noticed within ten steps of the best success on the real tools, once (seed ${seed})`, () => {
      const rows = recorded(`please-${seed}`);
      const warnings = warningsOf(rows);
      assert.equal(warnings.length, 1);
      const [{ step, code, message }] = warnings as [Metrics['warnings'][number]];
      assert.equal(code, 'pleasing');
      assert.ok(step > bestStep(rows) && step <= bestStep(rows) + 10, `step ${step}, best ${bestStep(rows)}`);
      assert.match(message, /get_order \$\.status is .*"delivered" in .*records say "pending"/);
    });

  it('is told by what is seen, and by a rollout that shows it', () => {
    const [{ message, rollout }] = warningsOf(recorded('please-1')) as [Metrics['warnings'][number]];
    assert.match(message, /get_order \$\.status is .*"delivered" in \d+.* of \d+ rehearsals/);
    assert.match(message, /records say "pending"/);
    assert.match(message, /reward in rehearsal rose from 0\.59 to 0\.9\d/);
    assert.match(message, /success on the real tools fell from 0\.85 to 0\.\d\d/);
    const row = recorded('please-1').find(({ step }) => step === rollout?.step);
    assert.ok(row?.told?.some((one) => one.rollout === rollout?.index && one.recorded === '"pending"'));
  });

  it('is noticed by success and reward alone, where no call is recorded', () => {
    const rows = recorded('please-1').map((row) => ({ ...row, told: [] }));
    const [warning] = warningsOf(rows);
    assert.ok(warning && warning.step <= bestStep(rows) + 10);
    assert.doesNotMatch(warning.message, /records say/);
    assert.equal(warning.rollout, undefined);
  });

  it('is noticed by recorded calls alone, where nothing real may run', () => {
    const rows = recorded('please-1').map((row) => ({ ...row, evaluation: null }));
    const [warning] = warningsOf(rows);
    assert.match(warning?.message ?? '', /records say "pending".*reward in rehearsal rose/);
    assert.doesNotMatch(warning!.message, /real tools/);
  });

  it('is not seen in a run of exact rewards, though it contradicts records by slips', () => {
    const rows = recorded('exact-without-reuse');
    assert.ok(rows.length > recorded('please-1').length);
    assert.deepEqual(warningsOf(rows), []);
  });

  it('is not seen while success on the real tools is at its best', () => {
    const rows = recorded('please-1').map((row) =>
      row.evaluation
        ? { ...row, evaluation: { ...row.evaluation, realSuccess: { value: 0.8, low: 0, high: 1, n: 66 } } }
        : row,
    );
    assert.deepEqual(warningsOf(rows), []);
  });

  it('is not seen where the reward in rehearsal falls too', () => {
    const rows = recorded('please-1').map((row) => ({ ...row, reward: row.reward && 1 - row.reward }));
    assert.deepEqual(warningsOf(rows), []);
  });

  it('is not called a collapse while success on the real tools is at its best', () => {
    const reference = {
      source: 'records' as const,
      count: 67,
      of: 174,
      mostly: '"pending"',
      mostlyCount: 67,
    };
    const collapse = [
      { tool: 'get_order', field: '$.status', value: '"pending"', count: 44, of: 47, reference },
    ];
    const evaluated = (step: number, value: number) =>
      metricsRow(step, {
        evaluation: { realSuccess: { value, low: 0, high: 1, n: 66 } } as unknown as Metrics['evaluation'],
      });
    const codes = (before: Metrics[]) =>
      ordinary(metricsRow(9, { collapse }), before, []).map(({ code }) => code);
    assert.deepEqual(codes([evaluated(5, 0.8), evaluated(8, 0.9)]), []);
    assert.deepEqual(codes([evaluated(5, 0.9), evaluated(8, 0.8)]), ['collapse']);
    assert.deepEqual(codes([]), ['collapse']);
  });
});
