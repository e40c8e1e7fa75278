/** From the rollouts of an evaluation to its figures. */
import type { Share } from '../fidelity/interval';
import type { FidelitySummary } from '../fidelity/summary';
import { meanOf, shareOf } from './estimate';
import { mean } from './measure';
import type { Estimate, Evaluation } from './run.types';

export interface Attempt {
  task: string;
  /** Null where it could not be scored. */
  reward: number | null;
  success: boolean;
  /** Reward over the checks that both sides can decide; null where none is left. */
  shared: number | null;
}

/** @param real null where nothing real ran */
export function evaluationOf(
  tasks: readonly string[],
  real: readonly Attempt[] | null,
  rehearsed: readonly Attempt[],
  recorded: FidelitySummary | null,
): Omit<Evaluation, 'part' | 'seconds'> {
  const gaps = tasks.flatMap((task) => {
    const [told, true_] = [rehearsed, real ?? []].map((side) => byTask(side, task, ({ shared }) => shared));
    return told === null || true_ === null ? [] : [told! - true_!];
  });
  return {
    realSuccess: real && successOf(real),
    realReward: real && rewardOver(tasks, real),
    rehearsedSuccess: successOf(rehearsed),
    rehearsedReward: rewardOver(tasks, rehearsed),
    gap: meanOf(gaps, -1, 1),
    fidelity: recorded && estimateOf(recorded.fidelity),
    anticipation: recorded && {
      recall: estimateOf(recorded.anticipation.recall),
      precision: estimateOf(recorded.anticipation.precision),
    },
    tasks: tasks.map((task) => ({
      task,
      real: real && byTask(real, task, succeeded),
      rehearsed: byTask(rehearsed, task, succeeded),
    })),
  };
}

const succeeded = ({ reward, success }: Attempt) => (reward === null ? null : success ? 1 : 0);

function successOf(attempts: readonly Attempt[]): Estimate | null {
  const scored = attempts.filter(({ reward }) => reward !== null);
  return shareOf(scored.filter(({ success }) => success).length, scored.length);
}

/** Mean over tasks, since attempts of a task are not independent. */
function rewardOver(tasks: readonly string[], attempts: readonly Attempt[]): Estimate | null {
  return meanOf(tasks.flatMap((task) => byTask(attempts, task, ({ reward }) => reward) ?? []));
}

function byTask(
  attempts: readonly Attempt[],
  task: string,
  of: (attempt: Attempt) => number | null,
): number | null {
  return mean(attempts.filter((one) => one.task === task).flatMap((one) => of(one) ?? []));
}

function estimateOf({ share, low, high, n }: Share): Estimate | null {
  return share === null ? null : { value: share, low, high, n };
}
