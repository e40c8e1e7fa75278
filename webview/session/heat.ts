/** Heat of a token: 0 (sure) to 4 (not at all), by what the person chose to see. */
import type { TokenView } from '../../src/core/rehearsal/view.types';
import { SURPRISE_LEVELS } from '../common/surprise';

export type Heat = 'probability' | 'entropy' | 'surprise';

export interface HeatScale {
  value: Heat;
  label: string;
  /** What each level holds, best first. */
  levels: readonly string[];
}

export const HEATS: readonly HeatScale[] = [
  { value: 'probability', label: 'Probability', levels: ['≥ .95', '≥ .8', '≥ .5', '≥ .2', 'less'] },
  { value: 'entropy', label: 'Entropy', levels: ['≤ .1', '≤ .5', '≤ 1', '≤ 2', 'more'] },
  { value: 'surprise', label: 'Surprise', levels: SURPRISE_LEVELS },
];

const AT_LEAST = [0.95, 0.8, 0.5, 0.2];
const AT_MOST = [0.1, 0.5, 1, 2];

/** Levels are half-open: a token is in the first one whose bound it meets. Without a figure there is no heat. */
export function probabilityLevel(logprob: TokenView['logprob']): number {
  if (logprob === null) return 0;
  const level = AT_LEAST.findIndex((bound) => Math.exp(logprob) >= bound);
  return level < 0 ? AT_LEAST.length : level;
}

/** By entropy in nats. */
export function entropyLevel(entropy: TokenView['entropy']): number {
  if (entropy === null) return 0;
  const level = AT_MOST.findIndex((bound) => entropy <= bound);
  return level < 0 ? AT_MOST.length : level;
}

export function nextHeat(heat: Heat): Heat {
  const at = HEATS.findIndex((scale) => scale.value === heat);
  return HEATS[(at + 1) % HEATS.length]!.value;
}

export function isHeat(value: unknown): value is Heat {
  return HEATS.some((scale) => scale.value === value);
}
