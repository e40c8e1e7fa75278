/**
 * Connecting to a model. A probe decides what the server can do, not its name. What it cannot do is said in
 * the error; tiers other than token-exact follow later.
 */
import { probeTemplate } from '../../core/conversation/template';
import type { Policy, PolicyInfo, Signal } from '../../core/policy';
import { errors } from '../errors';
import { formOf, type LogprobForm } from './dialects';
import { ModelServer, type ServerOptions } from './http';
import { type ModelCard, modelCards } from './models';
import { pickModel } from './pick';
import { sampler, type Who } from './sample';
import { probeScore, scorer } from './score';
import { findRender, templateEnd } from './templates';
import { TokenTexts } from './texts';

export interface ConnectOptions extends ServerOptions {
  /** Name of the model, or id of a run for its best checkpoint; the server's first where absent. */
  model?: string;
  /** Told which model was taken, where the name alone does not say it. */
  onNote?(text: string): void;
}

/** Finds out what a server offers and returns a policy. Throws `NodeError` with what to do next. */
export async function connectPolicy(options: ConnectOptions, signal?: Signal): Promise<Policy> {
  const server = new ModelServer(options);
  const { card, note } = await pickModel(server, await modelCards(server, signal), options.model, signal);
  if (note) options.onNote?.(note);
  const form = await probeForm(server, card.id, signal);
  const who = whoIs(card, form);
  const decode = decoder(server, card.id);
  const render = await findRender(server, card.id, signal);
  if (!render) throw errors.tier(server.url, 'it has no route that turns messages into token ids');
  const scoring = { server, model: card.id, form, who };
  const [facts, contextLength, endIds, canScore] = await Promise.all([
    probeTemplate({ render, decode }),
    contextOf(server, card, signal),
    endIdsOf(card, render, decode, signal),
    probeScore(scoring, signal),
  ]);
  const info: PolicyInfo = { model: card.id, tier: 'token-exact', contextLength, endIds, canScore, ...facts };
  const encode = encoder(server, card.id, who);
  const texts = new TokenTexts(decode, (inner) => idOfA(server, encode, inner));
  const sample = sampler({ server, info, form, who, texts });
  return { info, render, decode, encode, sample, score: scorer({ ...scoring, texts }, info) };
}

/** Small ids that every vocabulary has; what they say does not matter. */
const PROBE_PROMPT = [1, 2, 3];

async function probeForm(server: ModelServer, model: string, signal?: Signal): Promise<LogprobForm> {
  const plain = { model, prompt: PROBE_PROMPT, max_tokens: 1, temperature: 0, logprobs: 2 };
  const extended = { ...plain, return_token_ids: true, return_tokens_as_token_ids: true };
  let answer: unknown;
  try {
    answer = await server.post('/v1/completions', extended, signal);
  } catch (error) {
    const refused = String((error as Error).message);
    if (!/\((400|422)\)/.test(refused)) throw error;
    if (/must be a string/i.test(refused))
      throw errors.tier(server.url, 'it takes prompts as text only, not as token ids');
    if (!/\(422\)/.test(refused)) throw error;
    answer = await strict(server, plain, signal);
  }
  const found = formOf(answer);
  if ('missing' in found) throw errors.tier(server.url, found.missing);
  const seen = (answer as { usage?: { prompt_tokens?: unknown } }).usage?.prompt_tokens;
  if (typeof seen === 'number' && seen !== PROBE_PROMPT.length) {
    throw errors.tier(server.url, `it made ${seen} tokens of a prompt of ${PROBE_PROMPT.length}`);
  }
  return found.form;
}

/** A server that refuses fields it does not know is asked once more without them. */
async function strict(
  server: ModelServer,
  plain: { [field: string]: unknown },
  signal?: Signal,
): Promise<unknown> {
  try {
    return await server.post('/v1/completions', plain, signal);
  } catch (error) {
    if (!/\((400|422)\)/.test(String((error as Error).message))) throw error;
    throw errors.tier(server.url, 'it does not take token ids as a prompt');
  }
}

function whoIs(card: ModelCard, form: LogprobForm): Who {
  if (card.ownedBy === 'rehearsal') return 'engine';
  return form === 'legacy' ? 'vllm' : 'llama';
}

function decoder(server: ModelServer, model: string) {
  return async (ids: readonly number[], signal?: Signal): Promise<string> => {
    if (ids.length === 0) return '';
    const answer = (await server.post('/detokenize', { model, tokens: ids }, signal)) as {
      prompt?: unknown;
      content?: unknown;
    };
    const text = answer?.prompt ?? answer?.content;
    if (typeof text !== 'string') throw errors.odd(server.url, 'its /detokenize gives no text');
    return text;
  };
}

function encoder(server: ModelServer, model: string, who: Who) {
  return async (text: string, signal?: Signal): Promise<number[]> => {
    const body =
      who === 'llama'
        ? { content: text, add_special: false }
        : { model, prompt: text, add_special_tokens: false };
    const answer = (await server.post('/tokenize', body, signal)) as { tokens?: unknown };
    if (!Array.isArray(answer?.tokens) || !answer.tokens.every(Number.isInteger))
      throw errors.odd(server.url, 'its /tokenize gives no token ids');
    return answer.tokens;
  };
}

async function idOfA(
  server: ModelServer,
  encode: (text: string, signal?: Signal) => Promise<number[]>,
  signal?: Signal,
): Promise<number> {
  const id = (await encode('a', signal)).at(-1);
  if (id === undefined) throw errors.odd(server.url, 'its /tokenize gives no token ids');
  return id;
}

async function contextOf(server: ModelServer, card: ModelCard, signal?: Signal): Promise<number> {
  if (card.contextLength) return card.contextLength;
  const props = (await server.get('/props', signal).catch(() => null)) as {
    default_generation_settings?: { n_ctx?: unknown };
  } | null;
  const told = props?.default_generation_settings?.n_ctx;
  if (typeof told === 'number' && told > 0) return told;
  throw errors.odd(server.url, 'it does not say how long its context is');
}

async function endIdsOf(
  card: ModelCard,
  render: Parameters<typeof templateEnd>[0],
  decode: Parameters<typeof templateEnd>[1],
  signal?: Signal,
): Promise<number[]> {
  const end = await templateEnd(render, decode, signal).catch(() => null);
  return [...new Set([...card.endIds, ...(end === null ? [] : [end])])];
}
