/**
 * `fetch` over Node's own HTTP: a fraction of the work a request, of which a training step makes hundreds; and a
 * connection that the server closed while it lay idle costs nothing but another one.
 */
import http from 'node:http';
import https from 'node:https';
import { Readable } from 'node:stream';
import { errors } from '../errors';

/** The most that is read of an answer that is no stream: far more than servers have to say. */
export const MOST_ANSWER = 256 << 20;

const agents = {
  'http:': new http.Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY }),
  'https:': new https.Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY }),
};

/** For a body that is text or bytes. An answer of events is a stream, any other is read whole. */
export const directFetch: typeof globalThis.fetch = async (input, init = {}) => {
  const { body } = init;
  const url = typeof input === 'string' ? new URL(input) : input instanceof URL ? input : null;
  const sends = body === undefined || body === null || typeof body === 'string' || body instanceof Uint8Array;
  if (!url || !sends || !(url.protocol in agents)) return fetch(input, init);
  const answer = await ask(url, init, body ?? undefined);
  const status = answer.statusCode ?? 0;
  // Rare, and full of rules: left to who knows them.
  if (status >= 300 && status < 400 && answer.headers.location) {
    answer.destroy();
    return fetch(input, init);
  }
  const headers = headersOf(answer);
  if (headers.get('content-type')?.includes('event-stream')) {
    return new Response(Readable.toWeb(answer) as ReadableStream<Uint8Array>, { status, headers });
  }
  const whole = await read(answer, url);
  return new Response(EMPTY.has(status) ? null : whole, { status, headers });
};

/**
 * The value of a good answer in JSON; a `Response` around it would cost more than reading it. Any other answer is one.
 * Throws `SyntaxError` where a good answer is no JSON.
 */
export async function directValue(
  url: string,
  init: RequestInit & { body?: string },
): Promise<{ value: unknown } | { response: Response }> {
  const at = new URL(url);
  if (!(at.protocol in agents)) return { response: await fetch(url, init) };
  const answer = await ask(at, init, init.body);
  const status = answer.statusCode ?? 0;
  if (status >= 300 && status < 400 && answer.headers.location) {
    answer.destroy();
    return { response: await fetch(url, init) };
  }
  const whole = await read(answer, at);
  if (status >= 200 && status < 300) return { value: JSON.parse(whole.toString('utf8')) };
  return { response: new Response(EMPTY.has(status) ? null : whole, { status, headers: headersOf(answer) }) };
}

const EMPTY = new Set([204, 205, 304]);
const BROKEN = new Set(['ECONNRESET', 'EPIPE']);

function ask(url: URL, init: RequestInit, body?: string | Uint8Array): Promise<http.IncomingMessage> {
  // A plain object is taken as it is: most are ours.
  const headers: Record<string, string> =
    init.headers && Object.getPrototypeOf(init.headers) === Object.prototype
      ? { ...(init.headers as Record<string, string>) }
      : Object.fromEntries(new Headers(init.headers));
  if (body !== undefined) headers['content-length'] = String(Buffer.byteLength(body));
  // A length known beforehand, and nothing that has to be undone.
  headers['accept-encoding'] = 'identity';
  return new Promise((resolve, reject) => {
    const send = (again: boolean) => {
      const request = (url.protocol === 'https:' ? https : http).request(
        url,
        { agent: agents[url.protocol as keyof typeof agents], method: init.method ?? 'GET', headers },
        resolve,
      );
      const abort = () => request.destroy(aborted());
      if (init.signal?.aborted) abort();
      init.signal?.addEventListener('abort', abort, { once: true });
      request.once('close', () => init.signal?.removeEventListener('abort', abort));
      request.once('error', (error: NodeJS.ErrnoException) => {
        // The server had closed a connection that lay idle, before it saw anything of this request.
        if (again && request.reusedSocket && BROKEN.has(error.code ?? '')) send(again);
        else reject(error);
      });
      request.end(body);
    };
    send(true);
  });
}

/** Also the name by which callers tell it. */
function aborted(): Error {
  return new DOMException('This operation was aborted', 'AbortError');
}

function headersOf({ rawHeaders }: http.IncomingMessage): Headers {
  const headers = new Headers();
  for (let i = 0; i < rawHeaders.length; i += 2) headers.append(rawHeaders[i]!, rawHeaders[i + 1]!);
  return headers;
}

function read(answer: http.IncomingMessage, { origin }: URL): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let length = 0;
    answer.on('data', (part: Buffer) => {
      length += part.length;
      if (length <= MOST_ANSWER) parts.push(part);
      else {
        reject(errors.odd(origin, `one of its answers is longer than ${MOST_ANSWER >> 20} MiB`));
        answer.destroy();
      }
    });
    answer.once('end', () => (answer.complete ? resolve(Buffer.concat(parts)) : reject(cut())));
    answer.once('error', reject);
    answer.once('close', () => reject(cut()));
  });
}

function cut(): Error {
  return Object.assign(new Error('the connection ended before the answer was complete'), {
    code: 'ECONNRESET',
  });
}
