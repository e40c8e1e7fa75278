/** Two evaluated checkpoints side by side, from the metrics of their runs. */
import type { CheckpointsView, Side } from '../../../webview/common/training';
import { compareEvaluations } from '../../core/training/paired';
import type { Metrics } from '../../core/training/run.types';
import { UserError } from '../../core/user-error';

/** Throws `UserError` where there is nothing that both were evaluated on. */
export function comparisonView(
  first: Side,
  second: Side,
  metrics: { first: readonly Metrics[]; second: readonly Metrics[] },
): CheckpointsView {
  const [one, other] = [evaluationOf(metrics.first, first), evaluationOf(metrics.second, second)];
  const compared = compareEvaluations(one, other);
  if (!compared) {
    throw new UserError(
      'The two checkpoints were not evaluated on the same tasks.',
      'Choose two whose runs share validation tasks.',
    );
  }
  const { on, difference } = compared;
  const known = new Map(one.tasks.map((task) => [task.task, task[on]]));
  const pairs = other.tasks.flatMap(({ task, ...values }) => {
    const [before, after] = [known.get(task) ?? null, values[on]];
    return before === null || after === null ? [] : [{ task, first: before, second: after }];
  });
  const changed = pairs
    .filter((pair) => pair.first !== pair.second)
    .sort(
      (a, b) => Math.abs(b.second - b.first) - Math.abs(a.second - a.first) || a.task.localeCompare(b.task),
    );
  return {
    first,
    second,
    measure: on === 'real' ? 'success on real tools' : 'success in rehearsal',
    part: other.part,
    firstMean: mean(pairs.map((pair) => pair.first)),
    secondMean: mean(pairs.map((pair) => pair.second)),
    difference: { value: difference.value, low: difference.low, high: difference.high, n: difference.n },
    tasks: changed,
    same: pairs.length - changed.length,
  };
}

/** Steps that can be compared. */
export function evaluatedSteps(metrics: readonly Metrics[]): number[] {
  return metrics.flatMap(({ step, evaluation }) => (evaluation ? [step] : []));
}

function evaluationOf(metrics: readonly Metrics[], { run, step }: Side) {
  const { evaluation } = metrics.find((row) => row.step === step) ?? {};
  if (evaluation) return evaluation;
  throw new UserError(`Step ${step} of ${run} was not evaluated.`, 'Choose a step that was.');
}

function mean(values: readonly number[]): number {
  return values.length > 0 ? values.reduce((sum, value) => sum + value, 0) / values.length : 0;
}
