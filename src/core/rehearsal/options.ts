/** How a rehearsal samples where nobody says otherwise: the model's own distribution, nothing cut off. */
import type { RehearsalOptions } from './types';

export const DEFAULT_OPTIONS: RehearsalOptions = {
  temperature: 1,
  topP: 1,
  topK: -1,
  minP: 0,
  alternatives: 5,
  seed: 0,
  priority: 0,
  observations: 'rehearse',
};
