/** Which actual call stands for which expected one. */
import { isObject } from '../json';
import { wrongFields } from './matchers';
import type { ExpectedCall, TranscriptCall } from './types';

/** Whether a call is the one described: the same tool, and every argument that is named satisfies its matcher. */
export function isCall(expected: ExpectedCall, call: TranscriptCall): boolean {
  if (expected.tool !== call.tool) return false;
  if (!expected.arguments) return true;
  return isObject(call.arguments) && wrongFields(expected.arguments, call.arguments).length === 0;
}

/** For each expected call the index of the call that stands for it, or −1; each call stands for one at most. */
export function pair(expected: ExpectedCall[], calls: TranscriptCall[], ordered: boolean): number[] {
  return ordered ? inOrder(expected, calls) : anyOrder(expected, calls);
}

/** The earliest fit for each in turn: no other choice leaves more room for what follows. */
function inOrder(expected: ExpectedCall[], calls: TranscriptCall[]): number[] {
  let from = 0;
  return expected.map((want) => {
    const at = calls.findIndex((call, i) => i >= from && call.valid && isCall(want, call));
    if (at >= 0) from = at + 1;
    return at;
  });
}

/** Maximum bipartite matching by augmenting paths: a broad matcher must not take the only call of a narrow one. */
function anyOrder(expected: ExpectedCall[], calls: TranscriptCall[]): number[] {
  const takenBy = new Map<number, number>();
  const fits = expected.map((want) =>
    calls.flatMap((call, i) => (call.valid && isCall(want, call) ? [i] : [])),
  );
  const place = (which: number, tried: Set<number>): boolean => {
    for (const call of fits[which]!) {
      if (tried.has(call)) continue;
      tried.add(call);
      const holder = takenBy.get(call);
      if (holder === undefined || place(holder, tried)) {
        takenBy.set(call, which);
        return true;
      }
    }
    return false;
  };
  expected.forEach((_, which) => {
    place(which, new Set());
  });
  const result = expected.map(() => -1);
  for (const [call, which] of takenBy) result[which] = call;
  return result;
}
