/**
 * Surprise: how unlikely the policy finds the REAL answer, given the prompt in which it rehearses. In bits per
 * token, and in bits per byte, since tokens differ between models.
 */
import { RESULT_OPEN, resultText } from '../conversation/prompts';
import { formatJson } from '../json';
import { canonicalValue } from './answers';
import type { Answer, ComparedPair } from './types';

/** A token of the text that was scored. */
export interface ScoredToken {
  text: string;
  bytes: readonly number[];
  /** Nats, or null where the server gave none. */
  logprob: number | null;
}

export interface TokenSurprise {
  text: string;
  /** Null where the server gave no probability. */
  bits: number | null;
  /** False for tokens of the wrapper, which no answer has a choice about. */
  counted: boolean;
}

export interface Surprise {
  bits: number;
  /** Tokens counted: of the answer, and with a probability. */
  tokens: number;
  /** Bytes of the answer that these tokens cover. */
  bytes: number;
  /** Tokens of the answer that the server gave no probability for. */
  gaps: number;
  /** Null where no token counts. */
  bitsPerToken: number | null;
  bitsPerByte: number | null;
}

export interface MarkedSurprise extends Surprise {
  marks: TokenSurprise[];
}

export interface SurpriseSummary extends Surprise {
  tools: (Surprise & { tool: string })[];
  /** Answers that could not be scored. */
  unscored: number;
}

/** The text to score for a real answer. */
export function scoredText(real: Answer): string {
  return resultText(canonicalValue(real));
}

/** Where the answer stands in `scoredText`, in bytes: without the tags around it. */
export function answerSpan(real: Answer): { start: number; end: number } {
  const start = byteLength(RESULT_OPEN);
  return { start, end: start + byteLength(formatJson(canonicalValue(real))) };
}

/**
 * @param tokens all tokens of the text, in order; a token that reaches over the edge of the answer counts, with
 * the bytes that are inside
 */
export function surpriseOf(
  tokens: readonly ScoredToken[],
  span: { start: number; end: number },
): MarkedSurprise {
  let at = 0;
  let [bits, counted, bytes, gaps] = [0, 0, 0, 0];
  const marks = tokens.map(({ text, bytes: own, logprob }): TokenSurprise => {
    const inside = Math.min(at + own.length, span.end) - Math.max(at, span.start);
    at += own.length;
    const nats = logprob === null || !Number.isFinite(logprob) ? null : logprob;
    // −0 reads oddly where a token was certain.
    const surprise = nats === null ? null : Math.abs(nats / Math.LN2);
    if (inside <= 0) return { text, bits: surprise, counted: false };
    if (surprise === null) gaps++;
    else {
      bits += surprise;
      counted++;
      bytes += inside;
    }
    return { text, bits: surprise, counted: true };
  });
  return { ...rates({ bits, tokens: counted, bytes, gaps }), marks };
}

/** Of several answers together: every token weighs the same, not every answer. */
export function sumSurprise(all: readonly Surprise[]): Surprise {
  const sum = (of: (one: Surprise) => number) => all.reduce((total, one) => total + of(one), 0);
  return rates({
    bits: sum((one) => one.bits),
    tokens: sum((one) => one.tokens),
    bytes: sum((one) => one.bytes),
    gaps: sum((one) => one.gaps),
  });
}

/** Overall and per tool; null where nothing was to be scored. What the real tool answers wrongly says nothing. */
export function surpriseSummary(
  pairs: readonly Pick<ComparedPair, 'tool' | 'author' | 'surprise' | 'unscored'>[],
): SurpriseSummary | null {
  const counted = pairs.filter(({ author }) => author !== 'real tool wrong');
  const scored = counted.flatMap(({ tool, surprise }) => (surprise ? [{ tool, surprise }] : []));
  const unscored = counted.filter(({ unscored }) => unscored !== undefined).length;
  if (scored.length + unscored === 0) return null;
  const of = (own: typeof scored) => sumSurprise(own.map(({ surprise }) => surprise));
  const tools = [...new Set(scored.map(({ tool }) => tool))];
  return {
    ...of(scored),
    tools: tools.map((tool) => ({ tool, ...of(scored.filter((one) => one.tool === tool)) })),
    unscored,
  };
}

function rates(sums: Pick<Surprise, 'bits' | 'tokens' | 'bytes' | 'gaps'>): Surprise {
  const { bits, tokens, bytes } = sums;
  return { ...sums, bitsPerToken: tokens ? bits / tokens : null, bitsPerByte: bytes ? bits / bytes : null };
}

/** Bytes of a text in UTF-8. */
export function byteLength(text: string): number {
  let bytes = 0;
  for (const char of text) {
    const code = char.codePointAt(0)!;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}
