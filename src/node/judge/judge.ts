/**
 * A model as a judge, behind any address that speaks the OpenAI API. What it cannot answer is unscored, never failed:
 * nobody is punished because a server was down. What it was asked once, it is not asked again.
 */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import OpenAI, { APIError, APIUserAbortError } from 'openai';
import type { Signal } from '../../core/policy';
import type { State } from '../../core/rehearsal/types';
import { evaluate } from '../../core/reward/checks';
import {
  type JudgeAnswer,
  type JudgeMessage,
  judgeMessages,
  readJudgeAnswer,
} from '../../core/reward/judge-prompt';
import { inOrder, undecidedBy } from '../../core/reward/judged';
import { transcriptOf } from '../../core/reward/rollout';
import type { Check, RealSide, Said } from '../../core/reward/types';
import { reasonOf } from '../../core/user-error';
import '../bounded';
import { oneLine } from '../errors';

export interface JudgeOptions {
  /** Address with or without `/v1`. */
  url: string;
  model: string;
  apiKey?: string;
  /** For one judgement, retries included. */
  timeoutSeconds: number;
  /** File that keeps judgements beyond this process. */
  cacheFile?: string;
  fetch?: typeof globalThis.fetch;
}

export interface Judge {
  /** What it says of the task's `judge` checks, by their index. Never rejects. */
  judge(state: State, real?: RealSide, signal?: Signal): Promise<Said>;
}

/** Judgements at the same time, over all rollouts. */
const AT_ONCE = 8;
const RETRIES = 3;
const LONGEST_REASON = 500;

type JudgeCheck = Extract<Check, { kind: 'judge' }>;

export function createJudge(options: JudgeOptions): Judge {
  const client = new OpenAI({
    baseURL: addressOf(options.url),
    apiKey: options.apiKey || 'none',
    organization: null,
    project: null,
    maxRetries: RETRIES,
    timeout: options.timeoutSeconds * 1000,
    logLevel: 'off',
    fetch: soonOrNever(options),
  });
  const cache = new Cache(options.cacheFile);
  const slots = new Slots(AT_ONCE);

  async function ask(check: JudgeCheck, state: State, signal?: Signal): Promise<Said[number]> {
    const messages = judgeMessages(check, state);
    const key = createHash('sha256')
      .update(JSON.stringify([options.url, options.model, messages]))
      .digest('hex');
    const known = cache.get(key);
    if (known) return saidOf(known);
    return slots.take(async () => {
      const limit = AbortSignal.timeout(options.timeoutSeconds * 1000);
      try {
        const answer = await answered(messages, limit, signal);
        if (!answer) return unscored(`${options.model} did not answer as it was asked to`);
        cache.keep(key, answer);
        return saidOf(answer);
      } catch (error) {
        return unscored(whyOf(error, options, limit.aborted));
      }
    });
  }

  /** Asked again once where the answer cannot be read. */
  async function answered(
    messages: JudgeMessage[],
    limit: AbortSignal,
    signal?: Signal,
  ): Promise<JudgeAnswer | null> {
    for (const more of [[], [AGAIN]]) {
      const response = await client.chat.completions
        .create(
          { model: options.model, messages: [...messages, ...more], temperature: 0 },
          { signal: signal instanceof AbortSignal ? AbortSignal.any([limit, signal]) : limit },
        )
        .asResponse();
      const answer = readJudgeAnswer(contentOf(await response.text(), response));
      if (answer) return answer;
    }
    return null;
  }

  return {
    async judge(state, real, signal) {
      const { checks } = state.setup.task;
      const said: Said = {};
      if (!checks.some(({ kind }) => kind === 'judge')) return said;
      const settled = new Map<number, Promise<void>>();
      const one = async (index: number, check: JudgeCheck) => {
        const before = (check.dependsOn ?? []).flatMap(
          (id) => settled.get(checks.findIndex((c) => c.id === id)) ?? [],
        );
        await Promise.all(before);
        const transcript = { ...transcriptOf(state), ...(real ? { real } : {}), judgements: said };
        if (check.dependsOn?.length && undecidedBy(check, checks, evaluate({ checks }, transcript).checks))
          return;
        said[index] = await ask(check, state, signal);
      };
      for (const index of inOrder(checks)) {
        const check = checks[index]!;
        if (check.kind === 'judge') settled.set(index, one(index, check));
      }
      await Promise.all(settled.values());
      return said;
    },
  };
}

const AGAIN: JudgeMessage = {
  role: 'user',
  content:
    'Answer with the JSON object alone: {"reason": "…", "pass": true} or {"reason": "…", "pass": false}.',
};

/** An answer that no model server gives. The message goes on from the address. */
class OddAnswer extends Error {}

/** What the model wrote. Throws `OddAnswer` where the server answered something else than a completion. */
function contentOf(body: string, { status, headers }: Response): string {
  if (!body.trim()) throw new OddAnswer(`answered ${status} with nothing in it`);
  let completion: { choices?: { message?: { content?: unknown } }[] } | null;
  try {
    completion = JSON.parse(body);
  } catch {
    const type = headers.get('content-type')?.split(';', 1)[0];
    throw new OddAnswer(
      `answered ${type ? `${oneLine(type, 50)} that is ` : ''}no JSON, as no model server does`,
    );
  }
  if (!Array.isArray(completion?.choices)) throw new OddAnswer('answered JSON that is no completion');
  const content = completion.choices[0]?.message?.content;
  return typeof content === 'string' ? content : '';
}

function saidOf({ pass, reason }: JudgeAnswer): Said[number] {
  const text = reason.trim().slice(0, LONGEST_REASON);
  return { verdict: pass ? 'holds' : 'fails', reason: text || (pass ? 'It passes.' : 'It does not pass.') };
}

function unscored(why: string): Said[number] {
  const sentence = `The judge could not be asked: ${why}`;
  return { verdict: 'unscored', reason: why.endsWith('?') ? sentence : `${sentence}.` };
}

/** The client would wait as long as a busy server asks it to, past every limit: then it is not asked again. */
function soonOrNever({ fetch: other, timeoutSeconds }: JudgeOptions): typeof fetch {
  return async (input, init) => {
    // Followed, a question would become a request without one.
    const response = await (other ?? fetch)(input, { ...init, redirect: 'manual' });
    const wanted = response.headers.get('retry-after');
    if (!wanted || response.ok) return response;
    const seconds = Number(wanted) || (Date.parse(wanted) - Date.now()) / 1000;
    if (!(seconds >= timeoutSeconds)) return response;
    const headers = new Headers(response.headers);
    headers.set('x-should-retry', 'false');
    return new Response(response.body, { status: response.status, headers });
  };
}

/** Some servers repeat the key in what they say; reasons are shown, and kept with rollouts. */
function withoutKey(text: string, key: string | undefined): string {
  return key ? text.replaceAll(key, '…') : text;
}

function whyOf(error: unknown, { url, apiKey, timeoutSeconds }: JudgeOptions, late: boolean): string {
  const shown = oneLine(url, 200);
  if (late) return `${shown} did not answer within ${timeoutSeconds} s`;
  if (error instanceof APIUserAbortError || (error as Error).name === 'AbortError') return 'it was cancelled';
  if (error instanceof OddAnswer) return `${shown} ${error.message}: is this its address?`;
  if (error instanceof APIError && error.status) {
    const to = error.status < 400 ? error.headers?.get('location') : null;
    if (to) return `${shown} redirects to ${oneLine(to, 200)}, which is not followed: name that address`;
    return `${shown} answered ${error.status} (${oneLine(withoutKey(reasonOf(error), apiKey), 200)})`;
  }
  return `${shown} cannot be reached (${oneLine(withoutKey(reasonOf(deepest(error)), apiKey), 100)})`;
}

/** What the connection itself said, below what the client makes of it. */
function deepest(error: unknown): unknown {
  const { cause } = error as { cause?: unknown };
  return cause instanceof Error ? deepest(cause) : error;
}

/** `/v1` is added where the address has no path of its own. */
function addressOf(url: string): string {
  const plain = url.replace(/\/+$/, '');
  return URL.canParse(plain) && new URL(plain).pathname === '/' ? `${plain}/v1` : plain;
}

/** Answers by what was asked. A file that cannot be written or read is done without. */
class Cache {
  private readonly known = new Map<string, JudgeAnswer>();

  constructor(private readonly file: string | undefined) {
    if (file === undefined || !fs.existsSync(file)) return;
    for (const line of fs.readFileSync(file, 'utf8').split('\n')) {
      try {
        const { key, pass, reason } = JSON.parse(line);
        if (typeof key === 'string' && typeof pass === 'boolean')
          this.known.set(key, { pass, reason: String(reason) });
      } catch {
        // An unfinished last line.
      }
    }
  }

  get(key: string): JudgeAnswer | undefined {
    return this.known.get(key);
  }

  keep(key: string, answer: JudgeAnswer): void {
    this.known.set(key, answer);
    if (this.file === undefined) return;
    try {
      // With a line end first: the last line may not be whole.
      fs.appendFileSync(this.file, `\n${JSON.stringify({ key, ...answer })}`);
    } catch {
      // Then it is asked again the next time.
    }
  }
}

class Slots {
  private taken = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly most: number) {}

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.taken >= this.most) await new Promise<void>((go) => this.waiting.push(go));
    else this.taken++;
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.taken--;
    }
  }
}
