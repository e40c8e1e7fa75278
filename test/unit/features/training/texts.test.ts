/** What a person reads of a run without opening it. */
import assert from 'node:assert/strict';
import { parse } from 'jsonc-parser';
import { newFileText } from '../../../../src/features/training/new-file';
import { describeRun, durationOf, endText, statusText } from '../../../../src/features/training/texts';
import { metrics, status } from '../../../webview/run';

describe('a run in few words', () => {
  it('says in the view where it stands and how good it is', () => {
    assert.equal(describeRun(status()), 'running · 46/120 · 5 min left · 0.59 at step 30 · rehearse');
    assert.equal(describeRun(status({ state: 'done', step: 120 })), 'done · 0.59 at step 30 · rehearse');
    assert.equal(
      describeRun(status({ state: 'queued', step: 0, bestStep: null })),
      'queued · 0/120 · rehearse',
    );
  });

  it('says in the status bar how far it is, with warnings marked', () => {
    assert.equal(statusText(status(), 0), '$(warning) shop-01 46/120');
    assert.equal(
      statusText(status({ warnings: [], state: 'queued' }), 2),
      '$(clock) shop-01 queued, 2 waiting',
    );
  });

  it('says no more of the time than anybody knows', () => {
    assert.deepEqual([0.2, 40, 310, 8000].map(durationOf), [
      '1 s left',
      '40 s left',
      '5 min left',
      '2 h 13 min left',
    ]);
  });

  it('says at its end what came of it: on the test tasks, else on those of validation, else why not', () => {
    const { evaluation: start } = metrics(0)[0]!;
    const difference = { value: 0.26, low: -0.02, high: 0.54, n: 64, better: 20, worse: 4, same: 40 };
    const result = { step: 30, best: start!, start: start!, on: 'real' as const, difference };
    assert.equal(
      endText(status({ state: 'done', result })),
      'Test success on real tools changed by +0.26 (−0.02 to +0.54, n = 64) with the checkpoint of step 30.',
    );
    assert.match(endText(status({ state: 'stopped' })), /of step 30, has a validation success of 0\.59/);
    assert.equal(endText(status({ state: 'failed', message: 'The disk is full.' })), 'The disk is full.');
  });

  it('shows nothing of a name that could move a cursor', () => {
    assert.ok(!statusText(status({ name: 'a\u202eb' }), 0).includes('\u202e'));
  });
});

describe('a training file that is written for an environment', () => {
  const tasks = (count: number) => Array.from({ length: count }, (_, i) => ({ id: `t${i}` })) as never[];

  it('has every task in one part', () => {
    for (const count of [1, 3, 4, 8, 33]) {
      const { environment, tasks: parts } = parse(
        newFileText('shop.rehearsal.json', { name: 'shop', tasks: tasks(count) }),
      );
      assert.equal(environment, 'shop.rehearsal.json');
      const all = Object.values(parts as Record<string, string[]>).flat();
      assert.equal(all.length, count);
      assert.equal(new Set(all).size, count);
      assert.ok(parts.train.length >= 1);
    }
  });

  it('is not written where there is nothing to train on', () => {
    assert.throws(() => newFileText('e', { name: 'e', tasks: [] }), { name: 'UserError' });
  });
});
