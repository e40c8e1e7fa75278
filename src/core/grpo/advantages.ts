/** Role-wise group-relative advantages: every OUTPUT of a role in a group counts once in that role's baseline. */
import type { Role } from '../rehearsal/types';

export interface AdvantageOptions {
  /** Divide by the unbiased standard deviation + 1e-6. */
  normalizeByStd: boolean;
  /** The advantage where a role has exactly one output in its group: none, or the reward as it is. */
  singleton: 'zero' | 'reward';
}

export const ADVANTAGE_DEFAULTS: AdvantageOptions = { normalizeByStd: false, singleton: 'zero' };

/** A rollout of a group: its reward, null where it could not be scored, and how many outputs each role wrote. */
export interface Scored {
  reward: number | null;
  outputs: Readonly<Record<Role, number>>;
}

/** The advantage that every output of a role in a rollout has; null where it has none or was not scored. */
export type Advantages = Record<Role, number | null>;

const ROLES: readonly Role[] = ['act', 'rehearse'];
const EPSILON = 1e-6;

/** Advantages of the rollouts of ONE task, in their order. An unscored rollout enters no baseline. */
export function roleWiseAdvantages(
  group: readonly Scored[],
  options: AdvantageOptions = ADVANTAGE_DEFAULTS,
): Advantages[] {
  const baselines = Object.fromEntries(ROLES.map((role) => [role, baseline(group, role, options)]));
  return group.map(
    ({ reward, outputs }) =>
      Object.fromEntries(
        ROLES.map((role) => [role, reward === null || !outputs[role] ? null : baselines[role]!(reward)]),
      ) as Advantages,
  );
}

/** From a reward to the advantage of a role's outputs. */
function baseline(
  group: readonly Scored[],
  role: Role,
  { normalizeByStd, singleton }: AdvantageOptions,
): (reward: number) => number {
  let count = 0;
  let sum = 0;
  const rewards = new Set<number>();
  for (const { reward, outputs } of group) {
    if (reward === null || !outputs[role]) continue;
    count += outputs[role];
    sum += reward * outputs[role];
    rewards.add(reward);
  }
  if (count === 1) {
    if (singleton === 'zero') return () => 0;
    return (reward) => (normalizeByStd ? reward / (1 + EPSILON) : reward);
  }
  if (rewards.size < 2) return () => 0; // exactly: a mean of equal rewards may differ in its last bit
  const mean = sum / count;
  if (!normalizeByStd) return (reward) => reward - mean;
  let squares = 0;
  for (const { reward, outputs } of group) {
    if (reward !== null) squares += outputs[role] * (reward - mean) ** 2;
  }
  const deviation = Math.sqrt(squares / (count - 1));
  return (reward) => (reward - mean) / (deviation + EPSILON);
}
