/** Sampling: one streamed request, its events as tokens in our form. */

import type { Alternative, PolicyInfo, SampledToken, SampleRequest, Signal } from '../../core/policy';
import { mixSeed } from '../../core/rehearsal/seed';
import { errors, NodeError, StreamDiedError } from '../errors';
import { type Chunk, displayText, type LogprobForm, type RawToken, readChunk } from './dialects';
import { BrokenConnection, type ModelServer } from './http';
import type { TokenTexts } from './texts';

/** Which fields a server knows beyond the common ones. */
export type Who = 'engine' | 'vllm' | 'llama';

interface Connection {
  server: ModelServer;
  info: PolicyInfo;
  form: LogprobForm;
  who: Who;
  texts: TokenTexts;
}

export function sampler(connection: Connection) {
  return async function* sample(request: SampleRequest, signal?: Signal): AsyncGenerator<SampledToken> {
    const { server, form } = connection;
    if (request.maxTokens < 1 || signal?.aborted) return;
    const atOnce = request.unwatched || request.maxTokens === 1;
    if (atOnce && connection.who === 'engine') return yield* inPieces(connection, request, signal);
    const reader = new Reader(connection, request, signal);
    let finished = false;
    try {
      for await (const event of server.completions(bodyOf(connection, request), signal)) {
        const chunk = readChunk(event, form);
        for (const token of await reader.read(chunk)) {
          yield token;
          if (signal?.aborted || token.end) return;
        }
        finished ||= chunk.finish !== null;
      }
    } catch (error) {
      if (signal?.aborted) return;
      throw broke(error, server.url, reader.given);
    }
    if (!finished && !signal?.aborted) throw errors.died(server.url, reader.given);
  };
}

/** So few that a slow server with a full batch is not silent for as long as one that hangs. */
const PIECE = 32;

/**
 * One answer instead of events, which costs both sides and the runner a fraction of an event a token. Only of our engine,
 * which draws by the position and keeps the prefix: pieces are what one long stream would be.
 */
async function* inPieces(
  connection: Connection,
  request: SampleRequest,
  signal?: Signal,
): AsyncGenerator<SampledToken> {
  const { server, form } = connection;
  const reader = new Reader(connection, request, signal);
  const prompt = [...request.prompt];
  for (let left = request.maxTokens; left > 0; left = request.maxTokens - reader.given) {
    const asked = { ...request, prompt, maxTokens: Math.min(PIECE, left) };
    let tokens: SampledToken[];
    try {
      const chunk = readChunk(await server.post('/v1/completions', bodyOf(connection, asked), signal), form);
      if (chunk.tokens.length === 0) return;
      // The limit of a piece ends the output only where it is the output's.
      const more =
        chunk.finish === 'length' && chunk.tokens.length === asked.maxTokens && asked.maxTokens < left;
      tokens = await reader.read(more ? { ...chunk, finish: null } : chunk);
    } catch (error) {
      if (signal?.aborted) return; // also where the texts of tokens were still being asked for
      throw broke(error, server.url, reader.given);
    }
    for (const token of tokens) {
      yield token;
      if (signal?.aborted || token.end) return;
      prompt.push(token.id);
    }
  }
}

function broke(error: unknown, url: string, given: number): unknown {
  if (error instanceof StreamDiedError) return error;
  if (error instanceof BrokenConnection) return errors.died(url, given, error.cause);
  // A refusal in the middle of a stream is told with how far it had come.
  return error instanceof NodeError && error.code === 'server-refused' && given > 0
    ? errors.died(url, given, error)
    : error;
}

/** Every setting is sent: a server's own defaults differ, and log-probabilities do not show it. */
function bodyOf({ info, who }: Connection, request: SampleRequest): { [field: string]: unknown } {
  const { prompt, maxTokens, seed, temperature, topP, topK, minP, alternatives, priority } = request;
  const common = {
    model: info.model,
    prompt,
    max_tokens: maxTokens,
    temperature,
    top_p: topP,
    top_k: topK,
    min_p: minP,
    presence_penalty: 0,
    frequency_penalty: 0,
    logprobs: alternatives,
  };
  // Our engine mixes the position into its draws; others get another seed at each position. Its answer holds the
  // ids as it is: `return_token_ids` would send the whole prompt back on every step.
  if (who === 'engine') return { ...common, seed, priority, stop_token_ids: info.endIds };
  const drawn = {
    ...common,
    seed: mixSeed(seed, prompt.length),
    stream_options: { include_usage: true },
  };
  if (who === 'vllm') {
    return {
      ...drawn,
      repetition_penalty: 1,
      stop_token_ids: info.endIds,
      return_token_ids: true,
      return_tokens_as_token_ids: true,
      skip_special_tokens: false,
      spaces_between_special_tokens: false,
    };
  }
  return {
    ...drawn,
    repeat_penalty: 1,
    typical_p: 1,
    dry_multiplier: 0,
    xtc_probability: 0,
    dynatemp_range: 0,
    mirostat: 0,
    cache_prompt: true,
  };
}

/** Turns chunks into tokens, counting them. */
class Reader {
  given = 0;
  private held: RawToken | null = null;
  /** The last ids, for servers that tell texts only in context. */
  private readonly before: number[];

  constructor(
    private readonly connection: Connection,
    private readonly request: SampleRequest,
    private readonly signal?: Signal,
  ) {
    this.before = request.prompt.slice(-8);
  }

  async read(chunk: Chunk): Promise<SampledToken[]> {
    const raws = this.held ? [this.held, ...chunk.tokens] : chunk.tokens;
    this.held = null;
    const tokens: SampledToken[] = [];
    for (const [index, raw] of raws.entries()) {
      const last = index === raws.length - 1;
      if (last && chunk.finish === null && this.isSilent(raw)) this.held = raw;
      else tokens.push(await this.token(raw, chunk, last ? chunk.finish : null));
    }
    return tokens;
  }

  private async token(raw: RawToken, chunk: Chunk, finish: string | null): Promise<SampledToken> {
    this.given++;
    const isEnd = this.connection.info.endIds.includes(raw.id) || (finish === 'stop' && this.isSilent(raw));
    const end =
      isEnd || finish === 'stop' ? 'stop' : finish === 'length' || this.isFull() ? 'length' : undefined;
    const bytes = isEnd ? [] : await this.bytesOf(raw, chunk);
    this.before.push(raw.id);
    const alternatives = await this.alternatives(raw);
    const place = alternatives.findIndex((other) => other.id === raw.id);
    return {
      id: raw.id,
      text: displayText(bytes),
      bytes,
      logprob: raw.logprob,
      entropy: raw.entropy,
      rank: raw.rank ?? (place < 0 ? null : place + 1),
      alternatives,
      ...(end ? { end } : {}),
    };
  }

  /** llama.cpp tells that the limit was reached one event after the token, too late for it: so it is counted. */
  private isFull(): boolean {
    return this.given >= this.request.maxTokens;
  }

  /** llama.cpp writes no bytes for an end token and for other special ones: only the next event tells which. */
  private isSilent(raw: RawToken): boolean {
    const { who, info } = this.connection;
    return who === 'llama' && raw.bytes?.length === 0 && !info.endIds.includes(raw.id);
  }

  private async bytesOf(raw: RawToken, chunk: Chunk): Promise<number[]> {
    if (raw.bytes && !this.isSilent(raw)) return raw.bytes;
    const { texts } = this.connection;
    if (raw.bytes) return utf8(await texts.of(raw.id, this.signal));
    // vLLM: the event's own text where it belongs to this token alone.
    const own = chunk.tokens.length === 1 ? chunk.text : '';
    return utf8(own || (await texts.added(this.before, raw.id, this.signal)));
  }

  private alternatives(raw: RawToken): Promise<Alternative[]> {
    const { texts } = this.connection;
    return Promise.all(
      raw.top.slice(0, this.request.alternatives).map(async ({ id, bytes, logprob }) => {
        // An end token has a text here, so that a person can see and choose it.
        if (bytes?.length) return { id, text: displayText(bytes), bytes, logprob };
        const text = await texts.of(id, this.signal);
        return { id, text, bytes: utf8(text), logprob };
      }),
    );
  }
}

function utf8(text: string): number[] {
  return [...Buffer.from(text, 'utf8')];
}
