/** Where the time of a step goes. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { Phases } from '../../../../server/runner/training/phases';
import { flatMetrics } from '../../../../src/core/training/flat';
import { FILES, RunReader } from '../../../../src/node/runs/reader';
import { ROOT, temporary } from '../../support/server';
import { metricsRow } from '../../support/training';

describe('the time of a step', () => {
  it('is told in the phases that docs/run-format.md has, and no other', () => {
    const page = fs.readFileSync(path.join(ROOT, 'docs/run-format.md'), 'utf8');
    const named = /^\| `seconds\.(.*?) \|/m.exec(page)![1]!.match(/\w+/g)!;
    assert.deepEqual(Object.keys(new Phases(() => {}).result), named);
  });

  it('of older rows, which name the rewards too, is still read', () => {
    const root = temporary('old-rows');
    const folder = path.join(root, 'old');
    fs.mkdirSync(folder);
    fs.writeFileSync(path.join(folder, FILES.config), '{"version": 1}');
    const row = metricsRow(1);
    const old = { ...row, seconds: { ...row.seconds, reward: 0 } };
    fs.writeFileSync(path.join(folder, FILES.metrics), `${JSON.stringify(old)}\n`);
    const [read] = new RunReader(root, 'old').metrics();
    assert.equal(flatMetrics(read!)['seconds.total'], row.seconds.total);
  });
});
