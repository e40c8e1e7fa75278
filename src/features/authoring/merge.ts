/**
 * One problem is told once. Core's loader and the JSON language service both read the environment file; where
 * both complain about the same place, the loader's sentence stays, since it says what to do next.
 */

export interface Span {
  offset: number;
  length: number;
}

/** Those of `others` that no span of `mine` already covers. Spans that only enclose something do not cover it. */
export function notCovered<T extends Span>(mine: readonly Span[], others: readonly T[]): T[] {
  return others.filter((other) => !mine.some((span) => touches(span, other)));
}

function touches(a: Span, b: Span): boolean {
  return a.offset < b.offset + Math.max(1, b.length) && b.offset < a.offset + Math.max(1, a.length);
}
