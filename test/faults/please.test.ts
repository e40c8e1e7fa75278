/** The run of examples/shop that goes wrong on purpose, for real: ten steps or so, a minute. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { train } from '../../server/runner/training/train';
import { RunStore } from '../../src/node/runs/store';
import { createExecutor } from '../../src/node/tools';
import { readTraining } from '../../src/node/training-files';
import { type StartedEngine, startEngine } from '../unit/support/engine';
import { ROOT, temporary } from '../unit/support/server';

describe('a run whose reward can be pleased', function () {
  this.timeout(20 * 60_000);
  let engine: StartedEngine | undefined;
  after(() => engine?.kill());

  it('is stopped once it pleases, and keeps the checkpoint of the best success on the real tools', async () => {
    const file = path.join(ROOT, 'examples/shop/please.training.json');
    // By the tenth step, run after run: other machines round otherwise, so there is room for twice as many.
    const { config } = await readTraining(file, { seed: 3, steps: 20 });
    const { environment, settings, parts, folder } = config!;
    const runs = temporary('runs');
    engine = await startEngine(
      { 'nano-novice': path.join(ROOT, 'server/nano/models/nano-novice') },
      ...['--threads', '1', '--checkpoints', runs],
    );
    const store = RunStore.create(runs, {
      ...config!,
      parts: { ...parts, test: [] },
      settings: { ...settings, onPleasing: 'stop', evaluation: { ...settings.evaluation, recorded: false } },
    });
    const executor = createExecutor({ environment, folder });
    try {
      const ports = {
        executor,
        now: () => new Date().toISOString(),
        engine: async () => ({ baseUrl: engine!.baseUrl, apiKey: '' }),
      };
      await train({ store, ports, signal: new AbortController().signal });
      const { state, step, message, warnings, bestStep, checkpoints } = store.status;
      assert.equal(state, 'stopped');
      assert.match(message, /learned to please: .*records say .*success on the real tools fell from/);
      assert.equal(warnings.find(({ code }) => code === 'pleasing')?.step, step);
      assert.ok(step <= bestStep! + 10, `stopped at step ${step}, best ${bestStep}`);
      const best = checkpoints.find((one) => one.best)!;
      const others = checkpoints.flatMap(({ success }) => success?.value ?? []);
      assert.ok(best.kept && best.success!.value >= Math.max(...others));
    } finally {
      await executor.close();
      await store.close();
    }
  });
});
