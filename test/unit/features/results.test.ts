import assert from 'node:assert/strict';
import { type Attempt, outcomeOf, Results, type Store, scoreOf } from '../../../src/features/testing/results';

const attempt = (success: boolean | null): Attempt => ({
  success,
  reward: success === null ? null : Number(success),
  model: 'nano',
  at: '2026-11-29T15:00:00Z',
  seconds: 1,
  failed: [],
});
const attempts = (...successes: (boolean | null)[]) => successes.map(attempt);

describe('results of a task', () => {
  it('pass when every attempt passes', () => {
    assert.equal(outcomeOf({ attempts: attempts(true, true), rule: 'all', share: 0 }), 'passed');
    assert.equal(outcomeOf({ attempts: attempts(true, false), rule: 'all', share: 0 }), 'failed');
  });

  it('pass when one attempt passes, where the setting says so', () => {
    assert.equal(outcomeOf({ attempts: attempts(false, true), rule: 'any', share: 0 }), 'passed');
    assert.equal(outcomeOf({ attempts: attempts(false, false), rule: 'any', share: 0 }), 'failed');
  });

  it('pass when enough attempts pass, where the setting says so', () => {
    assert.equal(
      outcomeOf({ attempts: attempts(true, true, false, false), rule: 'share', share: 0.5 }),
      'passed',
    );
    assert.equal(
      outcomeOf({ attempts: attempts(true, false, false, false), rule: 'share', share: 0.5 }),
      'failed',
    );
    assert.equal(outcomeOf({ attempts: attempts(false, false), rule: 'share', share: 0 }), 'failed');
  });

  it('are errored, not failed, where attempts that could not be scored might have passed', () => {
    assert.equal(outcomeOf({ attempts: attempts(true, null), rule: 'all', share: 0 }), 'errored');
    assert.equal(outcomeOf({ attempts: attempts(false, null), rule: 'all', share: 0 }), 'failed');
    assert.equal(outcomeOf({ attempts: attempts(false, null), rule: 'any', share: 0 }), 'errored');
    assert.equal(
      outcomeOf({ attempts: attempts(true, null, null, false), rule: 'share', share: 0.5 }),
      'errored',
    );
    assert.equal(outcomeOf({ attempts: [], rule: 'all', share: 0 }), 'errored');
  });

  it('count only the attempts that could be scored', () => {
    assert.equal(scoreOf({ attempts: attempts(true, false, null), rule: 'all', share: 0 }), '1/2');
    assert.equal(scoreOf({ attempts: attempts(null), rule: 'all', share: 0 }), '?');
  });
});

describe('stored results', () => {
  /** Storage that, like VS Code's, keeps JSON. */
  function storage(): Store {
    const values = new Map<string, string>();
    return {
      get: (key) => (values.has(key) ? JSON.parse(values.get(key)!) : undefined),
      update: async (key, value) => void values.set(key, JSON.stringify(value)),
    };
  }

  it('are there again after a reload, whatever files and tasks are called', async () => {
    const store = storage();
    const result = { attempts: attempts(true, false), rule: 'any' as const, share: 0.5 };
    await new Results(store).set('/w/a.rehearsal.json', '__proto__', result);
    await new Results(store).set('/w/b.rehearsal.json', 'other', result);
    const reloaded = new Results(store);
    assert.deepEqual(reloaded.get('/w/a.rehearsal.json', '__proto__'), result);
    assert.deepEqual(reloaded.get('/w/b.rehearsal.json', 'other'), result);
    assert.equal(reloaded.get('/w/b.rehearsal.json', '__proto__'), undefined);
  });

  it('of real tools are there after a reload, beside the rehearsal, until the task is rehearsed again', async () => {
    const store = storage();
    const file = '/w/a.rehearsal.json';
    const rehearsed = { attempts: attempts(true), rule: 'all' as const, share: 0 };
    const executed = { attempts: attempts(false), rule: 'all' as const, share: 0 };
    const difference = { tool: 'get_order', text: '$.status changed', expected: '"a"', actual: '"b"' };
    const compared = { differences: [difference], uncompared: ['why'] };
    const results = new Results(store);
    for (const task of ['executed', 'compared', 'again']) {
      await results.set(file, task, rehearsed);
      await results.setReal(file, task, task === 'compared' ? { compared } : { executed });
    }
    await results.set(file, 'again', rehearsed);
    const reloaded = new Results(store);
    assert.deepEqual(reloaded.getReal(file, 'executed'), { executed });
    assert.deepEqual(reloaded.getReal(file, 'compared'), { compared });
    assert.equal(reloaded.getReal(file, 'again'), undefined);
    assert.deepEqual(reloaded.get(file, 'executed'), rehearsed);
  });

  it('keep what a task differs in, and of megabytes of answers only that they differ', async () => {
    const store = storage();
    const short = { tool: 't', text: 'short', expected: '1', actual: '2' };
    const long = { tool: 't', text: 'long', expected: 'x'.repeat(1_000_000), actual: '2' };
    await new Results(store).setReal('f', 't', { compared: { differences: [short, long], uncompared: [] } });
    assert.deepEqual(new Results(store).getReal('f', 't'), {
      compared: { differences: [short, { tool: 't', text: 'long' }], uncompared: [] },
    });
  });

  it('tell whoever listens, until they stop', async () => {
    const results = new Results(storage());
    let heard = 0;
    const listening = results.onDidChange(() => heard++);
    await results.set('/w/a.rehearsal.json', 't', { attempts: [], rule: 'all', share: 0 });
    listening.dispose();
    await results.set('/w/a.rehearsal.json', 't', { attempts: [], rule: 'all', share: 0 });
    assert.equal(heard, 1);
  });
});
