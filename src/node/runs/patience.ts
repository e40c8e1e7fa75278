/** Waiting that ends early where nobody waits any more. */
import { setTimeout as sleep } from 'node:timers/promises';

export async function until(signal: AbortSignal, ms: number): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
}
