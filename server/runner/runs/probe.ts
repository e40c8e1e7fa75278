/** How long a run would take, and whether it fits: measured on a few rollouts and one step of a throw-away model. */
import type { NewRun } from '../../../src/node/runs/store';
import type { Address } from '../training/run';
import type { KeyValues } from './keys';

export interface Probe {
  /** Of a step; null where nothing could be measured. */
  secondsPerStep: number | null;
  tokensPerStep: number | null;
  /** Of the whole run, its evaluations included. */
  seconds: number | null;
  memoryBytes: number | null;
  /** What the figures are from, or why there are none. */
  why: string;
}

export async function probe(
  _config: NewRun,
  _keys: KeyValues,
  _server: { engine(signal: AbortSignal): Promise<Address>; busy: boolean },
  _signal: AbortSignal,
): Promise<Probe> {
  return {
    secondsPerStep: null,
    tokensPerStep: null,
    seconds: null,
    memoryBytes: null,
    why: 'Nothing was measured.',
  };
}
