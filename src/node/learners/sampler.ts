/** Sampling where the learner is: SkyRL and Tinker answer tokens, and have no tokenizer and no OpenAI routes. */
import type { Policy, SampledToken, SampleRequest, Signal } from '../../core/policy';
import { displayText } from '../policies/dialects';
import type { TinkerHttp } from './http';
import { decodeSamples } from './proto';

/**
 * A policy that samples in a sampling session of a Tinker server. Chat template and texts are those of `like`, the same
 * model on another server (our engine). Tokens come all at once: nobody steps here.
 */
export function tinkerPolicy(http: TinkerHttp, session: string, like: Policy): Policy {
  let number = 0;
  const known = new Map<string, Promise<string>>();
  const textOf = (ids: readonly number[], signal?: Signal) => {
    const key = ids.join();
    if (!known.has(key)) known.set(key, like.decode(ids, signal));
    return known.get(key)!;
  };
  const { info, render, decode, encode } = like;
  return {
    info: { ...info, model: session, canScore: false },
    render: (request, signal) => render.call(like, request, signal),
    decode: (ids, signal) => decode.call(like, ids, signal),
    ...(encode ? { encode: (text: string, signal?: Signal) => encode.call(like, text, signal) } : {}),
    async *sample(request: SampleRequest, signal?: Signal): AsyncGenerator<SampledToken> {
      const { prompt, maxTokens, seed, temperature, topP, topK } = request;
      const body = {
        num_samples: 1,
        prompt: { chunks: [{ type: 'encoded_text', tokens: prompt }] },
        // A seed of theirs is 32 bits; the stop is a list of ids, since every server's own ends differ.
        sampling_params: {
          max_tokens: maxTokens,
          seed: seed >>> 1,
          temperature,
          top_p: topP,
          top_k: topK,
          stop: [...info.endIds],
        },
        sampling_session_id: session,
        seq_id: number++,
        prompt_logprobs: false,
        type: 'sample',
      };
      const value = await http.result('asample', body, signal);
      if (!(value instanceof Uint8Array)) throw http.odd('asample was answered without its message');
      const [sampled] = decodeSamples(value);
      if (!sampled) throw http.odd('asample gave no sequence');
      const { tokens, logprobs, stopped } = sampled;
      let part: number[] = []; // ids of a character that is not whole yet
      for (const [i, id] of tokens.entries()) {
        const last = i === tokens.length - 1;
        const ended = last && stopped && info.endIds.includes(id);
        part.push(id);
        const text = ended ? '' : await textOf(part, signal);
        const whole = last || !text.includes('\uFFFD') || part.length > 4;
        if (whole) part = [];
        const bytes = whole ? [...new TextEncoder().encode(text)] : [];
        yield {
          id,
          text: displayText(bytes),
          bytes,
          logprob: logprobs[i] ?? null,
          entropy: null,
          rank: null,
          alternatives: [],
          ...(last ? { end: stopped ? ('stop' as const) : ('length' as const) } : {}),
        };
      }
    },
  };
}
