/** Files that a run was made from are edited while it runs: nano-novice on a copy of the shop, our engine, its tools. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { train } from '../../../../server/runner/training/train';
import type { Metrics } from '../../../../src/core/training/run.types';
import type { Settings } from '../../../../src/core/training/types';
import { RunStore } from '../../../../src/node/runs/store';
import { createExecutor } from '../../../../src/node/tools';
import { readTraining } from '../../../../src/node/training-files';
import { type StartedEngine, startEngine } from '../../support/engine';
import { ROOT, temporary } from '../../support/server';

describe('a training run whose files are changed', function () {
  this.timeout(600_000);
  const home = temporary('changed-files');
  const root = path.join(home, 'runs');
  const shop = path.join(home, 'shop');
  const at = (name: string) => path.join(shop, name);
  let engine: StartedEngine;

  before(async () => {
    fs.mkdirSync(root);
    const models = { 'nano-novice': path.join(ROOT, 'server/nano/models/nano-novice') };
    engine = await startEngine(models, '--deterministic', '--threads', '1', '--checkpoints', root);
  });
  beforeEach(() => {
    fs.rmSync(shop, { recursive: true, force: true });
    fs.cpSync(path.join(ROOT, 'examples/shop'), shop, { recursive: true });
  });
  after(() => engine?.kill());

  /** As it is launched: from what the files say now. */
  async function launch(change: Partial<Settings> = {}): Promise<RunStore> {
    const { config, diagnostics } = await readTraining(at('shop.training.json'));
    assert.ok(config, JSON.stringify(diagnostics));
    const { train, validation } = config.parts;
    return RunStore.create(root, {
      ...config,
      parts: { train: train.slice(0, 4), validation: validation.slice(0, 1), test: [] },
      settings: {
        ...config.settings,
        steps: 3,
        tasksPerStep: 2,
        groupSize: 2,
        evaluation: { every: 3, attempts: 1, recorded: false },
        checkpoints: { every: 1, keep: 2 },
        ...change,
      },
    });
  }

  /** Until it ends; `then` hears of each row, and stops the run by giving false. */
  async function run(store: RunStore, then: (row: Metrics) => unknown = () => {}): Promise<void> {
    const { environment, folder } = store.config;
    const executor = createExecutor({ environment, folder });
    const abort = new AbortController();
    const look = (row: Metrics) => then(row) === false && abort.abort();
    store.events.on('metrics', look);
    const ports = {
      engine: async () => ({ baseUrl: engine.baseUrl }),
      executor,
      now: () => new Date().toISOString(),
    };
    await train({ store, signal: abort.signal, ports });
    store.events.off('metrics', look);
    await executor.close();
  }

  const lasting = (store: RunStore) =>
    store.metrics().map(({ time, seconds, evaluation, ...row }) => ({
      ...row,
      evaluation: evaluation && { ...evaluation, seconds: 0 },
    }));

  it('goes on with the tasks and the environment that it was launched with, also after a stop', async () => {
    const calm = await launch();
    await run(calm);
    assert.equal(calm.status.state, 'done', calm.status.message);

    const edited = await launch();
    await run(edited, ({ step }) => {
      if (step === 1) rewrite();
      return step < 2;
    });
    assert.equal(edited.status.state, 'stopped');
    await edited.close();
    const again = RunStore.open(root, edited.id);
    await run(again);
    assert.equal(again.status.state, 'done', again.status.message);
    assert.deepEqual(lasting(again), lasting(calm));
    for (const step of [1, 2, 3])
      assert.deepEqual(await again.rolloutsOf(step), await calm.rolloutsOf(step), `step ${step}`);
    assert.deepEqual(again.status.warnings, calm.status.warnings, 'nothing is the matter with such a run');

    const next = await launch();
    assert.equal(next.config.environment.policy, 'Say nothing.', 'only the next one has what was written');
    assert.deepEqual(
      next.config.parts.train.map(({ id }) => id),
      ['another'],
    );
    for (const store of [calm, again, next]) await store.close();
  });

  /** Everything that the run was made from becomes another thing. */
  function rewrite(): void {
    const task = { id: 'another', instruction: 'Sing.', checks: [{ kind: 'answer', contains: 'la' }] };
    fs.writeFileSync(at('training/train.jsonl'), `${JSON.stringify(task)}\n`);
    fs.writeFileSync(at('policy.md'), 'Say nothing.');
    const file = fs.readFileSync(at('shop.training.json'), 'utf8');
    fs.writeFileSync(at('shop.training.json'), file.replace('{', '{\n  "groupSize": 3,'));
  }

  it('says once where a state that its tasks begin in was changed, and goes on', async () => {
    const store = await launch({
      tasksPerStep: 1,
      evaluation: { every: 1, attempts: 1, recorded: false },
    });
    const state = store.config.parts.validation[0]!.state as string;
    await run(store, ({ step }) => {
      if (step === 1) fs.writeFileSync(at(state), '{"orders": {}, "customers": {}, "products": {}}');
    });
    assert.equal(store.status.state, 'done', store.status.message);
    const told = store.status.warnings.filter(({ code }) => code === 'task-changed');
    assert.deepEqual(told, [
      {
        step: 2,
        code: 'task-changed',
        message: `${state} was changed since the run began: figures from before and after do not compare.`,
      },
    ]);
    assert.deepEqual(
      store.metrics().map(({ warnings }) => warnings.filter(({ code }) => code === 'task-changed').length),
      [0, 0, 1, 0],
    );
    await store.close();
  });
});
