/** Tools that are requests to a server. Secrets go only to the address that the environment names. */
import fs from 'node:fs/promises';
import type { ExecutorOf } from '../../../core/environment/executor-schema';
import type { Tool } from '../../../core/environment/types';
import { isObject, type Json, type JsonObject } from '../../../core/json';
import { parseStrict } from '../../../core/json-text';
import { type Answered, answered, DEFAULT_TIMEOUT_MS, MAX_ANSWER_BYTES, runCall } from '../calls';
import { executorErrors, failures } from '../failures';
import { argumentsObject, fileBeside, sha256 } from '../places';
import { resolveSecrets, secretNames } from '../secrets';
import type { Execution, Executor, ExecutorOptions, Identity, ToolCall, ToolSession } from '../types';
import { openApiRoutes, type Request, type Route, requestOf } from './routes';

const REDIRECTS = 5;
const RETRIES = 2;
/** A server that asks for a longer pause than this is not waited for. */
const LONGEST_PAUSE_MS = 10_000;
const SHOWN_TEXT = 2000;

export class HttpExecutor implements Executor {
  readonly kind = 'http';
  readonly isolated = false;
  private routes: Promise<Map<string, Route>> | null = null;

  constructor(
    private readonly config: ExecutorOf<'http'>,
    private readonly options: ExecutorOptions,
  ) {}

  async identity(): Promise<Identity> {
    return { kind: 'http', what: this.config.url, hash: sha256('http', this.config.url) };
  }

  async tools(): Promise<Tool[] | null> {
    const tools = [...(await this.allRoutes()).values()].flatMap(({ tool }) => tool ?? []);
    return tools.length ? tools : null;
  }

  async open(_state?: Json): Promise<ToolSession> {
    const routes = await this.allRoutes();
    const headers = await resolveSecrets(this.config.headers ?? {}, this.options.secret);
    return new HttpSession(this.config, routes, headers);
  }

  async close(): Promise<void> {}

  private allRoutes(): Promise<Map<string, Route>> {
    this.routes ??= this.readRoutes();
    return this.routes;
  }

  private async readRoutes(): Promise<Map<string, Route>> {
    const { tools = {}, openapi } = this.config;
    const routes = new Map<string, Route>();
    if (openapi !== undefined) {
      const parsed = parseStrict(await fs.readFile(await fileBeside(this.options.folder, openapi), 'utf8'));
      if (!parsed.ok) throw executorErrors.broken(`${openapi} is ${parsed.reason}`);
      for (const [name, route] of openApiRoutes(parsed.value)) routes.set(name, route);
    }
    for (const [name, { method = 'GET', url }] of Object.entries(tools)) routes.set(name, { method, url });
    return routes;
  }
}

class HttpSession implements ToolSession {
  private readonly ended = new AbortController();
  private begun = false;

  constructor(
    private readonly config: ExecutorOf<'http'>,
    private readonly routes: ReadonlyMap<string, Route>,
    private readonly headers: { [name: string]: string },
  ) {}

  execute({ tool, arguments: given }: ToolCall, signal?: AbortSignal): Promise<Execution> {
    const route = this.routes.get(tool);
    const args = argumentsObject(given);
    return this.run(route ?? null, args, signal, tool);
  }

  async state(): Promise<undefined> {
    return undefined;
  }

  async close(): Promise<void> {
    this.ended.abort();
  }

  private run(
    route: Route | null,
    args: JsonObject | null,
    signal?: AbortSignal,
    tool = '',
  ): Promise<Execution> {
    const interrupted = new AbortController();
    const stop = AbortSignal.any([interrupted.signal, this.ended.signal]);
    const timeoutMs = (this.config.timeoutSeconds ?? DEFAULT_TIMEOUT_MS / 1000) * 1000;
    const work = async () => {
      if (!route) throw failures.noTool(tool, [...this.routes.keys()]);
      if (!args) throw failures.arguments('the arguments are not an object');
      const until = performance.now() + timeoutMs;
      const request = requestOf(route, args);
      await this.reset(stop, until);
      return this.request(request, stop, until);
    };
    return runCall(work, { timeoutMs, signal, stop: () => interrupted.abort() });
  }

  /** Puts the server back where a session begins, where the author says how; with the first call, not before. */
  private async reset(signal: AbortSignal, until: number): Promise<void> {
    const { reset } = this.config;
    if (!reset || this.begun) return;
    const request = requestOf({ method: reset.method ?? 'POST', url: reset.url }, {});
    const { outcome, value } = await this.request(request, signal, until);
    if (outcome === 'error')
      throw failures.unreachable(this.config.url, `resetting it failed: ${JSON.stringify(value)}`);
    this.begun = true;
  }

  /** A server may repeat the key that it was sent; answers are shown, recorded and trained on. */
  private withoutSecrets(text: string): string {
    const named = Object.entries(this.config.headers ?? {});
    return named.reduce((shown, [name, given]) => {
      const key = this.headers[name]?.split(' ').at(-1);
      // What is short is no key, and may stand in any answer.
      const isKey = key && key.length >= 8 && secretNames({ [name]: given }).length > 0;
      return isKey ? shown.replaceAll(key, '…') : shown;
    }, text);
  }

  private async request(request: Request, signal: AbortSignal, until: number): Promise<Answered> {
    const base = this.config.url.replace(/\/+$/, '');
    const start = new URL(base + (request.path.startsWith('/') ? '' : '/') + request.path);
    let url = start;
    let { method, body } = request;
    const notes: string[] = [];
    for (let redirects = 0, retries = 0; ; ) {
      let response: Response;
      const headers = { accept: 'application/json', ...request.headers, ...this.headers };
      try {
        response = await fetch(url.href, { method, body, signal, redirect: 'manual', headers });
      } catch (error) {
        throw failures.unreachable(start.origin, reasonOf(error));
      }
      const { status } = response;
      if (status === 429 || (status === 503 && response.headers.has('retry-after'))) {
        const after = pauseOf(response.headers.get('retry-after'));
        await response.body?.cancel();
        const pause = after ?? 500;
        if (retries++ >= RETRIES || pause > LONGEST_PAUSE_MS || performance.now() + pause > until) {
          throw failures.rateLimited(start.origin, after);
        }
        notes.push(`The server asked to wait ${Math.ceil(pause / 1000)} s.`);
        await new Promise((resolve) => setTimeout(resolve, pause));
        continue;
      }
      const location = status >= 300 && status < 400 ? response.headers.get('location') : null;
      if (location !== null) {
        await response.body?.cancel();
        const next = URL.canParse(location, url.href) ? new URL(location, url) : null;
        if (!next || next.origin !== start.origin)
          throw failures.redirected(start.origin, next?.origin ?? location);
        if (redirects++ >= REDIRECTS)
          throw failures.unreachable(start.origin, 'it redirects again and again');
        url = next;
        // As browsers do: only 307 and 308 keep what was sent.
        if (status !== 307 && status !== 308 && method !== 'GET' && method !== 'HEAD') {
          method = 'GET';
          body = undefined;
        }
        continue;
      }
      return answerOf(response, notes, (text) => this.withoutSecrets(text));
    }
  }
}

async function answerOf(
  response: Response,
  notes: string[],
  withoutSecrets: (text: string) => string,
): Promise<Answered> {
  const raw = withoutSecrets(await textOf(response));
  const parsed = parseStrict(raw);
  const { status, ok } = response;
  const value: Json = parsed.ok ? parsed.value : raw;
  if (ok) return answered(raw === '' ? null : value, { raw, notes });
  const error = isObject(value) && Object.hasOwn(value, 'error') ? value : errorOf(response, value);
  return answered(error, { error: true, raw, notes: [...notes, `HTTP ${status}`] });
}

/** Error pages are for people: what of them is text, shortened. */
function errorOf({ status, statusText, headers }: Response, value: Json): Json {
  if (typeof value !== 'string') return value;
  const html = headers.get('content-type')?.includes('html') || /^\s*</.test(value);
  const text = html
    ? value.replace(/<(style|script)[\s\S]*?<\/\1>|<[^>]*>/gi, ' ').replace(/\s+/g, ' ')
    : value;
  const title = `HTTP ${status}${statusText ? ` ${statusText}` : ''}`;
  return {
    error: { code: status, message: text.trim() ? `${title}: ${text.trim().slice(0, SHOWN_TEXT)}` : title },
  };
}

/** Body as text, read no further than an answer may be. */
async function textOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  if (response.body) {
    try {
      for await (const chunk of response.body) {
        length += chunk.length;
        if (length > MAX_ANSWER_BYTES) throw failures.tooLarge(MAX_ANSWER_BYTES);
        chunks.push(chunk);
      }
    } catch (error) {
      if (length > MAX_ANSWER_BYTES) throw error;
      throw failures.crashed('the connection broke', reasonOf(error));
    }
  }
  const bytes = Buffer.concat(chunks);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw failures.notUtf8(bytes.toString('latin1').slice(0, 10_000));
  }
}

/** `Retry-After` in milliseconds: seconds, or a date. */
function pauseOf(text: string | null): number | null {
  if (text === null) return null;
  if (/^\d+$/.test(text.trim())) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
}

function reasonOf(error: unknown): string {
  const { message, cause } = error as { message: string; cause?: { code?: string; message?: string } };
  return cause?.code ?? cause?.message ?? message;
}
