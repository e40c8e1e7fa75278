/** The small charts of a run: what each shows, in the order of what people look at. */
import type { Metrics } from '../../../src/core/training/run.types';
import type { Colour } from '../../common/chart/types';
import { figure, share } from '../../common/format';
import { printable } from '../../common/text';
import { byRole, curve, DASHED, lines, measured, percent, type Read, ratio, type Spec, sum } from './series';

/** In the order of what people look at first; the first five stand in one row. */
export const SPECS: readonly Spec[] = [
  {
    id: 'advantage',
    title: 'Advantage spread',
    unit: 'by role',
    why: 'How much the outputs of a step differ in what they are worth. None: nothing is learned.',
    series: (metrics) => byRole(metrics, (row) => row.advantageSpread, share),
  },
  {
    id: 'gates',
    title: 'Gate failures',
    unit: 'of 100 calls',
    why: 'Calls that no tool would have taken, by what is wrong with them.',
    series: gateFailures,
  },
  {
    id: 'entropy',
    title: 'Entropy',
    unit: 'nats a token',
    why: 'How undecided the policy is. Near none, rollouts of a group are all the same.',
    series: (metrics) => byRole(metrics, (row) => row.entropy, share),
  },
  {
    id: 'difference',
    title: 'Sampler–learner',
    unit: 'nats',
    why: 'How far apart the log-probabilities of the same tokens are where they are sampled and where they are learned. Training stops at 0.5.',
    series: (metrics) =>
      lines(metrics, [curve('mean', 'strong', (row) => row.difference?.mean)], figure, undefined, [
        { value: 0.05, label: 'warns .05' },
      ]),
  },
  {
    id: 'time',
    title: 'Step time',
    unit: 'seconds',
    why: 'Where the time of a step goes.',
    series: stepTime,
  },
  {
    id: 'fidelity',
    title: 'Fidelity',
    unit: 'held-out calls',
    why: 'Rehearsed answers that agree with the real ones, and errors that were seen coming.',
    series: (metrics) =>
      lines(
        metrics,
        [
          measured('fidelity', 'real', ({ fidelity }) => fidelity),
          measured('recall', 'rehearse', ({ anticipation }) => anticipation?.recall ?? null, DASHED, false),
          measured('precision', 'mute', ({ anticipation }) => anticipation?.precision ?? null, [2, 2], false),
        ],
        share,
        [0, 1],
      ),
  },
  {
    id: 'collapse',
    title: 'Collapse',
    unit: 'share of one value',
    why: 'Fields whose rehearsed values crowd on one, although records or the base model vary.',
    series: collapse,
  },
  {
    id: 'contradictions',
    title: 'Contradictions',
    unit: 'of 100 recorded calls',
    why: 'Rehearsed answers that say something else than the record of the same call.',
    series: (metrics) =>
      lines(
        metrics,
        [curve('contradicted', 'fail', (row) => percent(ratio(row.contradictions, row.recordedCalls)))],
        figure,
      ),
  },
  {
    id: 'signal',
    title: 'Groups without signal',
    unit: 'share',
    why: 'Groups whose rollouts all have the same reward teach nothing.',
    series: (metrics) =>
      lines(
        metrics,
        [curve('no signal', 'strong', (row) => ratio(row.groupsWithoutSignal, row.groups))],
        share,
        [0, 1],
      ),
  },
  {
    id: 'wellformed',
    title: 'Well-formed rehearsals',
    unit: 'share',
    why: 'Rehearsed answers that could be read.',
    series: (metrics) =>
      lines(metrics, [curve('well-formed', 'rehearse', (row) => row.wellFormed, DASHED)], share, [0, 1]),
  },
  {
    id: 'validation',
    title: 'Validation success',
    unit: '95 % interval',
    why: 'Tasks that are not trained on.',
    series: (metrics) =>
      lines(
        metrics,
        [
          measured('real', 'real', ({ realSuccess }) => realSuccess),
          measured('rehearsed', 'rehearse', ({ rehearsedSuccess }) => rehearsedSuccess, DASHED),
        ],
        share,
        [0, 1],
      ),
  },
  {
    id: 'reward',
    title: 'Training reward',
    unit: 'rehearsed, with success',
    why: 'Of the rollouts that are learned from.',
    series: (metrics) =>
      lines(
        metrics,
        [
          curve('reward', 'rehearse', (row) => row.reward, DASHED),
          curve('success', 'strong', (row) => row.success),
        ],
        share,
        [0, 1],
      ),
  },
  {
    id: 'kl',
    title: 'KL to the base',
    unit: 'nats a token',
    why: 'How far the policy has moved from the model it started from.',
    series: (metrics) => byRole(metrics, (row) => row.kl, figure),
  },
  {
    id: 'tokens',
    title: 'Sampled tokens',
    unit: 'a step',
    why: 'What a step costs; growing outputs show here first.',
    series: (metrics) =>
      byRole(metrics, (row) => (row.rollouts > 0 ? row.tokens : { act: null, rehearse: null }), figure),
  },
  {
    id: 'ratio',
    title: 'Importance ratio',
    unit: 'mean, share clipped',
    why: 'How far the weights moved from those that sampled. A mean far from 1, or much clipped: the learning rate is too large.',
    series: (metrics) =>
      lines(
        metrics,
        [
          curve('mean', 'strong', (row) => row.ratio?.mean),
          curve('clipped', 'warn', (row) => row.ratio?.clipped, DASHED),
        ],
        share,
      ),
  },
  {
    id: 'gradient',
    title: 'Gradient norm',
    unit: 'before clipping',
    why: 'Growing without end, it diverges.',
    series: (metrics) => lines(metrics, [curve('norm', 'strong', (row) => row.gradientNorm)], figure),
  },
  {
    id: 'replay',
    title: 'Replay loss',
    unit: 'nats a token',
    why: 'How well recorded answers are known by heart (`replayShare`).',
    optional: true,
    series: (metrics) => lines(metrics, [curve('loss', 'rehearse', (row) => row.replayLoss, DASHED)], figure),
  },
];

/** The kinds that failed most, the rest together. */
function gateFailures(metrics: readonly Metrics[]) {
  const totals = new Map<string, number>();
  for (const { gateFailures: counts } of metrics)
    for (const [code, count] of Object.entries(counts)) totals.set(code, (totals.get(code) ?? 0) + count);
  const kinds = [...totals].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0])).map(([code]) => code);
  const [shown, rest] = [kinds.slice(0, 3), kinds.slice(3)];
  const of =
    (codes: readonly string[]): Read =>
    (row) =>
      percent(ratio(sum(codes.map((code) => row.gateFailures[code] ?? 0)), row.calls));
  const looks: [Colour, number[] | undefined][] = [
    ['fail', undefined],
    ['strong', [5, 3]],
    ['mute', [2, 2]],
  ];
  const readers = shown.map((code, i) =>
    curve(printable(code).toLowerCase().replaceAll('_', ' '), looks[i]![0], of([code]), looks[i]![1]),
  );
  if (kinds.length !== 1) readers.unshift(curve('all', 'strong', of(kinds)));
  if (rest.length > 0) readers.push(curve('other', 'edge', of(rest), [1, 3]));
  return lines(metrics, readers, figure);
}

const PHASES = ['sample', 'learn', 'evaluate', 'sync', 'save', 'other'] as const;

/** Phases in order, the small ones together; the start is no step and stays out. */
function stepTime(all: readonly Metrics[]) {
  const metrics = all.filter(({ step }) => step > 0);
  const total = sum(metrics.map(({ seconds }) => seconds.total)) || 1;
  const large = PHASES.filter(
    (phase) => phase !== 'other' && sum(metrics.map(({ seconds }) => seconds[phase])) / total > 0.05,
  );
  const rest: Read = ({ seconds }) => Math.max(0, seconds.total - sum(large.map((phase) => seconds[phase])));
  const colours: Record<string, Colour> = { sample: 'act', learn: 'rehearse', evaluate: 'real' };
  const readers = large.map((phase) => curve(phase, colours[phase] ?? 'fg', ({ seconds }) => seconds[phase]));
  readers.push(curve('other', 'mute', rest));
  const made = lines(metrics, readers, (value) => figure(value));
  return { ...made, plot: { ...made.plot, stacked: true } };
}

/** The fields that have collapsed most, by their share at the last step that tells. */
function collapse(metrics: readonly Metrics[]) {
  const latest = new Map<string, number>();
  for (const row of metrics)
    for (const { tool, field, count, of } of row.collapse)
      latest.set(`${tool} ${field}`, ratio(count, of) ?? 0);
  const names = [...latest]
    .sort((a, b) => b[1] - a[1])
    .slice(0, 3)
    .map(([name]) => name);
  const looks: [Colour, number[] | undefined][] = [
    ['warn', undefined],
    ['strong', [5, 3]],
    ['mute', [2, 2]],
  ];
  const readers = names.map((name, i) => {
    const read: Read = (row) => {
      const found = row.collapse.find(({ tool, field }) => `${tool} ${field}` === name);
      return found ? ratio(found.count, found.of) : null;
    };
    return curve(shortField(name), looks[i]![0], read, looks[i]![1]);
  });
  return lines(metrics, readers, share, [0, 1]);
}

function shortField(name: string): string {
  return printable(
    name
      .split(/[.\s]/)
      .at(-1)!
      .replace(/[[\]'"*]/g, '') || name,
  );
}
