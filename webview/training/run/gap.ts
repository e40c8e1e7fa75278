/** The reality gap: what the policy earns in its own world beside what it achieves in the real one. */
import type { Estimate, Evaluation, Metrics, RunStatus } from '../../../src/core/training/run.types';
import type { Curve, Plot } from '../../common/chart/types';
import { share } from '../../common/format';
import { measured, type Series, valuesOf } from './series';

/** Reward of training in rehearsal, and the validation tasks on both sides. */
export function gapSeries(metrics: readonly Metrics[], bestStep: number | null, isPleasing = false): Series {
  const evaluated = metrics.filter((row) => row.evaluation);
  const isReal = evaluated.some(({ evaluation }) => evaluation!.realSuccess);
  const curves: Curve[] = [
    {
      label: 'reward in rehearsal',
      colour: 'rehearse',
      dash: [6, 4],
      width: 2,
      values: metrics.map(({ reward }) => reward),
    },
  ];
  if (isReal)
    curves.push({
      ...valuesOf(
        measured('success on real tools', 'real', ({ realSuccess }) => realSuccess),
        metrics,
      ),
      width: 2,
    });
  const place = { rehearsed: curves.length, real: 1 };
  // One interval is enough to look at: the others are in the table.
  const same = measured('same tasks, rehearsed', 'rehearse', (one) => one.rehearsedReward, [2, 3], false);
  const rehearsed = valuesOf(same, metrics);
  if (rehearsed.values.some((value) => value !== null)) curves.push(rehearsed);
  if (isReal) {
    const reward = valuesOf(
      measured('reward on real tools', 'real', ({ realReward }) => realReward, [2, 3], false),
      metrics,
    );
    const success = curves[1]!.values;
    // All-or-nothing checks make both the same line.
    const differs = reward.values.some(
      (value, i) => value !== null && Math.abs(value - (success[i] ?? value)) > 0.02,
    );
    if (differs) place.real = curves.push({ ...reward, points: false, quiet: true }) - 1;
  }
  const parted = isReal && hasParted(evaluated, bestStep, isPleasing);
  const plot: Plot = {
    steps: metrics.map(({ step }) => step),
    curves,
    range: [0, 1],
    ...markOf(evaluated, bestStep, isReal, parted),
    ...(isReal && gapOf(evaluated, place)),
    ...(parted && { hatch: { upper: 0, lower: 1, from: bestStep! } }),
  };
  return {
    id: 'gap',
    title: 'Reality gap',
    unit: 'reward of training, and the validation tasks on both sides',
    plot,
    format: share,
    summary: gapSummary(metrics, evaluated, bestStep, { isReal, parted }),
  };
}

/**
 * Whether rehearsal and reality have parted since the best step: the run has warned of it, or on the same tasks
 * rehearsals earn more than the real tools give, and more than then.
 */
export function hasParted(
  evaluated: readonly Metrics[],
  bestStep: number | null,
  isPleasing = false,
): boolean {
  const last = evaluated.at(-1);
  if (!last || bestStep === null || last.step <= bestStep) return false;
  const best = evaluated.find(({ step }) => step === bestStep);
  const [now, then] = [last.evaluation?.gap, best?.evaluation?.gap];
  return isPleasing || (!!now && now.low > 0 && now.value > (then?.value ?? 0));
}

function markOf(
  evaluated: readonly Metrics[],
  bestStep: number | null,
  isReal: boolean,
  parted: boolean,
): Pick<Plot, 'mark'> {
  const best = evaluated.find(({ step }) => step === bestStep);
  if (!best || bestStep === null) return {};
  const success = isReal ? best.evaluation?.realSuccess : best.evaluation?.rehearsedSuccess;
  const what = isReal ? 'real success' : 'success in rehearsal';
  return {
    mark: {
      step: bestStep,
      curve: isReal ? 1 : 0,
      above: parted ? `they part at step ${bestStep}` : '',
      below: success ? `best checkpoint, ${what} ${share(success.value)}` : 'best checkpoint',
    },
  };
}

function gapOf(evaluated: readonly Metrics[], place: { rehearsed: number; real: number }): Pick<Plot, 'gap'> {
  const gap = evaluated.at(-1)?.evaluation?.gap;
  if (!gap) return {};
  const note = `${share(gap.low)} to ${share(gap.high)}, same tasks`;
  const isWide = gap.low > 0;
  return {
    gap: { upper: place.rehearsed, lower: place.real, figure: `gap ${share(gap.value)}`, note, isWide },
  };
}

/** ".38 to .62 (95 %, n = 64)". */
export function interval({ low, high, n }: Estimate): string {
  return `${share(low)} to ${share(high)} (95 %, n = ${n})`;
}

function gapSummary(
  metrics: readonly Metrics[],
  evaluated: readonly Metrics[],
  bestStep: number | null,
  { isReal, parted }: { isReal: boolean; parted: boolean },
): string {
  const last = evaluated.at(-1)?.evaluation;
  if (!last) return 'Nothing was evaluated yet: the first evaluation is the start of both curves.';
  const reward = metrics.findLast((row) => row.reward !== null)?.reward;
  const trained = reward == null ? '' : `${share(reward)} in training and `;
  const dreamt = `Reward in rehearsal is ${trained}${figureOf(last.rehearsedReward)} on the validation tasks`;
  if (!isReal) return `${dreamt}. The real tools did not run, so no gap can be measured.`;
  const gap = last.gap ? `, a gap of ${share(last.gap.value)}, ${interval(last.gap)}, on the same tasks` : '';
  const end = parted
    ? ` They part at step ${bestStep}, whose checkpoint is the best.`
    : bestStep === null
      ? ''
      : ` The best checkpoint is that of step ${bestStep}.`;
  return `${dreamt}, success on the real tools ${figureOf(last.realSuccess)}${gap}.${end}`;
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
