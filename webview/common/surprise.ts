/** Surprise of a token of a real answer, in bits: how unlikely the model finds it, in levels. */

/** What each level holds, the least surprising first. */
export const SURPRISE_LEVELS = ['< .5', '≥ .5', '≥ 1', '≥ 2', '≥ 4'] as const;
const AT_LEAST = [0.5, 1, 2, 4];

/** From 0 to 4. Without a figure there is no heat. */
export function surpriseLevel(bits: number | null): number {
  return bits === null ? 0 : AT_LEAST.filter((bound) => bits >= bound).length;
}
