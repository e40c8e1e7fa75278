/** The reality gap: what the policy earns in its own world beside what it achieves in the real one. */
import type { Estimate, Evaluation, Metrics, RunStatus } from '../../../src/core/training/run.types';
import type { Curve, Plot } from '../../common/chart/types';
import { share } from '../../common/format';
import { measured, type Series, summaryOf, valuesOf } from './series';

/** "they part" is said where the interval of the gap lies above this after the best step. */
const PARTED = 0;

export function gapSeries(metrics: readonly Metrics[], bestStep: number | null): Series {
  const evaluated = metrics.filter((row) => row.evaluation);
  const isReal = evaluated.some(({ evaluation }) => evaluation!.realSuccess);
  const hasRehearsed = evaluated.some(({ evaluation }) => evaluation!.rehearsedReward);
  const rehearsed: Curve = hasRehearsed
    ? {
        ...valuesOf(
          measured('reward in rehearsal', 'rehearse', (one) => one.rehearsedReward, [6, 4]),
          metrics,
        ),
        width: 2,
      }
    : {
        label: 'reward in rehearsal',
        colour: 'rehearse',
        dash: [6, 4],
        width: 2,
        values: metrics.map(({ reward }) => reward),
      };
  // One interval is enough to look at: the others are in the table.
  const curves: Curve[] = [{ ...rehearsed, band: false }];
  if (isReal) {
    curves.push({
      ...valuesOf(
        measured('success on real tools', 'real', ({ realSuccess }) => realSuccess),
        metrics,
      ),
      width: 2,
    });
    const reward = valuesOf(
      measured('reward on real tools', 'real', ({ realReward }) => realReward, [2, 3]),
      metrics,
    );
    const success = curves[1]!.values;
    // All-or-nothing checks make both the same line.
    const differs = reward.values.some(
      (value, i) => value !== null && Math.abs(value - (success[i] ?? value)) > 0.005,
    );
    if (differs) curves.push({ ...reward, band: false, points: false, width: 1.5 });
  }
  const steps = metrics.map(({ step }) => step);
  const plot: Plot = {
    steps,
    curves,
    range: [0, 1],
    ...markOf(evaluated, bestStep, isReal),
    ...gapOf(evaluated, bestStep, curves.length > 2 ? 2 : 1, isReal),
  };
  return {
    id: 'gap',
    title: 'Reality gap',
    unit: 'validation tasks, over the checks that both sides can decide',
    plot,
    format: share,
    summary: gapSummary(plot, evaluated, bestStep, isReal),
  };
}

/** Whether rehearsal and reality have parted since the best step. */
export function hasParted(evaluated: readonly Metrics[], bestStep: number | null): boolean {
  const last = evaluated.at(-1);
  if (!last || bestStep === null || last.step <= bestStep) return false;
  const best = evaluated.find(({ step }) => step === bestStep);
  const [now, then] = [last.evaluation?.gap, best?.evaluation?.gap];
  return !!now && now.low > PARTED && now.value > (then?.value ?? 0);
}

function markOf(evaluated: readonly Metrics[], bestStep: number | null, isReal: boolean): Pick<Plot, 'mark'> {
  const best = evaluated.find(({ step }) => step === bestStep);
  if (!best || bestStep === null) return {};
  const success = isReal ? best.evaluation?.realSuccess : best.evaluation?.rehearsedSuccess;
  const what = isReal ? 'real success' : 'success in rehearsal';
  return {
    mark: {
      step: bestStep,
      curve: isReal ? 1 : 0,
      above: hasParted(evaluated, bestStep) ? `they part at step ${bestStep}` : '',
      below: success ? `best checkpoint, ${what} ${share(success.value)}` : 'best checkpoint',
    },
  };
}

function gapOf(
  evaluated: readonly Metrics[],
  bestStep: number | null,
  lower: number,
  isReal: boolean,
): Pick<Plot, 'gap'> {
  const gap = evaluated.at(-1)?.evaluation?.gap;
  if (!isReal || !gap) return {};
  const from = hasParted(evaluated, bestStep) ? bestStep! : Number.POSITIVE_INFINITY;
  return { gap: { upper: 0, lower, from, figure: `gap ${share(gap.value)}`, note: interval(gap) } };
}

/** ".38 to .62 (95 %, n = 64)". */
export function interval({ low, high, n }: Estimate): string {
  return `${share(low)} to ${share(high)} (95 %, n = ${n})`;
}

function gapSummary(
  plot: Plot,
  evaluated: readonly Metrics[],
  bestStep: number | null,
  isReal: boolean,
): string {
  const last = evaluated.at(-1)?.evaluation;
  if (!last) return 'Nothing was evaluated yet: the first evaluation is the start of both curves.';
  if (!isReal) return `${summaryOf(plot, share)} The real tools did not run, so no gap can be measured.`;
  const gap = last.gap ? `, a gap of ${share(last.gap.value)} (${interval(last.gap)})` : '';
  const parted = hasParted(evaluated, bestStep)
    ? ` They part at step ${bestStep}, whose checkpoint is the best.`
    : bestStep === null
      ? ''
      : ` The best checkpoint is that of step ${bestStep}.`;
  return `Reward in rehearsal is ${figureOf(last.rehearsedReward)}, success on the real tools ${figureOf(last.realSuccess)}${gap}.${parted}`;
}

function figureOf(estimate: Estimate | null): string {
  return estimate ? share(estimate.value) : 'not known';
}

export interface CheckpointRow {
  step: number;
  best: boolean;
  kept: boolean;
  success: Estimate | null;
  isReal: boolean;
  rehearsed: number | null;
  gap: Estimate | null;
  fidelity: number | null;
}

/** Checkpoints with what their evaluations say, newest first; evaluations whose weights are gone stay as figures. */
export function checkpointRows(
  { checkpoints, bestStep }: RunStatus,
  metrics: readonly Metrics[],
): CheckpointRow[] {
  const evaluations = new Map<number, Evaluation | null>();
  for (const { step, evaluation } of metrics) if (evaluation) evaluations.set(step, evaluation);
  for (const { step } of checkpoints) if (!evaluations.has(step)) evaluations.set(step, null);
  return [...evaluations]
    .sort(([a], [b]) => b - a)
    .map(([step, evaluation]) => {
      const checkpoint = checkpoints.find((one) => one.step === step);
      return {
        step,
        best: step === bestStep,
        kept: checkpoint?.kept ?? false,
        success: evaluation?.realSuccess ?? evaluation?.rehearsedSuccess ?? checkpoint?.success ?? null,
        isReal: !!evaluation?.realSuccess,
        rehearsed: evaluation?.rehearsedReward?.value ?? null,
        gap: evaluation?.gap ?? null,
        fidelity: evaluation?.fidelity?.value ?? null,
      };
    });
}
