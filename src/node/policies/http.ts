/** Requests to a model server, streams through the `openai` client, with everything that goes wrong said in our words. */

import OpenAI, { APIConnectionError, APIError, APIUserAbortError } from 'openai';
import type { Signal } from '../../core/policy';
import { errors, NodeError, oneLine } from '../errors';
import { inOpenAIShape, withBounds } from './bounds';
import { modelErrors } from './errors';
import { directFetch, directValue } from './fetch';

export interface ServerOptions {
  /** Address, with or without `/v1`. */
  baseUrl: string;
  /** Bearer token; leave it out where the server wants none. */
  apiKey?: string;
  fetch?: typeof globalThis.fetch;
  /** How long the server may say nothing at all, in milliseconds. Default 120,000. */
  stallMs?: number;
}

type Body = { [field: string]: unknown };

/** How often a server that is "not ready just now" (503 with Retry-After) is asked again. */
const RETRIES = 3;
const LONGEST_RETRY_MS = 5000;

export class ModelServer {
  readonly url: string;
  readonly stallMs: number;
  private readonly client: OpenAI;
  private readonly fetch: typeof globalThis.fetch;
  /** Nobody gave another `fetch`. */
  private readonly direct: boolean;
  private readonly headers: Record<string, string>;

  constructor(options: ServerOptions) {
    this.url = rootOf(options.baseUrl);
    this.stallMs = options.stallMs ?? 120_000;
    this.direct = options.fetch === undefined;
    this.fetch = withBounds(options.fetch ?? directFetch, this.url);
    this.headers = {
      accept: 'application/json',
      'content-type': 'application/json',
      authorization: `Bearer ${options.apiKey || 'none'}`,
    };
    // Everything that the client would otherwise read from environment variables is set here.
    this.client = new OpenAI({
      baseURL: `${this.url}/v1`,
      apiKey: options.apiKey || 'none',
      organization: null,
      project: null,
      maxRetries: 0,
      timeout: 24 * 3600 * 1000, // our own guard says what hangs
      logLevel: 'off',
      fetch: this.fetch,
    });
  }

  get(path: string, signal?: Signal): Promise<unknown> {
    return this.guarded(signal, (inner) => this.whole('GET', path, inner));
  }

  post(path: string, body: Body, signal?: Signal): Promise<unknown> {
    return this.guarded(signal, (inner) => this.whole('POST', path, inner, wellFormed(body)));
  }

  /** Answers that come whole need nothing of the client, which costs more than the request itself; its errors are used. */
  private async whole(method: string, path: string, signal: AbortSignal, body?: Body): Promise<unknown> {
    const sent = body === undefined ? undefined : JSON.stringify(body);
    const init = { method, headers: this.headers, body: sent, signal };
    let response: Response;
    try {
      if (this.direct) {
        const answer = await directValue(this.url + path, init);
        if ('value' in answer) return answer.value;
        response = await inOpenAIShape(answer.response);
      } else response = await this.fetch(this.url + path, init);
    } catch (error) {
      if (error instanceof NodeError || error instanceof SyntaxError) throw error;
      throw new APIConnectionError({ cause: error as Error });
    }
    if (response.ok) return response.json();
    throw APIError.generate(response.status, (await response.json()) as object, undefined, response.headers);
  }

  /**
   * Events of a streamed completion. Ends quietly when `signal` is aborted; leaving the loop closes the
   * connection, so that the server stops. Throws `NodeError`.
   */
  async *completions(body: Body, signal?: Signal): AsyncGenerator<unknown> {
    const link = new Link(signal);
    try {
      const stream = await this.retried(link, () =>
        link.within(this.stallMs, () =>
          this.client.completions.create({ ...body, stream: true } as never, { signal: link.inner }),
        ),
      );
      const events = (stream as unknown as AsyncIterable<unknown>)[Symbol.asyncIterator]();
      while (true) {
        const { value, done } = await link.within(this.stallMs, () => events.next());
        if (done || link.aborted) return;
        yield value;
      }
    } catch (error) {
      if (link.aborted) return;
      throw this.explained(error, link);
    } finally {
      link.close();
    }
  }

  private async guarded(
    signal: Signal | undefined,
    ask: (inner: AbortSignal) => Promise<unknown>,
  ): Promise<unknown> {
    const link = new Link(signal);
    try {
      return await this.retried(link, () => link.within(this.stallMs, () => ask(link.inner)));
    } catch (error) {
      if (link.aborted) throw errors.cancelled('The request');
      throw this.explained(error, link);
    } finally {
      link.close();
    }
  }

  private async retried<T>(link: Link, ask: () => Promise<T>): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await ask();
      } catch (error) {
        const wait = attempt < RETRIES ? retryAfter(error) : null;
        if (wait === null) throw error;
        await link.sleep(wait);
        if (link.aborted) throw error;
      }
    }
  }

  /** What a person can do about it. Errors that are ours already pass through. */
  private explained(error: unknown, link: Link): Error {
    if (error instanceof NodeError) return error;
    if (link.stalled) return errors.hangs(this.url, this.stallMs);
    if (error instanceof APIConnectionError) return errors.refused(this.url, error.cause ?? error);
    if (error instanceof APIError && !(error instanceof APIUserAbortError)) return this.refusal(error);
    if (error instanceof SyntaxError) return errors.odd(this.url, 'what it sent is no JSON');
    return Object.assign(new BrokenConnection(String(error)), { cause: error });
  }

  private refusal(error: APIError): NodeError {
    const body = (error.error ?? {}) as {
      message?: unknown;
      type?: unknown;
      n_ctx?: unknown;
      n_prompt_tokens?: unknown;
    };
    const text = oneLine(typeof body.message === 'string' ? body.message : error.message);
    const { status } = error;
    if (status === 401 || status === 403) return errors.unauthorized(this.url);
    if (body.type === 'exceed_context_size_error') {
      return errors.contextTooLong(integer(body.n_prompt_tokens), integer(body.n_ctx));
    }
    if (status === 400 && TOO_LONG.test(text)) return errors.contextTooLong(...lengthsIn(text));
    if (status === 404 && /\bmodel\b/i.test(text)) return modelErrors.refused(this.url, text);
    if (status === 503) return errors.unavailable(this.url, text);
    return errors.serverError(this.url, status, text);
  }
}

/** Half of a character in a text (`"\\ud800"` in a file) is no JSON to many servers: it is sent as U+FFFD. */
function wellFormed<T>(value: T): T {
  if (typeof value === 'string') return value.replace(LONE_SURROGATE, '\ufffd') as T;
  // A prompt is thousands of numbers on every step.
  if (Array.isArray(value)) return (value.every(isNumber) ? value : value.map(wellFormed)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [wellFormed(name), wellFormed(inner)]),
  ) as T;
}

const isNumber = (value: unknown) => typeof value === 'number';

const LONE_SURROGATE = /[\ud800-\udfff]/gu; // with `u`, a pair is one character and no surrogate

/** A connection that broke while something was read: the caller knows how much had come. */
export class BrokenConnection extends Error {}

const TOO_LONG =
  /maximum context length|context (length|size|window)|max_model_len|the context of .+ is \d+ tokens/i;

function rootOf(baseUrl: string): string {
  return baseUrl.replace(/\/+$/, '').replace(/\/v1$/, '');
}

const integer = (value: unknown) => (typeof value === 'number' ? value : undefined);

/** Tokens of the prompt and of the context, as far as a server's sentence says them. */
function lengthsIn(text: string): [number | undefined, number | undefined] {
  const prompt = /(?:prompt has|contains at least|resulted in) (\d+)/.exec(text)?.[1];
  const most = /(?:context length (?:is|of)|context of .+ is) (\d+)/.exec(text)?.[1];
  return [prompt ? Number(prompt) : undefined, most ? Number(most) : undefined];
}

function retryAfter(error: unknown): number | null {
  if (!(error instanceof APIError) || error.status !== 503) return null;
  const seconds = Number(error.headers?.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) ? Math.min(seconds * 1000, LONGEST_RETRY_MS) : null;
}

/** Joins the caller's signal with our own guard against silence. */
class Link {
  private readonly controller = new AbortController();
  private readonly forward = () => this.controller.abort();
  stalled = false;

  constructor(private readonly outer?: Signal) {
    if (outer?.aborted) this.controller.abort();
    outer?.addEventListener('abort', this.forward);
  }

  get inner(): AbortSignal {
    return this.controller.signal;
  }

  /** The caller aborted (a stall is not that). */
  get aborted(): boolean {
    return this.outer?.aborted ?? false;
  }

  async within<T>(ms: number, ask: () => Promise<T>): Promise<T> {
    const timer = setTimeout(() => {
      this.stalled = true;
      this.controller.abort();
    }, ms);
    try {
      const answer = await ask();
      // The client ends a stream quietly when it is aborted: a stall must not look like an end.
      if (this.stalled) throw new Error('stalled');
      return answer;
    } finally {
      clearTimeout(timer);
    }
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.inner.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.inner.addEventListener('abort', done);
    });
  }

  close(): void {
    this.outer?.removeEventListener('abort', this.forward);
    this.controller.abort();
  }
}
