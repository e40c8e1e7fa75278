// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written so in the environment file
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { usableEnvironment } from '../../../../src/node/environments';
import { createExecutor } from '../../../../src/node/tools';
import { call, children, closeExecutors, executorOf, freePort, ROOT, until } from './support';

const BIN = path.join(ROOT, 'node_modules/@modelcontextprotocol');
const FILESYSTEM = [process.execPath, path.join(BIN, 'server-filesystem/dist/index.js')];
const odd = (mode: string, more: object = {}) =>
  executorOf({ kind: 'mcp', command: [process.execPath, 'odd-mcp.mjs', mode], timeoutSeconds: 20, ...more });

describe('tools of an MCP server', () => {
  afterEach(closeExecutors);

  it('filesystem: a copy of the folder for each session, under one name', async () => {
    const folder = path.join(ROOT, 'examples/files');
    const config = {
      kind: 'mcp',
      command: [...FILESYSTEM, '${workspace}'],
      workspace: { folder: 'files', as: '/workspace' },
    };
    const executor = executorOf(config, folder);
    const [one, other] = [await executor.open(), await executor.open()];
    const text = { path: '/workspace/new.txt', content: 'hello' };
    assert.deepEqual((await call(one, 'write_file', text)).value, {
      content: 'Successfully wrote to /workspace/new.txt',
    });
    assert.deepEqual((await call(one, 'read_text_file', { path: '/workspace/new.txt' })).value, {
      content: 'hello',
    });
    const unseen = await call(other, 'read_text_file', { path: '/workspace/new.txt' });
    assert.equal(unseen.outcome, 'error');
    assert.deepEqual(unseen.value, { error: "ENOENT: no such file or directory, open '/workspace/new.txt'" });
    await assert.rejects(fs.access(path.join(folder, 'files/new.txt')));
    const denied = await call(one, 'read_text_file', { path: '/etc/passwd' });
    assert.match(JSON.stringify(denied.value), /Access denied/);
    assert.equal(denied.failure, undefined);
    await one.close();
    await other.close();
    await until(() => !children().some((line) => line.includes('server-filesystem')));
  });

  it('filesystem: the records of the example are what it answers', async () => {
    const environment = await usableEnvironment(path.join(ROOT, 'examples/files/files.rehearsal.json'));
    const executor = createExecutor({
      environment: {
        ...environment,
        executor: { ...environment.executor!, command: [...FILESYSTEM, '${workspace}'] },
      },
      folder: path.join(ROOT, 'examples/files'),
    });
    try {
      const names = (await executor.tools())!.map(({ name }) => name);
      for (const { name } of environment.tools) assert.ok(names.includes(name), name);
      for (const { tool, arguments: args, outcome, value } of environment.examples) {
        const session = await executor.open();
        const execution = await session.execute({ tool, arguments: args });
        assert.deepEqual([execution.outcome, execution.value], [outcome, value]);
        await session.close();
      }
    } finally {
      await executor.close();
    }
  });

  it('everything: over streamable HTTP', async () => {
    const port = await freePort();
    const server = spawn(
      process.execPath,
      [path.join(BIN, 'server-everything/dist/index.js'), 'streamableHttp'],
      {
        env: { ...process.env, PORT: String(port) },
        stdio: 'ignore',
      },
    );
    try {
      const url = `http://127.0.0.1:${port}/mcp`;
      await until(() =>
        fetch(url).then(
          () => true,
          () => false,
        ),
      );
      const executor = executorOf({ kind: 'mcp', url, timeoutSeconds: 20 });
      const tools = await executor.tools();
      assert.ok(tools!.some(({ name }) => name === 'echo'));
      const session = await executor.open();
      assert.equal((await call(session, 'echo', { message: 'hi' })).value, 'Echo: hi');
      const sum = await call(session, 'get-sum', { a: 2, b: 3 });
      assert.match(JSON.stringify(sum.value), /5/);
      const bad = await call(session, 'get-sum', { a: 'x' });
      assert.equal(bad.outcome, 'error');
      assert.equal(bad.failure, undefined);
      const structured = await call(session, 'get-structured-content', { location: 'Chicago' });
      assert.equal(typeof structured.value, 'object');
      await session.close();
    } finally {
      server.kill('SIGKILL');
    }
    const gone = executorOf({ kind: 'mcp', url: `http://127.0.0.1:${port}/mcp`, timeoutSeconds: 5 });
    assert.equal((await call(await gone.open(), 'echo', {})).failure?.code, 'unreachable');
  }).timeout(60_000);

  it('are listed over all pages; a schema that does not compile marks its tool only', async () => {
    assert.deepEqual(
      (await odd('pages').tools())!.map(({ name }) => name),
      ['t0', 't1', 't2', 't3', 't4'],
    );
    const executor = odd('bad-schema');
    const [bad, good] = (await executor.tools())!;
    assert.match(bad!.problem!, /strong/);
    assert.equal(good!.problem, undefined);
    assert.deepEqual([good!.readOnly, good!.hinted], [true, true]);
    // Its output schema does not compile either; the answer is what it is.
    assert.deepEqual((await call(await executor.open(), 'bad')).value, { x: 1 });
  });

  it('answer with structured content, text, errors and images', async () => {
    const session = await odd('plain').open();
    assert.deepEqual((await call(session, 'structured')).value, { a: 1 });
    assert.deepEqual((await call(session, 'add')).value, { n: 1 });
    assert.equal((await call(session, 'a')).value, 'plain');
    const failed = await call(session, 'fails');
    assert.deepEqual(
      [failed.outcome, failed.value, failed.failure],
      ['error', { error: 'Order not found' }, undefined],
    );
    const unknown = await call(session, 'unknown');
    assert.equal(unknown.outcome, 'error');
    assert.match(JSON.stringify(unknown.value), /Unknown tool/);
    assert.equal(unknown.failure, undefined);
    assert.ok(Array.isArray((await call(session, 'image')).value));
    assert.match((await call(session, 'noise')).notes!.join(), /debug: here/);
  });

  it('that never initialize, hang or exit fail at the call, and leave no process behind', async () => {
    const never = await odd('never', { timeoutSeconds: 2 }).open();
    assert.equal((await call(never, 'a')).failure?.code, 'timeout');
    await assert.rejects(odd('never', { timeoutSeconds: 2 }).tools(), /not answered within 2 s/);
    const session = await odd('plain', { timeoutSeconds: 5 }).open();
    await call(session, 'add');
    assert.equal((await call(session, 'hang')).failure?.code, 'timeout');
    assert.equal((await call(session, 'exit')).failure?.code, 'crashed');
    const next = await call(session, 'add');
    assert.deepEqual(next.value, { n: 1 });
    assert.match(next.notes!.join(), /started again/);
    await session.close();
    await never.close();
    await until(() => !children().some((line) => line.includes('odd-mcp')));
  });

  it('that change in mid-session say so, and are listed anew', async () => {
    const executor = odd('plain');
    let told = 0;
    executor.onToolsChanged!(() => told++);
    const session = await executor.open();
    await call(session, 'change');
    await until(() => told > 0);
    assert.match((await call(session, 'a')).notes!.join(), /changed its tools/);
  });

  it('that do not start say why', async () => {
    const session = await executorOf({
      kind: 'mcp',
      command: ['no-such-program-here'],
      timeoutSeconds: 5,
    }).open();
    assert.equal((await call(session, 'a')).failure?.code, 'no-start');
  });
});
