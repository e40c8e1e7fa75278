/** Checks that a model decides: an item of a checklist (CM2), asked only where what it depends on holds. */
import type { Finding } from './checks';
import type { Check, CheckResult, Transcript } from './types';

type JudgeCheck = Extract<Check, { kind: 'judge' }>;

/** What the model said; it was asked before, since core asks nobody. */
export function checkJudge(
  check: JudgeCheck,
  index: number,
  { judgements }: Transcript,
  checks: readonly Check[],
  found: readonly (CheckResult | undefined)[],
): Finding {
  return (
    undecidedBy(check, checks, found) ??
    judgements?.[index] ?? { verdict: 'unscored', reason: 'No model was asked.' }
  );
}

/** Why a check is decided without being asked, by what it depends on; null where it has to be asked. */
export function undecidedBy(
  { dependsOn = [] }: JudgeCheck,
  checks: readonly Check[],
  found: readonly (CheckResult | undefined)[],
): Finding | null {
  const others = dependsOn.map((id) => ({ id, at: checks.findIndex((one) => one.id === id) }));
  const missing = others.find(({ at }) => !found[at]);
  if (missing)
    return {
      verdict: 'unscored',
      reason: `It depends on ${JSON.stringify(missing.id)}, which is no check before it.`,
    };
  const fails = others.find(({ at }) => found[at]!.verdict === 'fails');
  if (fails)
    return { verdict: 'fails', reason: `It was not asked: ${found[fails.at]!.title} does not hold.` };
  const open = others.find(({ at }) => found[at]!.verdict === 'unscored');
  if (open)
    return { verdict: 'unscored', reason: `It was not asked: ${found[open.at]!.title} could not be scored.` };
  return null;
}

/** Indices of checks, each after those that it depends on; of a circle, in their own order. */
export function inOrder(checks: readonly Check[]): number[] {
  const order: number[] = [];
  const state = new Array<'open' | 'done' | undefined>(checks.length);
  const visit = (index: number) => {
    if (state[index]) return;
    state[index] = 'open';
    const check = checks[index]!;
    for (const id of check.kind === 'judge' ? (check.dependsOn ?? []) : []) {
      const other = checks.findIndex((one) => one.id === id);
      if (other >= 0) visit(other);
    }
    state[index] = 'done';
    order.push(index);
  };
  checks.forEach((_, index) => {
    visit(index);
  });
  return order;
}
