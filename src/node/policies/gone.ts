/** A model that is not offered any more: what it said can still be looked at, and nothing more is had of it. */

import type { Policy, PolicyInfo } from '../../core/policy';
import { modelErrors } from './errors';

export function gonePolicy(info: PolicyInfo): Policy {
  const asked = async (): Promise<never> => {
    throw modelErrors.notOffered(info.model);
  };
  return {
    // Nobody asks it for the probability of an answer.
    info: { ...info, canScore: false },
    render: asked,
    decode: asked,
    sample: () => {
      throw modelErrors.notOffered(info.model);
    },
  };
}
