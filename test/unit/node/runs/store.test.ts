import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { RunReader, runIds } from '../../../../src/node/runs/reader';
import { RunStore } from '../../../../src/node/runs/store';
import { metricsRow, newRun, rolloutRecord } from '../../support/training';

describe('the folder of a run', () => {
  let root: string;
  const open: RunStore[] = [];
  beforeEach(() => {
    root = fs.mkdtempSync(path.join(os.tmpdir(), 'runs-'));
  });
  afterEach(async () => {
    for (const store of open.splice(0)) await store.close();
    fs.rmSync(root, { recursive: true, force: true });
  });
  const created = (...args: Parameters<typeof newRun>) => {
    const store = RunStore.create(root, newRun(...args));
    open.push(store);
    return store;
  };
  const opened = (id: string) => {
    const store = RunStore.open(root, id);
    open.push(store);
    return store;
  };

  it('is called after the run, each launch with a number of its own', () => {
    const ids = [
      created({ name: 'Shop: Näher! ' }),
      created({ name: 'Shop: Näher! ' }),
      created({ name: '///' }),
    ];
    assert.deepEqual(
      ids.map(({ id }) => id),
      ['shop-naher-1', 'shop-naher-2', 'run-1'],
    );
    assert.deepEqual(runIds(root).sort(), ['run-1', 'shop-naher-1', 'shop-naher-2']);
    assert.equal(ids[1]!.config.id, 'shop-naher-2');
  });

  it('never makes a path of an id', () => {
    created();
    for (const id of [
      '..',
      '../shop-1',
      'shop-1/',
      '/etc',
      'a/b',
      '.hidden',
      '',
      'SHOP-1',
      'shop-1\0',
      'x'.repeat(99),
    ])
      assert.throws(() => new RunReader(root, id), { code: 'run-unknown' }, JSON.stringify(id));
  });

  it('reads back what was written', async () => {
    const store = created();
    const seen: string[] = [];
    store.events.on('status', ({ state }) => seen.push(state));
    store.events.on('metrics', ({ step }) => seen.push(`step ${step}`));
    store.events.on('rewind', (rows) => seen.push(`rows ${rows}`));
    store.setStatus({ state: 'running', step: 1 });
    await store.appendRollouts([rolloutRecord(1, 0), rolloutRecord(1, 1)]);
    for (const step of [0, 1, 2]) await store.appendMetrics(metricsRow(step));
    await store.truncateMetrics(1);
    await store.appendMetrics(metricsRow(2, { reward: 1 }));
    const reader = new RunReader(root, store.id);
    assert.deepEqual(reader.config, store.config);
    assert.deepEqual(reader.status, { ...store.status, state: 'running', step: 1 });
    assert.deepEqual(reader.metrics(), [metricsRow(0), metricsRow(1), metricsRow(2, { reward: 1 })]);
    assert.deepEqual(reader.metrics(2), [metricsRow(2, { reward: 1 })]);
    assert.deepEqual(await reader.rolloutsOf(1), [rolloutRecord(1, 0), rolloutRecord(1, 1)]);
    assert.deepEqual(await reader.rollout(1, 1), rolloutRecord(1, 1));
    assert.equal(await reader.rollout(1, 2), null);
    assert.deepEqual(seen, ['running', 'step 0', 'step 1', 'step 2', 'rows 2', 'step 2']);
  });

  it('keeps a rollout once, however often it is stored', async () => {
    const store = created();
    await store.appendRollouts([rolloutRecord(1, 0)]);
    await store.appendRollouts([rolloutRecord(1, 0, { seed: 99 }), rolloutRecord(1, 1)]);
    assert.deepEqual(await store.rolloutsOf(1), [rolloutRecord(1, 0), rolloutRecord(1, 1)]);
  });

  it('has one writer', async () => {
    const store = created();
    assert.throws(() => RunStore.open(root, store.id), { code: 'run-taken' });
    await store.close();
    opened(store.id);
  });

  it('is taken over from a program that is gone, and the one that slept may write no more', async () => {
    const store = created();
    const gone = spawnSync(process.execPath, ['-e', '']).pid;
    const lock = path.join(store.folder, 'lock');
    fs.writeFileSync(lock, JSON.stringify({ pid: gone, host: os.hostname(), nonce: 'x' }));
    const next = opened(store.id);
    await next.appendMetrics(metricsRow(0));
    await assert.rejects(store.appendMetrics(metricsRow(0)), { code: 'run-taken' });
    assert.throws(() => store.setStatus({ step: 9 }), { code: 'run-taken' });
    assert.equal(new RunReader(root, store.id).metrics().length, 1);
  });

  it('is whole after a kill at any byte of any of its files', async function () {
    this.timeout(120_000);
    const store = created();
    const { folder, id } = store;
    const sizes = () =>
      Object.fromEntries(
        ['metrics.jsonl', 'rollouts.jsonl', 'rollouts.index'].map((name) => [
          name,
          fs.existsSync(path.join(folder, name)) ? fs.statSync(path.join(folder, name)).size : 0,
        ]),
      );
    await store.appendRollouts([rolloutRecord(1, 0), rolloutRecord(1, 1)]);
    await store.appendMetrics(metricsRow(1));
    const before = sizes();
    await store.appendRollouts([rolloutRecord(2, 0), rolloutRecord(2, 1)]);
    await store.appendMetrics(metricsRow(2));
    const after = sizes();
    await store.close();
    const whole = new Map(Object.keys(after).map((name) => [name, fs.readFileSync(path.join(folder, name))]));
    const restore = () => {
      for (const [name, data] of whole) fs.writeFileSync(path.join(folder, name), data);
    };
    for (const name of Object.keys(after)) {
      for (let cut = before[name]!; cut < after[name]!; cut++) {
        restore();
        fs.truncateSync(path.join(folder, name), cut);
        // The index is written last: while rollouts are, it does not have them.
        if (name === 'rollouts.jsonl')
          fs.truncateSync(path.join(folder, 'rollouts.index'), before['rollouts.index']!);
        const reader = new RunReader(root, id);
        const torn = await RunStore.open(root, id);
        const where = `${name} cut at ${cut}`;
        for (const one of [reader, torn]) {
          assert.deepEqual(await one.rolloutsOf(1), [rolloutRecord(1, 0), rolloutRecord(1, 1)], where);
          assert.deepEqual(
            [...one.steps()],
            name === 'metrics.jsonl'
              ? [
                  [1, 2],
                  [2, 2],
                ]
              : [[1, 2]],
            where,
          );
          assert.deepEqual(one.metrics().length, name === 'metrics.jsonl' ? 1 : 2, where);
        }
        await torn.appendRollouts([rolloutRecord(2, 0), rolloutRecord(2, 1)]);
        await torn.truncateMetrics(1);
        await torn.appendMetrics(metricsRow(2));
        await torn.close();
        for (const [file, data] of whole)
          assert.ok(data.equals(fs.readFileSync(path.join(folder, file))), `${file} after ${where}`);
      }
    }
  });

  it('makes an index again that is missing, empty or of something else', async () => {
    const store = created();
    const { folder, id } = store;
    await store.appendRollouts([rolloutRecord(1, 0), rolloutRecord(1, 1)]);
    await store.appendRollouts([rolloutRecord(2, 0)]);
    await store.close();
    const index = path.join(folder, 'rollouts.index');
    const right = fs.readFileSync(index, 'utf8');
    const wrong: (string | null)[] = [
      null,
      '',
      'nonsense\n',
      right.replace('[[1,0,', '[[3,0,'),
      right.replace(/\d+\]\]/, '7]]'),
      '{"offset":0,"rollouts":[[1,0,999999]]}\n',
    ];
    for (const text of wrong) {
      if (text === null) fs.rmSync(index);
      else fs.writeFileSync(index, text);
      assert.deepEqual(await new RunReader(root, id).rolloutsOf(2), [rolloutRecord(2, 0)], String(text));
      const again = RunStore.open(root, id);
      await again.appendRollouts([rolloutRecord(2, 1)]);
      assert.equal((await again.rolloutsOf(2)).length, 2, String(text));
      await again.close();
      const data = path.join(folder, 'rollouts.jsonl');
      fs.writeFileSync(
        data,
        fs
          .readFileSync(data, 'utf8')
          .split('\n')
          .slice(0, 3)
          .map((line) => `${line}\n`)
          .join(''),
      );
    }
  });

  it('loses only the rollouts that are damaged, whether it has an index or not', async () => {
    const store = created();
    const { folder, id } = store;
    await store.appendRollouts([rolloutRecord(1, 0), rolloutRecord(1, 1)]);
    await store.appendRollouts([rolloutRecord(2, 0)]);
    await store.close();
    const data = path.join(folder, 'rollouts.jsonl');
    const bytes = fs.readFileSync(data);
    bytes.fill(0xff, 5, 9);
    fs.writeFileSync(data, bytes);
    for (const index of ['there', 'gone']) {
      if (index === 'gone') fs.rmSync(path.join(folder, 'rollouts.index'));
      const reader = new RunReader(root, id);
      assert.deepEqual(await reader.rolloutsOf(1), [rolloutRecord(1, 1)], index);
      assert.deepEqual(await reader.rolloutsOf(2), [rolloutRecord(2, 0)], index);
      const again = RunStore.open(root, id);
      await again.appendRollouts([rolloutRecord(3, index === 'gone' ? 1 : 0)]);
      await again.close();
      assert.deepEqual(await new RunReader(root, id).rolloutsOf(2), [rolloutRecord(2, 0)], index);
    }
    assert.equal((await new RunReader(root, id).rolloutsOf(3)).length, 2);
  });

  it('tells a full disk, keeps what was there, and goes on once there is room', function () {
    if (process.platform === 'win32') return this.skip();
    const { id, folder } = created();
    // A file may not grow beyond a bound: what a full disk does, for a child alone.
    const script = `
      import { RunStore } from ${JSON.stringify(path.resolve('src/node/runs/store.ts'))};
      import { metricsRow, newRun, rolloutRecord } from ${JSON.stringify(path.resolve('test/unit/support/training.ts'))};
      const store = RunStore.create(${JSON.stringify(path.dirname(folder))}, newRun({ name: 'full' }));
      process.on('SIGXFSZ', () => {});
      for (let step = 1; ; step++) {
        try { await store.appendRollouts([rolloutRecord(step, 0), rolloutRecord(step, 1)]); }
        catch (error) { console.log(JSON.stringify({ step, code: error.code, message: error.message, next: error.next, steps: [...store.steps()].length })); break; }
      }
      await store.close();
    `;
    const file = path.join(root, 'full.mts');
    fs.writeFileSync(file, script);
    const { stdout, stderr } = spawnSync(
      'sh',
      ['-c', `ulimit -f 16; exec "${process.execPath}" --import tsx "${file}"`],
      {
        encoding: 'utf8',
        env: { ...process.env, TSX_DISABLE_CACHE: '1' },
      },
    );
    const told = JSON.parse(stdout || `"${stderr}"`);
    assert.equal(told.code, 'run-unwritable', stderr);
    assert.match(`${told.message} ${told.next}`, /cannot be written to .*full-1.*Free space/);
    assert.equal(told.steps, told.step - 1);
    const store = opened('full-1');
    assert.equal([...store.steps()].length, told.step - 1);
    assert.ok(id);
  });

  it('tells a folder that cannot be written', () => {
    const file = path.join(root, 'a-file');
    fs.writeFileSync(file, '');
    assert.throws(() => RunStore.create(path.join(file, 'runs'), newRun()), {
      code: 'run-unwritable',
      message: /cannot be written to .*a-file/,
    });
  });
});
