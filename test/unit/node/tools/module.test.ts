import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { usableEnvironment } from '../../../../src/node/environments';
import { createExecutor } from '../../../../src/node/tools';
import { call, children, closeExecutors, executorOf, ROOT, until } from './support';

const odd = (more: object = {}) =>
  executorOf({ kind: 'module', path: 'odd-module.mjs', timeoutSeconds: 20, ...more });

describe('tools as a module', () => {
  afterEach(closeExecutors);

  it('run the shop: what matters about it holds, and sessions do not see each other', async () => {
    const folder = path.join(ROOT, 'examples/shop');
    const environment = await usableEnvironment(path.join(folder, 'shop.rehearsal.json'));
    const executor = createExecutor({ environment, folder });
    try {
      const [one, other] = await Promise.all([executor.open(), executor.open()]);
      const missing = await call(one, 'get_order', { order_id: 'W4284542' });
      assert.deepEqual([missing.outcome, missing.value], ['error', { error: 'Order not found' }]);
      const shipped = await call(one, 'cancel_order', { order_id: '#W7263910' });
      assert.deepEqual(shipped.value, { error: 'Order is shipped and cannot be cancelled' });
      const cancelled = await call(one, 'cancel_order', { order_id: '#W4284542' });
      assert.deepEqual(cancelled.value, { order_id: '#W4284542', status: 'cancelled', refund: 64 });
      const seen = await Promise.all(
        [one, other].map((session) => call(session, 'get_order', { order_id: '#W4284542' })),
      );
      assert.deepEqual(
        seen.map(({ value }) => (value as { status: string }).status),
        ['cancelled', 'pending'],
      );
      const state = (await one.state()) as { orders: Record<string, { status: string }> };
      assert.equal(state.orders['#W4284542']!.status, 'cancelled');
    } finally {
      await executor.close();
    }
  });

  it('run the flights: basic economy cannot be changed', async () => {
    const folder = path.join(ROOT, 'examples/flights');
    const environment = await usableEnvironment(path.join(folder, 'flights.rehearsal.json'));
    const executor = createExecutor({ environment, folder });
    try {
      const session = await executor.open();
      for (const { tool, arguments: args, value, outcome, afterWrite } of environment.examples) {
        if (afterWrite) continue;
        const execution = await (await executor.open()).execute({ tool, arguments: args });
        assert.deepEqual([execution.outcome, execution.value], [outcome, value], tool);
      }
      assert.ok(environment.examples.some(({ value }) => /basic economy/i.test(JSON.stringify(value))));
      await session.close();
    } finally {
      await executor.close();
    }
  });

  it('let the program that closes them go on, also where it waits for nothing else', async () => {
    const module = (name: string) => JSON.stringify(pathToFileURL(path.join(ROOT, name)).href);
    const program = `
      import { usableEnvironment } from ${module('src/node/environments.ts')};
      import { createExecutor } from ${module('src/node/tools/index.ts')};
      const environment = await usableEnvironment('examples/shop/shop.rehearsal.json');
      const executor = createExecutor({ environment, folder: 'examples/shop' });
      const session = await executor.open();
      await session.execute({ tool: 'get_order', arguments: { order_id: '#W4284542' } });
      await session.close();
      await executor.close();
      console.log('went on');`;
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--import', 'tsx', '--input-type=module', '--eval', program],
      { cwd: ROOT },
    );
    assert.equal(stdout, 'went on\n');
  }).timeout(60_000);

  it('begin in the state of the task: a value, or a file beside the environment', async () => {
    const executor = odd({ state: { n: 5 } });
    assert.deepEqual((await call(await executor.open(), 'add')).value, { n: 6 });
    assert.deepEqual((await call(await executor.open({ n: 40 }), 'add', { by: 2 })).value, { n: 42 });
    await assert.rejects(executor.open('../../../package.json'), /not beside the environment/);
    await assert.rejects(executor.open('gone.json'), /there is no gone.json/);
  });

  it('that throw answer with an error', async () => {
    const session = await odd().open();
    assert.deepEqual(await call(session, 'throws').then(({ value, failure }) => [value, failure]), [
      { error: 'Order not found' },
      undefined,
    ]);
    assert.deepEqual((await call(session, 'throws_text')).value, { error: 'just a text' });
    const said = await call(session, 'says_error');
    assert.equal(said.outcome, 'error');
  });

  for (const tool of ['loops', 'never']) {
    it(`that ${tool === 'loops' ? 'loop for ever' : 'never answer'} are stopped, and the session goes on where it was`, async () => {
      const session = await odd({ timeoutSeconds: 3 }).open();
      await call(session, 'add', { by: 3 });
      const stopped = await call(session, tool);
      assert.equal(stopped.failure?.code, 'timeout');
      assert.match(JSON.stringify(stopped.value), /not answered within 3 s/);
      const next = await call(session, 'add');
      assert.deepEqual(next.value, { n: 4 });
      assert.match(next.notes!.join(), /made again/);
    });
  }

  it('that allocate without bound are stopped, and the session goes on', async () => {
    const session = await odd({ memoryMB: 64 }).open();
    await call(session, 'add');
    assert.equal((await call(session, 'allocates')).failure?.code, 'memory');
    assert.deepEqual((await call(session, 'add')).value, { n: 2 });
  });

  it('that allocate outside of the heap take their process with them, and nothing else', async () => {
    const executor = odd({ memoryMB: 16 });
    const [session, other] = [await executor.open(), await executor.open()];
    await call(other, 'add');
    assert.equal((await call(session, 'allocates_outside')).failure?.code, 'memory');
    assert.deepEqual((await call(session, 'add')).value, { n: 1 });
    assert.deepEqual((await call(other, 'add')).value, { n: 2 });
  });

  it('that exit, answer NaN, a cycle or nesting without end fail at that call', async () => {
    const session = await odd().open();
    assert.equal((await call(session, 'exits')).failure?.code, 'crashed');
    assert.match((await call(session, 'nan')).failure!.message, /the number NaN/);
    assert.match((await call(session, 'cycle')).failure!.message, /contains itself/);
    assert.match((await call(session, 'deep')).failure!.message, /nested deeper/);
    assert.equal((await call(session, 'gone')).failure?.code, 'no-tool');
    assert.deepEqual((await call(session, 'nothing')).value, null);
    assert.deepEqual((await call(session, 'add')).value, { n: 1 });
  });

  it('answer 10 MB, HTML and control characters as they are', async () => {
    const session = await odd().open();
    const { value, outcome } = await call(session, 'large');
    assert.equal(outcome, 'result');
    assert.equal((value as { text: string }).text.length, 10 * 2 ** 20);
    assert.equal((await call(session, 'html')).value, '<script>alert(1)</script>');
    assert.equal((await call(session, 'ansi')).value, '\u001b[31mred\u001b[0m');
  });

  it('cannot write files or read elsewhere, and what they print is a note', async () => {
    const session = await odd().open();
    const { outcome, value } = await call(session, 'writes');
    assert.equal(outcome, 'error');
    assert.match(JSON.stringify(value), /restricted|denied|permission/i);
    await assert.rejects(fs.access(path.join(os.tmpdir(), 'rehearsal-odd-module.txt')));
    const read = await call(session, 'reads');
    assert.match(JSON.stringify(read.value), /restricted|denied|permission/i);
    const printed = await call(session, 'prints');
    assert.deepEqual([printed.value, printed.notes], [{ ok: true }, ['It printed: on the way']]);
    assert.equal((await call(session, 'nothing')).notes, undefined);
  });

  it('are served by one worker after another session, but only where nothing was changed', async () => {
    const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'rehearsal-module-'));
    try {
      await fs.writeFile(
        path.join(folder, 'tools.mjs'),
        `import { threadId } from 'node:worker_threads';
        export const look = (_, s) => ({ threadId, n: s.n });
        export const write = (_, s) => ({ threadId, n: ++s.n });
        export const sneak = (_, s) => ({ threadId, n: ++s.n });`,
      );
      const tools = ['look', 'write', 'sneak'].map((name) => ({
        name,
        description: '',
        parameters: { type: 'object' },
        readOnly: name !== 'write',
      }));
      const executor = executorOf({ kind: 'module', path: 'tools.mjs', state: { n: 0 } }, folder, { tools });
      const alone = async (tool: string, state?: { n: number }) => {
        const session = await executor.open(state);
        const { value } = await call(session, tool);
        await session.close();
        return value as { threadId: number; n: number };
      };
      const first = await alone('look');
      assert.deepEqual(await alone('look'), first, 'the same worker');
      const other = await alone('look', { n: 5 });
      assert.deepEqual(
        [other.n, other.threadId === first.threadId],
        [5, false],
        'another state, another worker',
      );
      for (const tool of ['write', 'sneak']) {
        const changed = await alone(tool);
        assert.equal(changed.n, 1);
        const after = await alone('look');
        assert.deepEqual([after.n, after.threadId === changed.threadId], [0, false], tool);
      }
      const open = await Promise.all([executor.open(), executor.open()]);
      const seen = await Promise.all(open.map(async (session) => (await call(session, 'look')).value));
      const ids = seen.map((value) => (value as { threadId: number }).threadId);
      assert.notEqual(ids[0], ids[1], 'two at once are two workers');
    } finally {
      await closeExecutors();
      await fs.rm(folder, { recursive: true });
    }
  });

  it('are loaded again when the file is saved, with their state', async () => {
    const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'rehearsal-module-'));
    try {
      const file = path.join(folder, 'tools.mjs');
      await fs.writeFile(path.join(folder, 'step.mjs'), 'export const step = 1;');
      await fs.writeFile(
        file,
        'import { step } from "./step.mjs"; export const add = (_, s) => ({ n: (s.n = (s.n ?? 0) + step) });',
      );
      const executor = executorOf({ kind: 'module', path: 'tools.mjs' }, folder);
      const session = await executor.open();
      await call(session, 'add');
      const before = await executor.identity();
      await fs.writeFile(path.join(folder, 'step.mjs'), 'export const step = 10;');
      const next = await call(session, 'add');
      // Both calls were made with what the module is now.
      assert.deepEqual(next.value, { n: 20 });
      assert.match(next.notes!.join(), /changed and was loaded again/);
      assert.notEqual((await executor.identity()).hash, before.hash);
    } finally {
      await fs.rm(folder, { recursive: true });
    }
  });

  it('of a file that is missing or broken say so at the call', async () => {
    await assert.rejects(executorOf({ kind: 'module', path: 'gone.mjs' }).open(), /there is no gone.mjs/);
    await assert.rejects(executorOf({ kind: 'module', path: '/etc/hostname' }).open(), /not beside/);
    const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'rehearsal-module-'));
    try {
      await fs.writeFile(path.join(folder, 'tools.mjs'), 'export const a = ;');
      const session = await executorOf({ kind: 'module', path: 'tools.mjs' }, folder).open();
      const broken = await call(session, 'a');
      assert.equal(broken.failure?.code, 'crashed');
      assert.match(broken.failure!.message, /Unexpected token/);
      await fs.writeFile(path.join(folder, 'tools.mjs'), 'export const a = () => 1;');
      assert.equal((await call(session, 'a')).value, 1);
    } finally {
      await fs.rm(folder, { recursive: true });
    }
  });

  it('are stopped when a person cancels, and gone when closed', async () => {
    const executor = odd();
    const session = await executor.open();
    await call(session, 'add');
    const abort = new AbortController();
    const running = session.execute({ tool: 'loops', arguments: {} }, abort.signal);
    abort.abort();
    assert.equal((await running).failure?.code, 'cancelled');
    assert.deepEqual((await call(session, 'add')).value, { n: 2 });
    await session.close();
    await executor.close();
    await until(() => !children().some((line) => line.includes('host.mjs')));
  });
});
