/** The page of a run: puts its parts together, and hands each message to those whom it concerns. */
import type { Metrics, RunStatus } from '../../../src/core/training/run.types';
import { el } from '../../common/dom';
import { ErrorBar } from '../../common/notice';
import { printable } from '../../common/text';
import type { FromTraining, Notice, RunChoice, ToTraining } from '../../common/training';
import { Card, type Overlay } from './card';
import { Checkpoints } from './checkpoints';
import { Compare } from './compare';
import { Detail } from './detail';
import { gapSeries } from './gap';
import { Groups } from './groups';
import { Head, isActive } from './head';
import { merged, type RunModel, stepsWithRollouts } from './model';
import { Overlays } from './overlays';
import { Result } from './result';
import { type Series, seriesOf } from './series';
import { SPECS } from './specs';
import { Warnings } from './warnings';

/** What a person looks at: a step, and one of its rollouts; null for the newest. */
export interface Place {
  step: number | null;
  index: number | null;
}

/** What was kept of a page that is shown again. */
export function placeOf(state: unknown): Place {
  const { step, index } = (state ?? {}) as { step?: unknown; index?: unknown };
  return { step: typeof step === 'number' ? step : null, index: typeof index === 'number' ? index : null };
}

export class RunPage {
  readonly element = el('div', 'page run');
  private readonly head: Head;
  private readonly notice = new ErrorBar();
  private readonly result = new Result();
  private readonly warnings: Warnings;
  private readonly gap: Card;
  private readonly cards: Card[];
  private readonly checkpoints: Checkpoints;
  private readonly compare: Compare;
  private readonly overlays: Overlays;
  private readonly groups: Groups;
  private readonly detail: Detail;
  private readonly told = el('div', { class: 'sr', role: 'status' });
  private run: RunModel | null = null;
  private runs: readonly RunChoice[] = [];
  private readonly others = new Map<string, readonly Metrics[]>();
  /** Step whose rollouts are wanted. */
  private step: number | null = null;
  /** The person chose it: newer steps do not take its place. */
  private isChosen = false;

  constructor(
    private readonly post: (message: FromTraining) => void,
    private place: Place,
    private readonly keep: (place: Place) => void,
  ) {
    keep(place);
    const charts = {
      onPick: (step: number) => this.pick(step),
      onLook: (step: number | null) => this.look(step),
    };
    this.head = new Head(post);
    this.warnings = new Warnings(post, (step, index) => this.openRollout(step, index));
    const gap = gapSeries([], null);
    this.gap = new Card({
      ...gap,
      ...charts,
      why: 'Whether the policy learns its world, or a pleasant dream.',
      height: 286,
    });
    this.cards = SPECS.map(
      (spec) => new Card({ ...seriesOf(spec, []), ...charts, why: spec.why, height: 104, small: true }),
    );
    this.checkpoints = new Checkpoints(post, () => this.openCompare());
    this.compare = new Compare((first, second) => post({ type: 'compare', first, second }));
    this.overlays = new Overlays((added) => {
      if (added) post({ type: 'overlay', run: added });
      this.showOverlays();
    });
    this.groups = new Groups({
      goto: (step) => this.pick(step),
      open: (step, index) => this.openRollout(step, index),
    });
    this.detail = new Detail((step, index) => post({ type: 'debug', step, index }));
    const minis = this.cards.map(({ element }) => element);
    const more = el(
      'details',
      { class: 'more', open: true },
      el('summary', {}, 'More Curves'),
      el('div', 'minis', ...minis.slice(5)),
    );
    this.gap.element
      .querySelector('.head')!
      .insertBefore(this.overlays.element, this.gap.element.querySelector('.head > :last-child'));
    this.element.append(
      this.head.element,
      this.notice.element,
      this.result.element,
      el(
        'div',
        'top',
        el('div', 'reality', this.warnings.element, this.gap.element),
        this.checkpoints.element,
      ),
      this.compare.element,
      el('div', 'minis first', ...minis.slice(0, 5)),
      el('div', 'bottom', this.groups.element, this.detail.element),
      more,
      this.told,
    );
  }

  receive(message: ToTraining): void {
    switch (message.type) {
      case 'run':
        this.run = { status: message.status, facts: message.facts, metrics: message.metrics };
        this.runs = message.runs;
        this.showAll();
        break;
      case 'status':
        if (this.run) this.run = { ...this.run, status: message.status };
        this.showStatus();
        break;
      case 'metrics':
        if (this.run) this.run = { ...this.run, metrics: merged(this.run.metrics, message.metrics) };
        this.showMetrics();
        break;
      case 'runs':
        this.runs = message.runs;
        this.showRuns();
        break;
      case 'overlay':
        this.others.set(message.run, message.metrics);
        this.showOverlays();
        break;
      case 'rollouts':
        if (message.step === this.step) this.groups.show(message.step, message.groups);
        break;
      case 'rollout':
        this.detail.show(message.detail);
        this.groups.choose(message.detail.step === this.step ? message.detail.index : null);
        break;
      case 'comparison':
        this.compare.show(message.comparison);
        break;
      case 'openCompare':
        this.openCompare(true);
        break;
      case 'notice':
        this.fail(message.notice);
    }
  }

  fail(notice: Notice | null): void {
    const { message = '', action } = notice ?? {};
    const run = action && { title: action.title, run: () => this.post({ type: 'action', id: action.id }) };
    this.notice.show(notice && { message: printable(message), ...(run && { action: run }) });
  }

  private showAll(): void {
    this.showRuns();
    this.showStatus();
    const { step, index } = this.place;
    const isThere = step !== null && stepsWithRollouts(this.run?.metrics ?? []).includes(step);
    if (isThere && this.step === null) {
      this.isChosen = true;
      this.goto(step);
      if (index !== null) this.post({ type: 'rollout', step, index });
    }
    this.showMetrics();
  }

  private showStatus(): void {
    if (!this.run) return;
    const { status, facts, metrics } = this.run;
    const was = this.element.dataset.state;
    this.element.dataset.state = status.state;
    this.head.update(status, facts);
    this.result.update(status);
    this.warnings.update(status);
    this.checkpoints.update(status, metrics, facts);
    this.gap.update(gapOfRun(metrics, status), this.overlaysOf(null));
    if (was && was !== status.state && !isActive(status.state))
      this.told.textContent = `The run is ${status.state}. ${printable(status.message)}`;
  }

  private showMetrics(): void {
    if (!this.run) return;
    const { status, facts, metrics } = this.run;
    this.checkpoints.update(status, metrics, facts);
    this.showCurves();
    const steps = stepsWithRollouts(metrics);
    this.groups.setSteps(steps);
    const last = steps.at(-1);
    if (last !== undefined && !this.isChosen && last !== this.step) this.goto(last);
  }

  private showCurves(): void {
    if (!this.run) return;
    const { status, metrics } = this.run;
    this.gap.update(gapOfRun(metrics, status), this.overlaysOf(null));
    SPECS.forEach((spec, i) => {
      const card = this.cards[i]!;
      const series = seriesOf(spec, metrics);
      const isMeasured = series.plot.curves.some(({ values }) => values.some((value) => value !== null));
      card.element.hidden = spec.optional === true && !isMeasured;
      card.update(series, this.overlaysOf(i));
    });
  }

  private overlaysOf(spec: number | null): Overlay[] {
    return this.overlays.chosen.flatMap((id): Overlay[] => {
      const metrics = this.others.get(id);
      if (!metrics) return [];
      const series = spec === null ? gapSeries(metrics, null) : seriesOf(SPECS[spec]!, metrics);
      return [{ letter: this.overlays.letterOf(id), series }];
    });
  }

  private showOverlays(): void {
    this.showRuns();
    this.showCurves();
  }

  private showRuns(): void {
    this.overlays.update(this.runs, this.run?.status.id ?? '');
    this.compare.update(this.runs);
  }

  private openCompare(open?: boolean): void {
    this.compare.toggle(open, this.run?.status.id, this.run?.status.bestStep ?? null);
  }

  private look(step: number | null): void {
    for (const card of [this.gap, ...this.cards]) card.setStep(step);
  }

  /** The rollouts of the step that was clicked, or of the next one that has some. */
  private pick(step: number): void {
    const steps = stepsWithRollouts(this.run?.metrics ?? []);
    const near = steps.find((one) => one >= step) ?? steps.at(-1);
    if (near === undefined) return;
    this.isChosen = near !== steps.at(-1);
    this.goto(near);
    this.groups.element.scrollIntoView({ block: 'nearest' });
  }

  private goto(step: number): void {
    this.step = step;
    this.note({ step: this.isChosen ? step : null, index: null });
    this.post({ type: 'rollouts', step });
    if (!this.detail.isOf(step)) this.detail.clear();
  }

  private openRollout(step: number, index: number): void {
    // Whoever reads a rollout is not taken away from it by the next step.
    this.isChosen = true;
    if (step !== this.step) this.goto(step);
    this.groups.choose(index);
    this.note({ step, index });
    this.post({ type: 'rollout', step, index });
    this.detail.element.scrollIntoView({ block: 'nearest' });
  }

  private note(place: Place): void {
    this.place = place;
    this.keep(place);
  }
}

function gapOfRun(metrics: readonly Metrics[], { bestStep, warnings }: RunStatus): Series {
  return gapSeries(
    metrics,
    bestStep,
    warnings.some(({ code }) => code === 'pleasing'),
  );
}
