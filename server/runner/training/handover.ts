/** How new weights get from what learns to what samples. */
import type { Policy } from '../../../src/core/policy';
import type { RunConfig } from '../../../src/core/training/types';
import type { Owner, TinkerLearner, TinkerSession } from '../../../src/node/learners/tinker';
import { VllmSampler } from '../../../src/node/learners/vllm';
import { connectPolicy } from '../../../src/node/policies/connect';
import type { Servers } from './servers';

export interface Handover {
  config: RunConfig;
  servers: Servers;
  session: TinkerSession;
  learner: TinkerLearner;
  owner: Owner;
  /** What sampled with the weights before. */
  before: Policy | undefined;
}

/** Gives a learner's weights to the sampler and returns what samples with them. Nothing may be sampling. */
export async function handOver({
  config,
  servers,
  session,
  learner,
  owner,
  before,
}: Handover): Promise<Policy> {
  if (config.settings.sampler.kind === 'vllm') {
    const name = owner.adapter === undefined ? owner.run : `${owner.run}.${owner.adapter}`;
    await new VllmSampler(servers.sampler).take(learner, name);
    return before ?? connectPolicy({ ...servers.sampler, model: name });
  }
  const model = await learner.toSampler();
  // On our engine the name stays, and with it all that connecting found out.
  if (before?.info.model === model) return before;
  if (session.backend.kind === 'engine') return connectPolicy({ ...servers.sampler, model });
  // It samples where it learns; chat template and texts are those of the same model beside it.
  return session.policy(model, await connectPolicy({ ...servers.sampler, model: servers.model }));
}
