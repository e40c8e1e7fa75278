import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { csvOf, flatMetrics } from '../../../../src/core/training/flat';
import { writeEvents } from '../../../../src/node/runs/tensorboard';
import { metricsRow } from '../../support/training';

const estimate = { value: 0.5, low: 0.25, high: 0.75, n: 8 };
const rows = [
  metricsRow(1),
  metricsRow(300, {
    reward: null,
    gateFailures: { INVALID_PARAMETERS: 2 },
    evaluation: {
      part: 'validation',
      realSuccess: estimate,
      realReward: null,
      rehearsedSuccess: null,
      rehearsedReward: null,
      gap: null,
      fidelity: null,
      anticipation: null,
      tasks: [{ task: 'a', real: 1, rehearsed: null }],
      seconds: 3,
    },
    warnings: [{ step: 300, code: 'other', message: 'Look, "here".' }],
  }),
];

describe('metrics for other programs', () => {
  it('are flat columns', () => {
    const [first, second] = rows.map(flatMetrics);
    assert.equal(first!['tokens.act'], 80);
    assert.equal(first!['seconds.total'], 2);
    assert.equal(first!.evaluation, null);
    assert.equal(second!.reward, null);
    assert.equal(second!['gateFailures.INVALID_PARAMETERS'], 2);
    assert.equal(second!['evaluation.realSuccess.low'], 0.25);
    assert.equal(second!.warnings, 1);
    for (const value of Object.values({ ...first, ...second }))
      assert.ok(value === null || ['number', 'string'].includes(typeof value));
  });

  it('are a table that spreadsheets read', () => {
    const [head, one, two, rest] = csvOf([
      { step: 1, 'a.b': null },
      { step: 2, note: 'x, "y"\nz' },
    ]).split('\r\n');
    assert.deepEqual([head, one, two, rest], ['step,a.b,note', '1,,', '2,,"x, ""y""\nz"', '']);
    const table = csvOf(rows.map(flatMetrics)).trim().split('\r\n');
    assert.equal(new Set(table.map((line) => line.split(',').length)).size, 1);
  });

  it('are event files that TensorBoard reads', () => {
    const file = writeEvents(fs.mkdtempSync(path.join(os.tmpdir(), 'events-')), 'shop-1', rows);
    const data = fs.readFileSync(file);
    // Length, checksum, data, checksum; checked with TensorBoard itself when this was written.
    const length = Number(data.readBigUInt64LE(0));
    assert.equal(length, 24);
    assert.equal(data.toString('latin1', 12 + 11, 12 + 24), 'brain.Event:2');
    let records = 0;
    for (let at = 0; at < data.length; at += 16 + Number(data.readBigUInt64LE(at))) records++;
    assert.equal(records, 3);
  });
});
