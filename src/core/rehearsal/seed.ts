/**
 * Seeds of outputs. One seed belongs to a whole output; the engine mixes in each token's position, so that
 * sampling n tokens one by one equals sampling them at once.
 */

/** Mixes integers and strings into an unsigned 31-bit integer (murmur3's finalizer over each word). */
export function mixSeed(...parts: readonly (number | string)[]): number {
  let hash = 0x9e3779b9;
  for (const part of parts) {
    const words =
      typeof part === 'number' ? [part | 0] : Array.from(part, (letter) => letter.codePointAt(0)!);
    for (const word of words) {
      hash ^= Math.imul(word, 0xcc9e2d51);
      hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
      hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
      hash ^= hash >>> 16;
    }
  }
  return hash & 0x7fffffff;
}
