/**
 * The ports to a model. An adapter (`src/node/policies`) implements them over HTTP; tests implement them in
 * memory. Everything is in token ids: nothing that was sampled is decoded and tokenized again.
 */
import type { Dialect, Message } from './conversation/types';
import type { Tool } from './environment/types';

/** Structural subset of the DOM's and Node's AbortSignal, since core sees neither. */
export interface Signal {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

export interface Alternative {
  id: number;
  /** Text of this token alone; a part of a UTF-8 character shows as `\xNN`. */
  text: string;
  /** Raw bytes, where the server gives them. */
  bytes?: number[];
  /** Natural log of the untempered probability. */
  logprob: number;
}

/** One token as a policy gives it. */
export interface SampledToken {
  id: number;
  /** Text for display; empty for an end token. */
  text: string;
  /** Raw bytes (0–255) of the token, which may be a part of a UTF-8 character; empty for an end token. */
  bytes: number[];
  /** Natural log of the untempered probability, or null where the server gave none. */
  logprob: number | null;
  /** Entropy of the whole untempered distribution in nats, or null where the server cannot say. */
  entropy: number | null;
  /** 1 for the most likely token, or null where unknown. */
  rank: number | null;
  /** Most likely tokens at this position, best first. */
  alternatives: Alternative[];
  /** This token ended the output: an end token was sampled, or the limit was reached. */
  end?: 'stop' | 'length';
}

/** Sampling settings, each sent explicitly: servers' own defaults differ and do not show in log-probabilities. */
export interface Sampling {
  temperature: number;
  topP: number;
  /** −1 means off. */
  topK: number;
  minP: number;
}

export interface SampleRequest extends Sampling {
  /** Prompt with what has been sampled of this output so far. */
  prompt: readonly number[];
  maxTokens: number;
  seed: number;
  /** How many alternatives to return at each position (0 to 20). */
  alternatives: number;
  /** Lower goes first on our engine: 0 a person who steps, 1 a rollout. */
  priority: number;
  /** Nobody watches the tokens come: they may be given many at a time. Which ones are drawn is the same. */
  unwatched?: boolean;
}

/** Tokens that stand there already, and what stands before them. */
export interface ScoreRequest {
  prompt: readonly number[];
  ids: readonly number[];
  /** As in `SampleRequest`. */
  priority: number;
}

/** A token that was given, not sampled. */
export interface GivenToken {
  id: number;
  text: string;
  /** Raw bytes; of servers that tell whole characters only, a part of one has none and its last part has all. */
  bytes: number[];
  /** Natural log of the untempered probability, or null where the server gave none. */
  logprob: number | null;
}

export interface RenderRequest {
  messages: readonly Message[];
  tools?: readonly Tool[];
  /** End with the header that opens the assistant's next message. */
  generationPrompt: boolean;
}

export type Tier = 'token-exact' | 'text' | 'chat';

export interface PolicyInfo {
  /** Name under which the server offers it. */
  model: string;
  tier: Tier;
  /** Tokens of prompt and output together. */
  contextLength: number;
  /** Form of tool calls in its chat template. */
  dialect: Dialect;
  /** Whether the chat template shows the tools; else core writes them into the system message. */
  templateShowsTools: boolean;
  /** Whether its generation prompt ends in an opened `<think>`, so that every output begins inside reasoning. */
  opensReasoning: boolean;
  /** Ids that end an output. */
  endIds: readonly number[];
  /** Whether the server gives probabilities of tokens that it did not sample: `score` works. Absent: it does not. */
  canScore?: boolean;
}

export interface Policy {
  readonly info: PolicyInfo;
  /** Token ids of a conversation in the model's chat template. */
  render(request: RenderRequest, signal?: Signal): Promise<number[]>;
  /** Text of ids, special tokens included. */
  decode(ids: readonly number[], signal?: Signal): Promise<string>;
  /** Tokens one by one; leaving the loop or aborting makes the server stop within one token. */
  sample(request: SampleRequest, signal?: Signal): AsyncIterable<SampledToken>;
  /** Token ids of a text by itself, without those that begin a document. */
  encode?(text: string, signal?: Signal): Promise<number[]>;
  /** Log-probabilities of `ids` behind `prompt`, one entry an id. Only where `info.canScore`. */
  score?(request: ScoreRequest, signal?: Signal): Promise<GivenToken[]>;
}
