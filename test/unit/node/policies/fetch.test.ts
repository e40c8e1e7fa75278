import assert from 'node:assert/strict';
import http from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { directFetch } from '../../../../src/node/policies/fetch';

describe('fetch over Node’s own HTTP', () => {
  let server: http.Server;
  let url: string;
  let answer: http.RequestListener;
  const sockets: Socket[] = [];

  before(async () => {
    server = http.createServer((request, response) => answer(request, response));
    server.keepAliveTimeout = 60_000;
    server.on('connection', (socket) => sockets.push(socket));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  it('sends text, and gives status, headers and a whole answer', async () => {
    answer = (request, response) => {
      request.setEncoding('utf8');
      let text = '';
      request.on('data', (part) => {
        text += part;
      });
      request.on('end', () => {
        response.writeHead(201, { 'content-type': 'application/json', 'x-one': 'é' });
        response.write('{"got":');
        response.end(
          `${JSON.stringify([request.method, request.url, request.headers.authorization, text])}}`,
        );
      });
    };
    const response = await directFetch(`${url}/a?b=1`, {
      method: 'POST',
      headers: { authorization: 'Bearer x' },
      body: 'naïve',
    });
    assert.equal(response.status, 201);
    assert.equal(response.headers.get('content-type'), 'application/json');
    assert.deepEqual(await response.json(), { got: ['POST', '/a?b=1', 'Bearer x', 'naïve'] });
  });

  it('asks once more where the server had closed the connection while it lay idle', async () => {
    let asked = 0;
    answer = (request, response) => {
      asked++;
      request.resume();
      response.end('ok');
    };
    await (await directFetch(url)).text();
    // Gone between the agent's look at it and the request's first byte.
    for (const socket of sockets) socket.resetAndDestroy();
    const [one, two] = await Promise.all([directFetch(url), directFetch(url)]);
    assert.deepEqual([await one.text(), await two.text(), asked], ['ok', 'ok', 3]);
  });

  it('does not ask again where a new connection breaks, and says so where an answer ends too early', async () => {
    server.closeAllConnections();
    await new Promise((resolve) => setTimeout(resolve, 50)); // the agent sees that they are gone
    let asked = 0;
    answer = (request) => {
      asked++;
      request.socket.destroy();
    };
    await assert.rejects(directFetch(url), { code: 'ECONNRESET' });
    answer = (_, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('half');
      setImmediate(() => response.destroy());
    };
    await assert.rejects(directFetch(url));
    assert.equal(asked, 1);
  });

  it('ends with an AbortError, before the answer and within it', async () => {
    answer = () => {};
    const first = new AbortController();
    const waiting = directFetch(url, { signal: first.signal });
    setTimeout(() => first.abort(), 20);
    await assert.rejects(waiting, { name: 'AbortError' });
    await assert.rejects(directFetch(url, { signal: AbortSignal.abort() }), { name: 'AbortError' });
  });

  it('gives events as they come, and follows a redirect', async () => {
    answer = (request, response) => {
      if (request.url === '/old') return response.writeHead(307, { location: '/new' }).end();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: 1\n\n');
      request.once('close', () => response.end());
    };
    for (const path of ['/new', '/old']) {
      const response = await directFetch(url + path, { method: 'POST', body: '{}' });
      const reader = response.body!.getReader();
      const { value } = await reader.read();
      assert.equal(Buffer.from(value!).toString(), 'data: 1\n\n');
      await reader.cancel();
    }
  });
});
