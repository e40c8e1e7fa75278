/** What happens to a run when something goes wrong, on a tiny model with random weights and our engine. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { train } from '../../../../server/runner/training/train';
import type { Metrics } from '../../../../src/core/training/run.types';
import type { Settings } from '../../../../src/core/training/types';
import { runErrors } from '../../../../src/node/runs/errors';
import { RunStore } from '../../../../src/node/runs/store';
import { type StartedEngine, startEngine } from '../../support/engine';
import { temporary, tinyModel } from '../../support/server';
import { MODEL, tinyConfig } from '../../support/tiny-run';

describe('a training run in which something goes wrong', function () {
  this.timeout(600_000);
  const home = temporary('training-faults');
  const root = path.join(home, 'runs');
  let engine: StartedEngine;

  before(async () => {
    fs.mkdirSync(root, { recursive: true });
    const more = ['--deterministic', '--threads', '1', '--checkpoints', root];
    engine = await startEngine({ [MODEL]: await tinyModel() }, ...more);
  });
  after(() => engine?.kill());

  /** Runs a store's run until it ends, or until `stopAfter` steps have their row. */
  async function run(store: RunStore, stopAfter?: number): Promise<void> {
    const abort = new AbortController();
    const look = (row: Metrics) => {
      if (row.step === stopAfter) abort.abort();
    };
    store.events.on('metrics', look);
    const ports = {
      engine: async () => ({ baseUrl: engine.baseUrl }),
      executor: null,
      now: () => new Date().toISOString(),
    };
    await train({ store, signal: abort.signal, ports });
    store.events.off('metrics', look);
  }

  const make = (change: Partial<Settings> = {}) =>
    RunStore.create(
      root,
      tinyConfig(home, {
        steps: 3,
        evaluation: { every: 3, attempts: 1, recorded: false },
        checkpoints: { every: 1, keep: 2 },
        ...change,
      }),
    );
  /** What must not depend on when and how often a run was interrupted. */
  const lasting = (store: RunStore) =>
    store.metrics().map(({ time, seconds, evaluation, ...row }) => ({
      ...row,
      evaluation: evaluation && { ...evaluation, seconds: 0 },
    }));

  it('ends the same where it was stopped and went on', async () => {
    const [whole, stopped] = [make(), make()];
    await run(whole);
    await run(stopped, 1);
    assert.equal(stopped.status.state, 'stopped');
    assert.deepEqual(
      stopped.status.checkpoints.map(({ step }) => step),
      [0, 1],
      'what was learned is kept',
    );
    await run(stopped);
    assert.equal(stopped.status.state, 'done');
    assert.deepEqual(lasting(stopped), lasting(whole));
    assert.deepEqual(await stopped.rolloutsOf(3), await whole.rolloutsOf(3));
    for (const store of [whole, stopped]) await store.close();
  });

  it('goes back to the checkpoint before one that is damaged, and says so', async () => {
    const store = make();
    await run(store, 2);
    const before = lasting(store);
    const folder = path.join(store.folder, 'checkpoints/step-2');
    const name = fs.readdirSync(folder).find((file) => file.endsWith('.safetensors'))!;
    fs.writeFileSync(path.join(folder, name), 'not what was written');
    await run(store);
    assert.equal(store.status.state, 'done', store.status.message);
    assert.match(
      store.status.warnings.find(({ code }) => code === 'checkpoint')!.message,
      /step 2 cannot be read/,
    );
    assert.deepEqual(lasting(store).slice(0, 3), before);
    assert.equal((await store.rolloutsOf(2)).length, 8, 'its rollouts were not sampled again');
    await store.close();
  });

  it('stops where a loss is no number, names the rollouts and keeps the weights before', async () => {
    const store = make({ checkpoints: { every: 3, keep: 2 }, replayShare: 0, kl: { act: 0, rehearse: 0 } });
    await run(store, 1);
    const other = make();
    await run(other, 2);
    // What was punished the sampler is said to have found all but impossible: the ratio overflows.
    const broken = (await other.rolloutsOf(2)).map((record) => {
      const good = record.index % 2 === 1;
      const records = good ? record.records : record.records.map(impossible);
      return { ...record, reward: good ? 1 : 0, success: good, records };
    });
    await store.appendRollouts(broken);
    await run(store);
    assert.equal(store.status.state, 'failed');
    assert.match(
      store.status.message,
      /The loss of step 2 is not a number\. It comes from rollouts 0, 2, 4, 6 of/,
    );
    assert.deepEqual(
      store.metrics().map(({ step }) => step),
      [0, 1],
    );
    assert.ok(store.status.checkpoints.some(({ step, kept }) => step === 1 && kept));
    for (const one of [store, other]) await one.close();
  });

  it('keeps all that is learned where a row cannot be written, and goes on once it can', async () => {
    const [whole, full] = [make(), make()];
    await run(whole);
    const append = full.appendMetrics.bind(full);
    full.appendMetrics = async (row) => {
      if (row.step === 2) throw runErrors.unwritable(full.folder, new Error('no space left on device'));
      return append(row);
    };
    await run(full);
    assert.equal(full.status.state, 'failed');
    assert.match(full.status.message, /no space left/);
    full.appendMetrics = append;
    await run(full);
    assert.equal(full.status.state, 'done');
    assert.deepEqual(lasting(full), lasting(whole));
    for (const store of [whole, full]) await store.close();
  });

  it('says that the learning rate is too high', async () => {
    const store = make({
      learningRate: 0.5,
      steps: 2,
      loss: { name: 'ppo', clip: 0.2, gradientClip: 0, weightDecay: 0 },
    });
    await run(store);
    assert.ok(
      store.status.warnings.some(({ code }) => code === 'diverging'),
      JSON.stringify(store.metrics().map(({ ratio }) => ratio)),
    );
    await store.close();
  });
});

/** A reply whose token has a log-probability that no model gives. */
function impossible(record: unknown): unknown {
  const { reply } = record as { reply: { kind: string; token?: { logprob: number } } };
  if (reply.kind !== 'token') return record;
  return { ...(record as object), reply: { ...reply, token: { ...reply.token, logprob: -2000 } } };
}
