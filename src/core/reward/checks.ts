/** The reward of a rollout: the weighted share of the task's checks that hold. Each kind of check has its function. */
import type { Task } from '../environment/types';
import { checkAnswer, checkFromResult } from './answer';
import { checkCalls, checkForbidden, checkMaxCalls } from './calls';
import { checkJudge, inOrder } from './judged';
import { checkCommand, checkState } from './real';
import { titleOf } from './title';
import type { Check, CheckResult, Reward, Transcript } from './types';

/** What a kind of check finds; index, title and weight are added here. */
export type Finding = Pick<CheckResult, 'verdict' | 'reason' | 'turn' | 'expected' | 'actual'>;

/** Does the work of evaluating checks on a transcript, which does not wait for anything; throws where it took too long. */
export type Bound = <T>(checks: readonly Check[], transcript: Transcript, work: () => T) => T;

/**
 * The one thing in core that is set: handed on as an argument it would go through every view of a session. A test
 * holds every program to setting it.
 */
let bound: Bound = (_checks, _transcript, work) => work();

/** Core has no clock. Whoever has one says here how checks are ended that would take for ever, as some patterns do. */
export function boundChecks(by: Bound): void {
  bound = by;
}

/**
 * Evaluates all checks of a task on what happened. The value is the weighted share of those that hold, 0 where a
 * required one fails, null where the rest could not be scored or nothing is left to score. Never throws.
 */
export function evaluate({ checks }: Pick<Task, 'checks'>, transcript: Transcript): Reward {
  try {
    return bound(checks, transcript, () => evaluateAll(checks, transcript));
  } catch (error) {
    const reason = `The checks of this task were not decided: ${(error as Error).message}. Look at their patterns.`;
    const undecided = checks.map((check, index) => ({
      ...{ index, title: titleOf(check), verdict: 'unscored' as const, reason },
      ...weightOf(check),
    }));
    return { value: null, success: false, checks: undecided };
  }
}

function evaluateAll(checks: readonly Check[], transcript: Transcript): Reward {
  const found: CheckResult[] = [];
  // A check that depends on others comes after them.
  for (const index of inOrder(checks)) {
    const check = checks[index]!;
    found[index] = { index, ...find(check, transcript, index, checks, found), ...weightOf(check) };
  }
  const value = combine(found);
  return { value, success: value === 1, checks: [...found] };
}

const weightOf = ({ weight = 1, required = false }: Check) => ({ weight, required });

function find(
  check: Check,
  transcript: Transcript,
  index: number,
  checks: readonly Check[],
  found: readonly (CheckResult | undefined)[],
): Finding & { title: string } {
  try {
    const finding =
      check.kind === 'judge'
        ? checkJudge(check, index, transcript, checks, found)
        : findingOf(check, transcript, index);
    return { title: titleOf(check), ...finding };
  } catch (error) {
    const reason = `The check could not be evaluated: ${(error as Error).message}.`;
    return { title: check.name ?? check.kind, verdict: 'unscored', reason };
  }
}

function findingOf(check: Exclude<Check, { kind: 'judge' }>, transcript: Transcript, index: number): Finding {
  switch (check.kind) {
    case 'calls':
      return checkCalls(check, transcript);
    case 'forbidden':
      return checkForbidden(check, transcript);
    case 'maxCalls':
      return checkMaxCalls(check, transcript);
    case 'answer':
      return checkAnswer(check, transcript);
    case 'fromResult':
      return checkFromResult(check, transcript);
    case 'state':
      return checkState(check, transcript);
    case 'command':
      return checkCommand(transcript, index);
    default:
      return {
        verdict: 'unscored',
        reason: `There is no check of kind ${JSON.stringify((check as Check).kind)}.`,
      };
  }
}

/** One scalar from verdicts; checks left out count for nothing. */
export function combine(checks: readonly CheckResult[]): number | null {
  const counted = checks.filter((check) => check.verdict !== 'left out');
  if (counted.some((check) => check.required && check.verdict === 'fails')) return 0;
  const weighty = counted.filter((check) => check.weight > 0 || check.required);
  if (weighty.length === 0 || weighty.some((check) => check.verdict === 'unscored')) return null;
  // All hold is exactly 1, whatever the rounding of the weights' sum.
  if (weighty.every((check) => check.verdict === 'holds')) return 1;
  const sum = (some: readonly CheckResult[]) => some.reduce((total, check) => total + check.weight, 0);
  return sum(weighty.filter((check) => check.verdict === 'holds')) / sum(weighty);
}
