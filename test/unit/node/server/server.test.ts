/** Set-up, start, discovery, supervision and stop of the real server. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectPolicy } from '../../../../src/node/policies/connect';
import { findServer, isAlive } from '../../../../src/node/server/discovery';
import { ensureServer, stopServer } from '../../../../src/node/server/ensure';
import { homeAt } from '../../../../src/node/server/home';
import { serverOptions, temporary } from '../../support/server';

const mode = (file: string) => fs.statSync(file).mode & 0o777;

async function until(what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    if (await holds()) return;
    await sleep(100);
  }
  assert.fail(`${what} did not happen`);
}

describe('the local server', function () {
  this.timeout(180_000);
  const home = temporary('home');
  const at = homeAt(home);
  let server: Awaited<ReturnType<typeof ensureServer>>;

  after(() => stopServer(home));

  it('is one, also where two windows start it at the same time', async () => {
    assert.equal(await findServer(home), null);
    const lines: string[] = [];
    const options = await serverOptions(home, { onProgress: (line) => lines.push(line) });
    const [first, second] = await Promise.all([ensureServer(options), ensureServer(options)]);
    assert.equal(first.pid, second.pid);
    assert.equal(first.url, second.url);
    assert.deepEqual(first.models, ['tiny']);
    assert.ok(lines.includes('Starting the server …'));
    server = first;
  });

  it('is found again without being started', async () => {
    const again = await ensureServer(
      await serverOptions(home, { onProgress: () => assert.fail('nothing is to be done') }),
    );
    assert.equal(again.pid, server.pid);
    assert.equal((await findServer(home))!.url, server.url);
  });

  it('keeps its tokens and its address to this user', () => {
    if (process.platform !== 'win32') {
      for (const file of [at.token, at.engineToken, at.discovery, at.log])
        assert.equal(mode(file), 0o600, file);
    }
    assert.match(server.url, /^http:\/\/127\.0\.0\.1:\d+$/);
    assert.ok(!fs.readFileSync(at.log, 'utf8').includes(server.token));
    assert.ok(!fs.readFileSync(at.discovery, 'utf8').includes(server.token));
  });

  it('runs from a copy of the product’s files', async () => {
    const [copy] = fs.readdirSync(at.servers);
    assert.ok(fs.existsSync(path.join(at.servers, copy!, 'runner.mjs')));
    assert.ok(fs.existsSync(path.join(at.servers, copy!, 'server/engine/rehearsal_engine/__main__.py')));
    assert.equal(fs.readdirSync(at.servers).length, 1);
  });

  it('starts its engine again when that dies, and says so meanwhile', async () => {
    const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' };
    const engine = enginePid(server.pid);
    process.kill(engine, 'SIGKILL');
    await until(
      'the death of the engine',
      async () => (await findServer(home))!.health.engine.state !== 'ready',
    );
    const answer = await fetch(`${server.url}/v1/completions`, {
      method: 'POST',
      headers,
      body: '{"prompt": [1]}',
    });
    assert.equal(answer.status, 503);
    assert.ok(Number(answer.headers.get('retry-after')) > 0);
    const { error } = (await answer.json()) as { error: { type: string; message: string } };
    assert.equal(error.type, 'engine_unavailable');
    assert.match(error.message, /being started/);
    await until('another engine', async () => (await findServer(home))!.health.engine.state === 'ready');
    const { health } = (await findServer(home))!;
    assert.equal(health.engine.restarts, 1);
    assert.notEqual(enginePid(server.pid), engine);
    const policy = await connectPolicy({ baseUrl: server.url, apiKey: server.token });
    assert.equal(policy.info.model, 'tiny');
  });

  it('ends its engine with itself, however it ends, and is then started again at the same address', async () => {
    const engine = enginePid(server.pid);
    process.kill(server.pid, 'SIGKILL');
    await until('the end of the engine', () => !isAlive(engine));
    assert.equal(await findServer(home), null);
    const again = await ensureServer(await serverOptions(home));
    assert.notEqual(again.pid, server.pid);
    assert.equal(again.url, server.url);
    assert.equal(again.token, server.token);
    server = again;
  });

  it('stops when told', async () => {
    const engine = enginePid(server.pid);
    assert.equal(await stopServer(home), true);
    assert.ok(!isAlive(server.pid));
    await until('the end of the engine', () => !isAlive(engine));
    assert.ok(!fs.existsSync(at.discovery));
    assert.equal(await stopServer(home), false);
    assert.equal(
      fs.readFileSync(at.port, 'utf8'),
      new URL(server.url).port,
      'the next one is found at the same address',
    );
  });
});

describe('a server that cannot start', function () {
  this.timeout(120_000);

  it('says so where there is no Python that is new enough', async () => {
    const options = await serverOptions(temporary('home'), { python: '/no/such/python' });
    await assert.rejects(ensureServer(options), (error: Error & { code: string; next: string }) => {
      assert.equal(error.code, 'python-missing');
      assert.match(error.message, /3\.11/);
      assert.match(error.next, /REHEARSAL_PYTHON/);
      return true;
    });
  });

  it('says what the engine said where the model cannot be loaded, and leaves nothing running', async () => {
    const home = temporary('home');
    const options = await serverOptions(home, { models: [`broken=${temporary('empty')}`] });
    await assert.rejects(ensureServer(options), (error: Error & { code: string; next: string }) => {
      assert.equal(error.code, 'server-start-failed');
      assert.match(error.message, /broken|empty|model|config/i);
      assert.ok(error.next.includes(homeAt(home).log));
      return true;
    });
    assert.equal(await findServer(home), null);
  });

  it('says what is missing of the product', async () => {
    const options = await serverOptions(temporary('home'), { sourceDir: temporary('nothing') });
    await assert.rejects(
      ensureServer(options),
      (error: Error & { code: string }) => error.code === 'setup-incomplete',
    );
  });

  it('stops waiting when the person cancels', async () => {
    const home = temporary('home');
    const abort = new AbortController();
    const work = ensureServer(
      await serverOptions(home, { signal: abort.signal, onProgress: () => abort.abort() }),
    );
    await assert.rejects(work, (error: Error & { code: string }) => error.code === 'cancelled');
    await stopServer(home);
  });
});

describe('finding a server', () => {
  const write = (text: string) => {
    const home = temporary('home');
    const at = homeAt(home);
    fs.mkdirSync(at.run);
    fs.writeFileSync(at.discovery, text);
    fs.writeFileSync(at.token, 'secret\n', { mode: 0o600 });
    return home;
  };

  for (const [what, text] of [
    ['no JSON', '{"url'],
    ['something else', '[]'],
    ['a process that has ended', JSON.stringify({ url: 'http://127.0.0.1:9', pid: 2 ** 22 + 1 })],
    ['an address where nothing answers', JSON.stringify({ url: 'http://127.0.0.1:9', pid: process.pid })],
    [
      'an address elsewhere, which never sees the token',
      JSON.stringify({ url: 'http://example.com', pid: process.pid }),
    ],
  ]) {
    it(`finds none where the file has ${what}`, async () =>
      assert.equal(await findServer(write(text!)), null));
  }
});

/** The one child of the server. */
function enginePid(parent: number): number {
  for (const name of fs.readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const stat = fs.readFileSync(`/proc/${name}/stat`, 'utf8');
      if (Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === parent) return Number(name);
    } catch {
      // ended meanwhile
    }
  }
  throw new Error(`process ${parent} has no child`);
}
