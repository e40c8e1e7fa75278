/** The two persistent lists that states share: tokens of an output, and segments of a prompt. */
import type { Segments, Token, TokenList } from './types';

const arrays = new WeakMap<TokenList, readonly Token[]>();

/** Tokens in order; computed once for each list. */
export function tokensOf(list: TokenList | null): readonly Token[] {
  if (!list) return [];
  const known = arrays.get(list);
  if (known) return known;
  const tokens: Token[] = new Array(list.length);
  for (let at: TokenList | null = list; at; at = at.before) tokens[at.length - 1] = at.token;
  arrays.set(list, tokens);
  return tokens;
}

export function addToken(before: TokenList | null, token: Token): TokenList {
  return { token, before, length: (before?.length ?? 0) + 1 };
}

export function addSegment(
  before: Segments | null,
  ids: readonly number[],
  origin: Segments['origin'],
): Segments {
  return { ids, origin, before, length: (before?.length ?? 0) + ids.length };
}

export function segmentsOf(segments: Segments | null): Segments[] {
  const list: Segments[] = [];
  for (let at = segments; at; at = at.before) list.push(at);
  return list.reverse();
}

/** Ids of a prompt followed by those of the output that is being written. */
export function promptIds(segments: Segments | null, tokens: TokenList | null): number[] {
  const ids: number[] = [];
  for (const segment of segmentsOf(segments)) for (const id of segment.ids) ids.push(id);
  for (const token of tokensOf(tokens)) ids.push(token.id);
  return ids;
}
