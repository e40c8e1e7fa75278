/** The address that people use: who may, and what passes through to the real engine. */
import assert from 'node:assert/strict';
import http from 'node:http';
import net from 'node:net';
import { sharedServer } from '../support/server';

interface Reply {
  status: number;
  headers: http.IncomingHttpHeaders;
  text: string;
}

describe('the runner', function () {
  this.timeout(180_000);
  let port: number;
  let token: string;

  before(async () => {
    const server = await sharedServer();
    port = Number(new URL(server.url).port);
    token = server.token;
  });

  /** `fetch` would not send these headers. */
  function ask(
    path: string,
    options: { method?: string; headers?: http.OutgoingHttpHeaders; body?: string } = {},
  ): Promise<Reply> {
    const headers = { authorization: `Bearer ${token}`, ...options.headers };
    return new Promise((resolve, reject) => {
      const request = http.request(
        { host: '127.0.0.1', port, path, method: options.method ?? 'GET', headers },
        (response) => {
          let text = '';
          response.on('data', (part) => (text += part));
          response.on('end', () =>
            resolve({ status: response.statusCode!, headers: response.headers, text }),
          );
        },
      );
      request.on('error', reject);
      request.end(options.body);
    });
  }

  const post = (path: string, body: object) =>
    ask(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  const refused: [string, http.OutgoingHttpHeaders, number][] = [
    ['no token', { authorization: '' }, 401],
    ['a wrong token', { authorization: 'Bearer wrong' }, 401],
    ['the engine’s form without Bearer', { authorization: 'Basic x' }, 401],
    ['a name that was pointed at loopback', { host: 'evil.example' }, 421],
    ['another port’s name', { host: '127.0.0.1:1' }, 421],
    ['a web page', { origin: 'https://evil.example' }, 403],
    ['a page without an origin', { origin: 'null' }, 403],
  ];
  for (const [who, headers, status] of refused) {
    it(`refuses ${who}, on every route`, async () => {
      for (const path of ['/health', '/v1/models', '/metrics', '/nowhere']) {
        assert.equal((await ask(path, { headers })).status, status, path);
      }
      assert.equal((await ask('/stop', { method: 'POST', headers })).status, status);
    });
  }

  it('says how it is', async () => {
    const health = JSON.parse((await ask('/health', { headers: { host: `localhost:${port}` } })).text);
    assert.equal(health.engine.state, 'ready');
    assert.equal(health.protocol, 1);
    assert.deepEqual(health.models, ['tiny']);
    assert.equal(health.active, 0);
  });

  it('passes routes of the engine through, and no others', async () => {
    const models = await ask('/v1/models');
    assert.equal(JSON.parse(models.text).data[0].id, 'tiny');
    assert.equal(JSON.parse((await post('/tokenize', { prompt: 'hi' })).text).count > 0, true);
    const ids = JSON.parse((await post('/tokenize', { prompt: 'hi' })).text).tokens;
    assert.equal(JSON.parse((await post('/detokenize', { tokens: ids })).text).prompt, 'hi');
    assert.match((await ask('/metrics')).text, /rehearsal_computed_tokens_total/);
    assert.equal((await ask('/docs')).status, 404);
    assert.equal((await ask('/v1/../health')).status, 404);
    assert.equal((await ask('/stop')).status, 404);
  });

  it('refuses two names at once, and a body without bounds', async () => {
    const twice = await new Promise<string>((resolve, reject) => {
      const socket = net.connect(port, '127.0.0.1', () =>
        socket.write(
          `GET /health HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nHost: evil.example\r\n` +
            `Authorization: Bearer ${token}\r\nConnection: close\r\n\r\n`,
        ),
      );
      socket.once('data', (part) => resolve(String(part)));
      socket.once('error', reject);
    });
    assert.match(twice, /^HTTP\/1\.1 400 /);
    const headers = { 'content-length': String(1 << 30) };
    const status = await new Promise((resolve, reject) => {
      const request = http.request(
        {
          host: '127.0.0.1',
          port,
          path: '/tokenize',
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, ...headers },
        },
        (response) => {
          let text = '';
          response.on('data', (part) => (text += part));
          response.on('end', () => resolve([response.statusCode, JSON.parse(text).error.message]));
        },
      );
      request.on('error', reject);
      request.write('{'); // and never more: the answer does not wait for it
    });
    assert.deepEqual(status, [413, 'A request may have 64 MiB at most.']);
    assert.equal(JSON.parse((await ask('/health')).text).active, 0);
  });

  it('passes refusals of the engine through as they are', async () => {
    const bad = await post('/v1/completions', { prompt: [1], max_tokens: 'many' });
    assert.equal(bad.status, 400);
    assert.equal(JSON.parse(bad.text).error.param, 'max_tokens');
    assert.equal((await post('/v1/completions', { prompt: [1], model: 'nope' })).status, 404);
  });

  it('passes a stream on as it comes, and a client that leaves ends it', async () => {
    const body = JSON.stringify({ prompt: [1, 5], max_tokens: 3000, stream: true, ignore_eos: true });
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const first = await new Promise<string>((resolve, reject) => {
      const request = http.request(
        { host: '127.0.0.1', port, path: '/v1/completions', method: 'POST', headers },
        (response) => {
          response.once('data', (part) => {
            resolve(String(part));
            request.destroy();
          });
        },
      );
      request.on('error', (error) => (request.destroyed ? undefined : reject(error)));
      request.end(body);
    });
    // What has come when the first part is there is a small piece of 3,000 tokens: nothing was held back.
    assert.match(first, /^data: \{/);
    assert.ok(first.split('data: ').length < 200);
    for (let tries = 0; tries < 100; tries++) {
      const running = /^rehearsal_sequences_running (\d+)/m.exec((await ask('/metrics')).text)![1];
      if (running === '0' && JSON.parse((await ask('/health')).text).active === 0) return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    assert.fail('the engine goes on');
  });
});
