/**
 * Scoring: log-probabilities of text that stands there already, by a completion that echoes its prompt and samples
 * nothing. A server that ignores `echo` (llama.cpp) gives no error, so what comes back is counted.
 */
import type { GivenToken, PolicyInfo, ScoreRequest, Signal } from '../../core/policy';
import { errors, NodeError } from '../errors';
import { displayText, type LogprobForm, type RawToken, readChunk } from './dialects';
import type { ModelServer } from './http';
import type { Who } from './sample';
import type { TokenTexts } from './texts';

interface Connection {
  server: ModelServer;
  /** Name of the model. */
  model: string;
  form: LogprobForm;
  who: Who;
  texts: TokenTexts;
}

/** Small ids that every vocabulary has; what they say does not matter. */
const PROBE = [1, 2, 3];

/** Whether a server scores. Throws only where it does not answer at all. */
export async function probeScore(connection: Omit<Connection, 'texts'>, signal?: Signal): Promise<boolean> {
  try {
    return echoed(await echo(connection, PROBE, 0, signal), PROBE, connection.form) !== null;
  } catch (error) {
    if (error instanceof NodeError && REFUSED.has(error.code)) return false;
    throw error;
  }
}

/** What a server says that does not know `echo` or `max_tokens: 0`. */
const REFUSED = new Set(['server-error', 'server-odd']);

export function scorer(connection: Connection, { model, canScore, contextLength }: PolicyInfo) {
  const { server, form, texts } = connection;
  return async function score(request: ScoreRequest, signal?: Signal): Promise<GivenToken[]> {
    if (!canScore) throw errors.noScore(server.url);
    const { prompt, ids, priority } = request;
    const all = [...prompt, ...ids];
    if (all.length > contextLength) throw errors.contextTooLong(all.length, contextLength);
    const raws = echoed(await echo({ ...connection, model }, all, priority, signal), all, form);
    if (!raws) throw errors.noScore(server.url);
    const tokens: GivenToken[] = [];
    for (const [index, raw] of raws.slice(prompt.length).entries()) {
      const bytes = raw.bytes ?? (await bytesOf(texts, all.slice(0, prompt.length + index), raw.id, signal));
      tokens.push({ id: raw.id, text: displayText(bytes), bytes, logprob: raw.logprob });
    }
    return tokens;
  };
}

function echo(
  { server, model, who }: Omit<Connection, 'texts'>,
  prompt: readonly number[],
  priority: number,
  signal?: Signal,
): Promise<unknown> {
  const common = { model, prompt, max_tokens: 0, echo: true, logprobs: 1, temperature: 1, stream: false };
  const ids = { return_token_ids: true, return_tokens_as_token_ids: true };
  const body =
    who === 'engine' ? { ...common, ...ids, priority } : who === 'vllm' ? { ...common, ...ids } : common;
  const ask = () => server.post('/v1/completions', body, signal);
  return who === 'vllm' ? inTurn(server.url, ask) : ask();
}

const turns = new Map<string, Promise<unknown>>();

/** With an adapter loaded, vLLM 0.32 dies of several prompts that it scores at once. */
function inTurn<T>(url: string, ask: () => Promise<T>): Promise<T> {
  const own = (turns.get(url) ?? Promise.resolve()).then(ask, ask);
  turns.set(
    url,
    own.catch(() => {}),
  );
  return own;
}

/** Entries of the prompt that was sent, or null where the answer is about something else. */
function echoed(answer: unknown, prompt: readonly number[], form: LogprobForm): RawToken[] | null {
  const choices = (answer as { choices?: { [field: string]: unknown }[] } | null)?.choices;
  const choice = Array.isArray(choices) ? choices[0] : undefined;
  if (typeof choice !== 'object' || choice === null) return null;
  // `token_ids` are those that were sampled: none. The prompt's own stand in the names of the log-probabilities.
  const { tokens } = readChunk({ choices: [{ ...choice, token_ids: undefined }] }, form);
  const same = tokens.length >= prompt.length && prompt.every((id, index) => tokens[index]!.id === id);
  // Nothing precedes the first token; all others have a probability.
  const told = same && tokens.slice(1, prompt.length).every(({ logprob }) => logprob !== null);
  return told ? tokens.slice(0, prompt.length) : null;
}

/** For servers that give ids without bytes. */
async function bytesOf(texts: TokenTexts, before: number[], id: number, signal?: Signal): Promise<number[]> {
  const alone = await texts.of(id, signal);
  const text = alone.includes('\ufffd') ? await texts.added(before, id, signal) : alone;
  return [...Buffer.from(text, 'utf8')];
}
