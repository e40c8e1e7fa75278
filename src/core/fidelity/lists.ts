/** Which items of two lists belong together. */
import { equalJson, isObject, type Json } from '../json';
import type { Tolerance } from './types';

/** Indexes that belong together; null where an item has none on the other side. In the order of the real list. */
export type Aligned = { rehearsed: number | null; real: number | null }[];

/** By order. Where the lengths differ, what is the same at both ends is aligned first. */
export function alignByOrder(rehearsed: readonly Json[], real: readonly Json[]): Aligned {
  const shorter = Math.min(rehearsed.length, real.length);
  let head = 0;
  let tail = 0;
  if (rehearsed.length !== real.length) {
    while (head < shorter && equalJson(rehearsed[head], real[head])) head++;
    while (tail < shorter - head && equalJson(rehearsed.at(-1 - tail), real.at(-1 - tail))) tail++;
  }
  const aligned: Aligned = [];
  const push = (a: number | null, b: number | null) => aligned.push({ rehearsed: a, real: b });
  for (let i = 0; i < Math.max(rehearsed.length, real.length) - tail; i++) {
    push(i < rehearsed.length - tail ? i : null, i < real.length - tail ? i : null);
  }
  for (let i = tail; i > 0; i--) push(rehearsed.length - i, real.length - i);
  return aligned;
}

/** Where the author says that the order carries no meaning, or which field tells items apart. */
export function alignAs(
  how: NonNullable<Tolerance['list']>,
  rehearsed: readonly Json[],
  real: readonly Json[],
  /** Whether two items match or are tolerable. */
  agree: (rehearsed: number, real: number) => boolean,
): Aligned {
  const open = new Set(rehearsed.keys());
  const partner = new Map<number, number>();
  const take = (i: number, same: (j: number) => boolean) => {
    for (const j of open) {
      if (!same(j)) continue;
      partner.set(i, j);
      open.delete(j);
      return;
    }
  };
  if (how === 'set') {
    real.forEach((item, i) => {
      take(i, (j) => equalJson(rehearsed[j], item));
    });
    real.forEach((_, i) => {
      if (!partner.has(i)) take(i, (j) => agree(j, i));
    });
  } else {
    real.forEach((item, i) => {
      const key = keyOf(item, how.key);
      if (key !== undefined) take(i, (j) => equalJson(keyOf(rehearsed[j]!, how.key), key));
    });
  }
  const aligned: Aligned = real.map((_, i) => ({ rehearsed: partner.get(i) ?? null, real: i }));
  for (const j of open) aligned.push({ rehearsed: j, real: null });
  return aligned;
}

function keyOf(item: Json, key: string): Json | undefined {
  return isObject(item) && Object.hasOwn(item, key) ? item[key] : undefined;
}
