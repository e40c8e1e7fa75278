/** Initial states as environments name them. */
import type { Json } from '../json';

/** The state in a file named relative to the environment file; rejects with the reason, and `next` where known. */
export type ReadState = (name: string) => Promise<unknown>;

/** A state that an executor reads from a file; any other is the state itself. */
export function isStateFile(state: Json | undefined): state is string {
  return typeof state === 'string' && /\.json$/i.test(state);
}
