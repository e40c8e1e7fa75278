/** Passing requests through to the engine: streams as they come, and a client that leaves ends both sides. */
import http, { type IncomingMessage, type ServerResponse } from 'node:http';

const PATHS = /^\/(v1\/[^?]*|tokenize|detokenize|metrics)(\?.*)?$/;

/**
 * Connections stay open, since a step of one token must not pay for a new one; but not as long as the engine
 * keeps them (5 s), or a request could meet one that is just being closed.
 */
const agent = new http.Agent({ keepAlive: true, timeout: 4000, maxSockets: Number.POSITIVE_INFINITY });

/** Headers that belong to one connection, or that we set ourselves. */
const OWN = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'content-length',
  'upgrade',
  'host',
  'authorization',
  'expect',
  'origin',
]);

export function isForwarded(url: string): boolean {
  return PATHS.test(url);
}

export interface Target {
  port: number;
  token: string;
}

/** `failed` is called where the engine did not begin an answer. */
export function forward(
  request: IncomingMessage,
  body: Buffer,
  response: ServerResponse,
  target: Target,
  failed: (error: Error) => void,
  again = true,
): void {
  const upstream = http.request({
    agent,
    host: '127.0.0.1',
    port: target.port,
    method: request.method,
    path: request.url,
    headers: {
      ...passed(request.headers),
      authorization: `Bearer ${target.token}`,
      ...(body.length ? { 'content-length': body.length } : {}),
    },
  });
  let begun = false;
  const left = () => upstream.destroy();
  response.once('close', left);
  upstream.once('response', (answer) => {
    begun = true;
    response.writeHead(answer.statusCode ?? 502, passed(answer.headers));
    answer.once('error', () => response.destroy()); // broken off: the client must see that, not a good end
    answer.pipe(response);
  });
  upstream.once('error', (error: NodeJS.ErrnoException) => {
    response.off('close', left);
    if (begun || response.destroyed) response.destroy();
    else if (again && upstream.reusedSocket && error.code === 'ECONNRESET') {
      forward(request, body, response, target, failed, false);
    } else failed(error);
  });
  upstream.end(body);
}

/** Far more than a conversation as long as any context. */
export const MOST_BYTES = 64 << 20;

/** The whole body of a request, or null where it is larger than `most` bytes; the rest is then not read. */
export async function readBody(request: IncomingMessage, most = MOST_BYTES): Promise<Buffer | null> {
  if (Number(request.headers['content-length'] ?? 0) > most) return null;
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let length = 0;
    request.on('data', (part: Buffer) => {
      length += part.length;
      if (length <= most) parts.push(part);
      else {
        parts.length = 0;
        request.pause();
        resolve(null);
      }
    });
    request.once('end', () => resolve(Buffer.concat(parts)));
    request.once('error', reject);
    request.once('close', () => reject(new Error('the client left')));
  });
}

function passed(headers: IncomingMessage['headers']): http.OutgoingHttpHeaders {
  return Object.fromEntries(
    Object.entries(headers).filter(([name, value]) => !OWN.has(name) && value !== undefined),
  );
}
