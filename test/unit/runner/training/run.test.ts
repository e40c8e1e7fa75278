/** Short real runs: nano-novice on the shop's tasks and tools, our engine, the store on the disk. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { train } from '../../../../server/runner/training/train';
import type { Metrics } from '../../../../src/core/training/run.types';
import type { RunConfig, Settings } from '../../../../src/core/training/types';
import { RunStore } from '../../../../src/node/runs/store';
import { createExecutor, type Executor } from '../../../../src/node/tools';
import { readTraining } from '../../../../src/node/training-files';
import { type StartedEngine, startEngine } from '../../support/engine';
import { ROOT, temporary } from '../../support/server';

const NOVICE = path.join(ROOT, 'server/nano/models/nano-novice');
const FILE = path.join(ROOT, 'examples/shop/shop.training.json');

describe('a training run of nano-novice', function () {
  this.timeout(600_000);
  const root = path.join(temporary('training'), 'runs');
  let engine: StartedEngine;
  let executor: Executor;
  let config: Omit<RunConfig, 'id' | 'created'>;

  before(async () => {
    fs.mkdirSync(root, { recursive: true });
    engine = await startEngine(
      { novice: NOVICE },
      '--deterministic',
      '--threads',
      '1',
      '--checkpoints',
      root,
    );
    const { config: read, diagnostics } = await readTraining(FILE);
    assert.ok(read, JSON.stringify(diagnostics));
    const { train, validation, test } = read.parts;
    const parts = { train: train.slice(0, 12), validation: validation.slice(0, 4), test: test.slice(0, 3) };
    config = { ...read, parts, settings: { ...read.settings, ...SMALL } };
    executor = createExecutor({ environment: config.environment, folder: config.folder });
  });
  after(async () => {
    await executor?.close();
    await engine?.kill();
  });

  const SMALL: Partial<Settings> = {
    model: 'novice',
    steps: 3,
    tasksPerStep: 2,
    groupSize: 4,
    concurrency: 8,
    evaluation: { every: 3, attempts: 1, recorded: false },
    checkpoints: { every: 1, keep: 2 },
  };

  async function run(store: RunStore): Promise<void> {
    const ports = {
      engine: async () => ({ baseUrl: engine.baseUrl }),
      executor,
      now: () => new Date().toISOString(),
    };
    await train({ store, signal: new AbortController().signal, ports });
  }

  const make = (change: Partial<Settings> = {}) =>
    RunStore.create(root, { ...config, settings: { ...config.settings, ...change } });
  it('learns, measures and evaluates on the real tools', async () => {
    const store = make();
    await run(store);
    const { status } = store;
    assert.equal(status.state, 'done', status.message);
    assert.deepEqual(
      store.metrics().map(({ step }) => step),
      [0, 1, 2, 3],
    );
    const [start, ...steps] = store.metrics();
    assert.equal(start!.evaluation!.realSuccess!.n, 4);
    assert.equal(start!.rollouts, 0);
    for (const row of steps) {
      assert.equal(row.rollouts, 8);
      assert.equal(row.unscored, 0);
      assert.ok(row.tokens.act > 0 && row.entropy.act! > 0);
      assert.ok(row.difference === null || row.difference.mean < 1e-3, 'sampler and learner agree');
      assert.ok(row.groups === row.groupsWithoutSignal || (row.gradientNorm! > 0 && row.learnedTokens > 0));
      assert.ok(Math.abs(sum(row) - row.seconds.total) < 1e-6, 'the phases are the whole step');
    }
    assert.ok(
      steps.some(({ gradientNorm }) => gradientNorm !== null),
      'something was learned',
    );
    assert.ok(steps.at(-1)!.kl.act !== null, 'the divergence is measured where it evaluates');
    assert.deepEqual(
      status.checkpoints.map(({ step }) => step),
      [0, 1, 2, 3],
    );
    assert.equal(status.result!.best.tasks.length, 3);
    const stored = await store.rolloutsOf(1);
    assert.equal(stored.length, 8);
    assert.ok(stored.some(({ outputs }) => outputs.some(({ advantage }) => advantage !== 0)));
    await store.close();
  });

  it('trains each role’s own weights, and only what it samples with the real tools', async () => {
    const both = make({
      variant: 'rehearse-per-role',
      weights: 'lora',
      rank: 2,
      steps: 1,
      learningRate: 3e-3,
    });
    await run(both);
    assert.equal(both.status.state, 'done', both.status.message);
    assert.deepEqual(Object.keys(both.status.checkpoints.at(-1)!.addresses!), ['act', 'rehearse']);
    const real = make({ variant: 'real', steps: 1 });
    await run(real);
    assert.equal(real.status.state, 'done', real.status.message);
    assert.equal(real.metrics()[1]!.outputs.rehearse, 0);
    assert.ok(real.metrics()[1]!.calls > 0);
    for (const store of [both, real]) await store.close();
  });
});

function sum({ seconds: { total, ...phases } }: Metrics): number {
  return Object.values(phases).reduce((all, one) => all + one, 0);
}
