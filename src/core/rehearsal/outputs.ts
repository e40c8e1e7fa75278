/** Reading outputs: their text, and their ids without reasoning. */
import { tokensOf } from './lists';
import type { Output, Token } from './types';
import { decodeUtf8 } from './utf8';

/** Text of an output, end token left out. Bytes are joined first, since a token may be a part of a character. */
export function textOf(tokens: readonly Token[]): string {
  let plain = '';
  let bytes: number[] | null = null;
  for (const token of tokens) {
    if (bytes === null && token.bytes.length === 0) plain += token.text;
    else {
      bytes ??= [];
      for (const byte of token.bytes) bytes.push(byte);
    }
  }
  return bytes ? plain + decodeUtf8(bytes) : plain;
}

export function outputText(output: Output): string {
  return textOf(tokensOf(output.tokens));
}

/** Ids of an output without `<think>…</think>` and the line ends after it, as Qwen3's template drops them. */
export function idsWithoutReasoning(output: Output): number[] {
  const tokens = tokensOf(output.tokens);
  let text = '';
  let from = 0;
  for (let i = 0; i < tokens.length; i++) {
    text += tokens[i]!.text;
    if (text.includes('</think>')) {
      from = i + 1;
      while (from < tokens.length && tokens[from]!.text && !tokens[from]!.text.trim()) from++;
      break;
    }
  }
  return tokens.slice(from).map((token) => token.id);
}
