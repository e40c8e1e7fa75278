/** KL of a role to the frozen model that the run starts from: a term of every token's advantage, and a figure. */
import { adapterOf } from '../../../src/core/grpo/batch';
import { type Chain, chainsOf, type TrainedOutput } from '../../../src/core/grpo/chains';
import type { Role } from '../../../src/core/rehearsal/types';
import { mean } from '../../../src/core/training/measure';
import type { Metrics } from '../../../src/core/training/run.types';
import type { StepRollout } from './rollouts';
import type { TrainingRun } from './run';
import type { Weights } from './weights';

/**
 * Rollouts with −β(logp − logp_base) at each sampled token of a role whose β is not 0, and the mean of logp − logp_base
 * by role. The protocol has no loss with KL, so it enters here.
 * @param measure whether to find the figures where no β asks for them
 */
export async function withDivergence(
  { store }: TrainingRun,
  weights: Weights,
  rollouts: readonly StepRollout[],
  measure: boolean,
): Promise<{ rollouts: readonly StepRollout[]; kl: Metrics['kl'] }> {
  const { variant, kl } = store.config.settings;
  const roles = (['act', 'rehearse'] as const).filter(
    (role) => adapterOf(variant, role) && (kl[role] > 0 || measure),
  );
  const chains = rollouts
    .filter(({ reward }) => reward !== null)
    .flatMap(({ outputs }) => chainsOf(outputs))
    .filter((chain) => roles.includes(chain.role));
  if (chains.length === 0) return { rollouts, kl: { act: null, rehearse: null } };
  const learner = await weights.baseLearner();
  const { logprobs } = await learner.forwardBackward({
    loss: 'cross_entropy',
    data: chains.map(unweighted),
    forwardOnly: true,
  });
  const terms = new Map<TrainedOutput, number[]>();
  const differences: Record<Role, number[]> = { act: [], rehearse: [] };
  chains.forEach((chain, i) => {
    for (const { output, at } of chain.outputs) {
      const own = output.tokens.map(({ logprob, sampled }, k) => {
        const base = logprobs[i]![at + k - 1];
        if (!sampled || logprob === null || base === undefined) return 0;
        differences[chain.role].push(logprob - base);
        return -kl[chain.role] * (logprob - base);
      });
      if (kl[chain.role] > 0) terms.set(output, own);
    }
  });
  return {
    rollouts: rollouts.map((rollout) => ({
      ...rollout,
      outputs: rollout.outputs.map((output) => {
        const own = terms.get(output);
        return own ? { ...output, terms: own } : output;
      }),
    })),
    kl: { act: mean(differences.act), rehearse: mean(differences.rehearse) },
  };
}

function unweighted({ ids }: Chain) {
  return {
    input: ids.slice(0, -1),
    target: ids.slice(1),
    weights: new Array<number>(ids.length - 1).fill(0),
  };
}
