// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written so in the environment file
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { openApiRoutes, requestOf } from '../../../../src/node/tools/http/routes';
import { call, closeExecutors, executorOf, freePort, ROOT, until } from './support';

describe('tools as requests', () => {
  afterEach(closeExecutors);

  describe('to json-server', () => {
    let server: ChildProcess;
    let folder: string;
    let url: string;

    before(async function () {
      this.timeout(60_000);
      folder = await fs.mkdtemp(path.join(os.tmpdir(), 'rehearsal-http-'));
      const db = {
        orders: [
          { id: 1, status: 'pending', total: 64 },
          { id: 2, status: 'shipped', total: 12 },
        ],
      };
      await fs.writeFile(path.join(folder, 'db.json'), JSON.stringify(db));
      const port = await freePort();
      url = `http://127.0.0.1:${port}`;
      const bin = path.join(ROOT, 'node_modules/json-server/lib/cli/bin.js');
      server = spawn(process.execPath, [bin, 'db.json', '--port', String(port), '--host', '127.0.0.1'], {
        cwd: folder,
        stdio: 'ignore',
      });
      await until(
        () =>
          fetch(url).then(
            () => true,
            () => false,
          ),
        50_000,
      );
    });
    after(async () => {
      server.kill('SIGKILL');
      await fs.rm(folder, { recursive: true, force: true });
    });

    it('read, search, change and miss', async () => {
      const tools = {
        get_order: { url: '/orders/{id}' },
        list_orders: { url: '/orders' },
        change_order: { method: 'PATCH', url: '/orders/{id}' },
      };
      const session = await executorOf({ kind: 'http', url, tools }).open();
      assert.deepEqual((await call(session, 'get_order', { id: 1 })).value, {
        id: 1,
        status: 'pending',
        total: 64,
      });
      const found = await call(session, 'list_orders', { status: 'shipped' });
      assert.deepEqual(found.value, [{ id: 2, status: 'shipped', total: 12 }]);
      const changed = await call(session, 'change_order', { id: 2, status: 'returned' });
      assert.equal((changed.value as { status: string }).status, 'returned');
      const missing = await call(session, 'get_order', { id: 9 });
      assert.equal(missing.outcome, 'error');
      assert.equal(missing.failure, undefined);
      assert.deepEqual(missing.notes, ['HTTP 404']);
      assert.equal((await call(session, 'get_order', {})).failure?.code, 'bad-arguments');
    });
  });

  describe('to a server that misbehaves', () => {
    let server: http.Server;
    let other: http.Server;
    let url: string;
    let elsewhere: string;
    let busy = 0;
    const seen: { url?: string; method?: string; authorization?: string }[] = [];

    before(async () => {
      const listen = (one: http.Server) =>
        new Promise<string>((resolve) => {
          one.listen(0, '127.0.0.1', () =>
            resolve(`http://127.0.0.1:${(one.address() as AddressInfo).port}`),
          );
        });
      other = http.createServer((request, response) => {
        seen.push({ url: request.url, authorization: request.headers.authorization });
        response.end('{"secret": true}');
      });
      elsewhere = await listen(other);
      server = http.createServer((request, response) => {
        const { pathname } = new URL(request.url!, 'http://x');
        seen.push({ url: request.url, method: request.method, authorization: request.headers.authorization });
        const send = (status: number, headers: http.OutgoingHttpHeaders, body: string | Buffer = '') => {
          response.writeHead(status, headers).end(body);
        };
        if (pathname === '/away') send(302, { location: `${elsewhere}/stolen` });
        else if (pathname === '/echo')
          send(401, {}, JSON.stringify({ error: `no such key: ${request.headers.authorization}` }));
        else if (pathname === '/moved') send(307, { location: '/ok' });
        else if (pathname === '/circle') send(302, { location: '/circle' });
        else if (pathname === '/busy')
          busy++ < 1 ? send(429, { 'retry-after': '0' }) : send(200, {}, '{"ok": true}');
        else if (pathname === '/closed') send(429, { 'retry-after': '3600' });
        else if (pathname === '/broken') {
          const page = '<html><style>p {}</style><h1>Internal error</h1><p>sorry</p></html>';
          send(500, { 'content-type': 'text/html' }, page);
        } else if (pathname === '/binary') send(200, {}, Buffer.from([0xff, 0xfe, 0x00]));
        else if (pathname === '/empty') send(204, {});
        else if (pathname === '/cut') {
          response.writeHead(200, { 'content-length': '100' });
          response.write('{');
          setTimeout(() => response.destroy(), 50);
        } else if (pathname === '/hang') return;
        else send(200, { 'content-type': 'application/json' }, '{"ok": true}');
      });
      url = await listen(server);
    });
    after(() => {
      for (const one of [server, other]) {
        one.closeAllConnections();
        one.close();
      }
    });
    beforeEach(() => {
      seen.length = 0;
      busy = 0;
    });

    const names = [
      'away',
      'moved',
      'echo',
      'circle',
      'busy',
      'closed',
      'broken',
      'binary',
      'empty',
      'cut',
      'hang',
      'ok',
    ];
    const open = (more: object = {}) => {
      const tools = Object.fromEntries(names.map((name) => [name, { method: 'GET', url: `/${name}` }]));
      return executorOf({ kind: 'http', url, tools, timeoutSeconds: 10, ...more }).open();
    };

    it('is not followed to another host, and secrets do not go there', async () => {
      process.env.REHEARSAL_TEST_TOKEN = 'top-secret';
      try {
        const session = await open({ headers: { Authorization: 'Bearer ${REHEARSAL_TEST_TOKEN}' } });
        const { failure } = await call(session, 'away');
        assert.equal(failure?.code, 'redirected');
        assert.deepEqual(seen, [{ url: '/away', method: 'GET', authorization: 'Bearer top-secret' }]);
        assert.deepEqual((await call(session, 'moved')).value, { ok: true });
        const echoed = JSON.stringify(await call(session, 'echo'));
        assert.match(echoed, /no such key/);
        assert.doesNotMatch(echoed, /top-secret/);
        assert.equal((await call(session, 'circle')).failure?.code, 'unreachable');
      } finally {
        delete process.env.REHEARSAL_TEST_TOKEN;
      }
      await assert.rejects(
        open({ headers: { Authorization: 'Bearer ${REHEARSAL_TEST_TOKEN}' } }),
        /REHEARSAL_TEST_TOKEN is not set/,
      );
    });

    it('is called again where it asks to wait a moment, and not where it asks to wait long', async () => {
      const session = await open();
      const waited = await call(session, 'busy');
      assert.deepEqual([waited.value, waited.notes], [{ ok: true }, ['The server asked to wait 0 s.']]);
      const { failure } = await call(session, 'closed');
      assert.equal(failure?.code, 'rate-limited');
      assert.match(failure!.message, /3600 s/);
    });

    it('may fail with a page, with bytes, with nothing and in the middle', async () => {
      const session = await open();
      const broken = await call(session, 'broken');
      assert.equal(broken.outcome, 'error');
      assert.deepEqual(broken.value, {
        error: { code: 500, message: 'HTTP 500 Internal Server Error: Internal error sorry' },
      });
      assert.match(broken.raw!, /<h1>/);
      assert.equal((await call(session, 'binary')).failure?.code, 'not-utf8');
      assert.equal((await call(session, 'empty')).value, null);
      assert.equal((await call(session, 'cut')).failure?.code, 'crashed');
      assert.deepEqual((await call(session, 'ok')).value, { ok: true });
    });

    it('may hang, or be gone', async () => {
      const session = await open({ timeoutSeconds: 1 });
      assert.equal((await call(session, 'hang')).failure?.code, 'timeout');
      const gone = await executorOf({
        kind: 'http',
        url: `http://127.0.0.1:${await freePort()}`,
        tools: { a: { url: '/a' } },
      }).open();
      assert.equal((await call(gone, 'a')).failure?.code, 'unreachable');
    });

    it('is put back at the start of each session where the author says how', async () => {
      const session = await open({ reset: { method: 'POST', url: '/ok' } });
      assert.deepEqual(seen, []);
      await call(session, 'ok');
      await call(session, 'ok');
      assert.deepEqual(
        seen.map(({ method }) => method),
        ['POST', 'GET', 'GET'],
      );
      assert.deepEqual(seen[0], { url: '/ok', method: 'POST', authorization: undefined });
    });
  });

  it('are built so that an argument never leaves its place', () => {
    const route = { method: 'GET', url: '/orders/{id}' };
    assert.equal(requestOf(route, { id: '../admin?x=1#y' }).path, '/orders/..%2Fadmin%3Fx%3D1%23y');
    assert.equal(requestOf(route, { id: '..' }).path, '/orders/%2E%2E');
    assert.equal(requestOf(route, { id: 1, tags: ['a', 'b&c'] }).path, '/orders/1?tags=a&tags=b%26c');
    assert.throws(() => requestOf(route, { id: {} }), /part of the address/);
    const post = requestOf({ method: 'POST', url: '/orders' }, { id: 1 });
    assert.deepEqual([post.body, post.headers['content-type']], ['{"id":1}', 'application/json']);
  });

  it('are named by the operation ids of an OpenAPI file', () => {
    const routes = openApiRoutes({
      paths: {
        '/pets/{petId}': {
          parameters: [{ $ref: '#/components/parameters/petId' }],
          put: {
            operationId: 'updatePet',
            summary: 'Update',
            parameters: [{ name: 'X-Trace', in: 'header', schema: { type: 'string' } }],
            requestBody: {
              content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } },
            },
          },
        },
      },
      components: {
        parameters: { petId: { name: 'petId', in: 'path', required: true, schema: { type: 'integer' } } },
        schemas: {
          Pet: {
            type: 'object',
            required: ['name'],
            properties: { name: { type: 'string' }, parent: { $ref: '#/components/schemas/Pet' } },
          },
        },
      },
    });
    const { tool, ...route } = routes.get('updatePet')!;
    assert.deepEqual(tool!.parameters.required, ['petId', 'name']);
    const request = requestOf(route, { petId: 3, name: 'Rex', 'X-Trace': 't' });
    assert.deepEqual([request.method, request.path, request.body], ['PUT', '/pets/3', '{"name":"Rex"}']);
    assert.equal(request.headers['X-Trace'], 't');
  });
});
