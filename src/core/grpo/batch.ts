/** From the scored rollouts of a step to what a learner is sent. */
import type { Role } from '../rehearsal/types';
import { ADVANTAGE_DEFAULTS, type AdvantageOptions, roleWiseAdvantages } from './advantages';
import { type Chain, chainsOf, type TrainedOutput } from './chains';

/** What is trained, and on whose observations: see "Variants" of the method. */
export type Variant = 'rehearse' | 'rehearse-per-role' | 'act-only' | 'real';

export interface Rollout {
  /** Null where it could not be scored: it leaves its group and gets no gradient. */
  reward: number | null;
  outputs: readonly TrainedOutput[];
}

/** One sequence for the learner. All arrays have the length of `input`; target t follows input t. */
export interface Datum {
  input: number[];
  target: number[];
  /** The sampler's log-probabilities of the targets (nats); 0 where nothing is trained. */
  logprobs: number[];
  /** Advantage over the step's completion tokens, so that the learner's sum is a mean; 0 where nothing is trained. */
  advantages: number[];
}

/** What one set of weights learns from. `shared` holds both roles; per role, each has its own. */
export interface AdapterBatch {
  adapter: 'shared' | Role;
  data: Datum[];
  /** Which rollout of the step each sample is of: its place in the groups, one after the other. */
  sources: number[];
  /** Completion tokens of its roles in the scored rollouts, those with advantage zero included. */
  tokens: number;
}

export interface Batch {
  adapters: AdapterBatch[];
  /** Groups with a scored rollout, and how many of them have no advantage other than zero. */
  groups: number;
  groupsWithoutSignal: number;
  unscored: number;
  /** Standard deviation of the advantages of each role's outputs over the step; null where it wrote none. */
  spread: Record<Role, number | null>;
}

/** Which adapter trains a role, or null where the role is not trained. */
export function adapterOf(variant: Variant, role: Role): AdapterBatch['adapter'] | null {
  if (variant === 'rehearse-per-role') return role;
  return role === 'act' || variant === 'rehearse' ? 'shared' : null;
}

/** The batch of a step: `groups` holds the rollouts of each task. */
export function buildBatch(
  groups: readonly (readonly Rollout[])[],
  variant: Variant,
  options: AdvantageOptions = ADVANTAGE_DEFAULTS,
): Batch {
  const adapters = new Map<AdapterBatch['adapter'], { tokens: number; chains: Weighted[] }>();
  let place = 0;
  const all: Record<Role, number[]> = { act: [], rehearse: [] };
  const batch: Batch = {
    adapters: [],
    groups: 0,
    groupsWithoutSignal: 0,
    unscored: 0,
    spread: { act: null, rehearse: null },
  };
  for (const group of groups) {
    const advantages = roleWiseAdvantages(group.map(scored), options);
    let signal = false;
    group.forEach((rollout, i) => {
      const source = place++;
      if (rollout.reward === null) {
        batch.unscored++;
        return;
      }
      for (const output of rollout.outputs) all[output.role].push(advantages[i]![output.role] ?? 0);
      for (const chain of chainsOf(rollout.outputs)) {
        const name = adapterOf(variant, chain.role);
        if (!name) continue;
        const advantage = advantages[i]![chain.role] ?? 0;
        signal ||= advantage !== 0;
        const adapter = adapters.get(name) ?? { tokens: 0, chains: [] };
        adapters.set(name, adapter);
        adapter.tokens += chain.outputs.reduce((sum, { output }) => sum + trainable(output), 0);
        adapter.chains.push({ chain, advantage, source });
      }
    });
    if (group.some((rollout) => rollout.reward !== null)) {
      batch.groups++;
      if (!signal) batch.groupsWithoutSignal++;
    }
  }
  for (const [adapter, { tokens, chains }] of adapters) {
    const all = chains.map((weighted) => ({ datum: datumOf(weighted, tokens), source: weighted.source }));
    // What asks for no gradient costs no learning.
    const asking = all.filter(({ datum }) => datum.advantages.some((advantage) => advantage !== 0));
    batch.adapters.push({
      adapter,
      tokens,
      data: asking.map(({ datum }) => datum),
      sources: asking.map(({ source }) => source),
    });
  }
  batch.spread = { act: deviation(all.act), rehearse: deviation(all.rehearse) };
  return batch;
}

interface Weighted {
  chain: Chain;
  advantage: number;
  source: number;
}

function scored({ reward, outputs }: Rollout) {
  const count = (role: Role) => outputs.filter((output) => output.role === role).length;
  return { reward, outputs: { act: count('act'), rehearse: count('rehearse') } };
}

function trainable(output: TrainedOutput): number {
  return output.tokens.filter((token) => token.sampled && token.logprob !== null).length;
}

function datumOf({ chain, advantage }: Weighted, tokens: number): Datum {
  const length = chain.ids.length - 1;
  const logprobs = new Array<number>(length).fill(0);
  const advantages = new Array<number>(length).fill(0);
  for (const { output, at } of chain.outputs) {
    output.tokens.forEach((token, i) => {
      const position = at + i - 1; // the input position that the token follows
      if (!token.sampled || token.logprob === null || position < 0) return;
      logprobs[position] = token.logprob;
      advantages[position] = (advantage + (output.terms?.[i] ?? 0)) / tokens;
    });
  }
  return { input: chain.ids.slice(0, -1), target: chain.ids.slice(1), logprobs, advantages };
}

function deviation(values: readonly number[]): number | null {
  if (!values.length) return null;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
}
