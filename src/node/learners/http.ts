/** Requests of the Tinker protocol: repeated where that is safe, their futures awaited, failures in our words. */
import type { Signal } from '../../core/policy';
import { UserError } from '../../core/user-error';
import { errors } from '../errors';
import { learnerError } from './errors';

export interface TinkerAddress {
  /** Address without `/api/v1`. */
  baseUrl: string;
  /** Begins with `tml-`; for our own engine it is `tml-` and its token. */
  apiKey?: string;
  fetch?: typeof globalThis.fetch;
}

/** A JSON object of the protocol. */
export type Fields = Record<string, unknown>;

/** Connection errors and overload are tried again: every request of the protocol is done once, however often sent. */
const TRIES = 6;
const LONGEST_WAIT_MS = 8000;

export class TinkerHttp {
  readonly url: string;

  constructor(private readonly options: TinkerAddress) {
    this.url = options.baseUrl.replace(/\/+$/, '').replace(/\/api\/v1$/, '');
  }

  async get(path: string, signal?: Signal): Promise<Fields> {
    return this.json(await this.ask('GET', path, undefined, signal));
  }

  async post(path: string, body: Fields | Uint8Array, signal?: Signal): Promise<Fields> {
    return this.json(await this.ask('POST', path, body, signal));
  }

  /** Whether it is our engine, which says so beside the protocol. */
  async isEngine(signal?: Signal): Promise<boolean> {
    const response = await this.once(`${this.url}/health`, { method: 'GET' }, true, signal);
    try {
      return response?.ok === true && ((await response.json()) as Fields)?.engine === 'rehearsal';
    } catch {
      return false;
    }
  }

  /** Sends once, and asks nothing: the next request tells what is wrong. */
  async beat(path: string, body: Fields): Promise<void> {
    await this.ask('POST', path, body, undefined, 1).catch(() => {});
  }

  /** Sends a request that is answered by a future, and waits for what comes of it: JSON, or the bytes of a message. */
  async result(path: string, body: Fields | Uint8Array, signal?: Signal): Promise<Fields | Uint8Array> {
    const { request_id } = await this.post(path, body, signal);
    if (typeof request_id !== 'string') throw this.odd(`${path} was answered without a request_id`);
    for (;;) {
      const response = await this.ask('POST', 'retrieve_future', { request_id }, signal);
      if (response.headers.get('content-type')?.includes('protobuf')) {
        return new Uint8Array(await response.arrayBuffer());
      }
      const value = await this.json(response);
      if (value.type === 'try_again') continue; // the server has waited already
      if (typeof value.error === 'string') {
        throw learnerError(this.url, path, value.error, value.code);
      }
      return value;
    }
  }

  private async ask(
    method: string,
    path: string,
    body?: Fields | Uint8Array,
    signal?: Signal,
    most = TRIES,
  ): Promise<Response> {
    const binary = body instanceof Uint8Array;
    const headers: Record<string, string> = { 'x-api-key': this.options.apiKey ?? 'tml-local' };
    if (body) headers['content-type'] = binary ? 'application/x-protobuf' : 'application/json';
    const init = { method, headers, body: binary ? (body as never) : body && JSON.stringify(body) };
    for (let tries = 1; ; tries++) {
      const response = await this.once(`${this.url}/api/v1/${path}`, init, tries >= most, signal);
      if (response?.ok) return response;
      if (response && ![408, 429].includes(response.status) && response.status < 500) {
        throw await this.refusal(response, path);
      }
      // A long poll that ran out is no failure.
      if (response?.status === 408) tries = 0;
      else if (tries >= most) throw this.odd(`${path} was answered with status ${response?.status}`);
      await pause(tries === 0 ? 0 : Math.min(LONGEST_WAIT_MS, 250 * 2 ** tries), signal);
    }
  }

  /** Null where it could not be sent and may be tried again. */
  private async once(url: string, init: Fields, last: boolean, signal?: Signal): Promise<Response | null> {
    const inner = new AbortController();
    const abort = () => inner.abort();
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort);
    try {
      const response = await (this.options.fetch ?? fetch)(url, { ...init, signal: inner.signal });
      // Read here, so that a connection that breaks half-way is tried again as well.
      const bytes = await response.arrayBuffer();
      return new Response(bytes, { status: response.status, headers: response.headers });
    } catch (error) {
      if (signal?.aborted) throw errors.cancelled('The request to the learner');
      if (last) throw errors.refused(this.url, error);
      return null;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  private async refusal(response: Response, path: string): Promise<Error> {
    if (response.status === 401 || response.status === 403) return errors.unauthorized(this.url);
    const text = await response.text();
    let reason = text;
    let code: unknown;
    try {
      const value = JSON.parse(text);
      const said = value.error?.message ?? value.error ?? value.detail;
      reason = typeof said === 'string' ? said : text;
      code = value.error?.code ?? value.code;
    } catch {
      // not JSON: the text itself
    }
    return learnerError(this.url, path, reason || `status ${response.status}`, code);
  }

  private async json(response: Response): Promise<Fields> {
    try {
      const value = await response.json();
      if (typeof value === 'object' && value !== null) return value as Fields;
    } catch {
      // said below
    }
    throw this.odd('its answer is not JSON');
  }

  odd(what: string): UserError {
    return new UserError(
      `The server at ${this.url} does not speak the Tinker protocol: ${what}.`,
      'Check the address.',
    );
  }
}

function pause(ms: number, signal?: Signal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(errors.cancelled('The request to the learner'));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop);
  });
}
