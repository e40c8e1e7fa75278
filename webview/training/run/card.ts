/** A chart with its title, its one sentence, and the equal table behind "Show as table". */
import { Chart } from '../../common/chart/chart';
import type { Curve } from '../../common/chart/types';
import { el, fill, setText } from '../../common/dom';
import { button } from '../../common/toolkit';
import type { Series } from './series';

export interface CardOptions {
  id: string;
  title: string;
  unit: string;
  why: string;
  height: number;
  small?: boolean;
  format(value: number): string;
  onPick(step: number): void;
  onLook(step: number | null): void;
}

/** Dashes of runs that are laid over: each its own, whatever the colour. */
const OVERLAYS: readonly (readonly number[])[] = [
  [1, 3],
  [8, 3, 1, 3],
  [12, 4],
  [2, 6],
];

export interface Overlay {
  /** Letter by which its curves are called. */
  letter: string;
  series: Series;
}

let made = 0;

export class Card {
  readonly element: HTMLElement;
  private readonly chart: Chart;
  private readonly unit = el('span', 'unit');
  private readonly summary = el('figcaption', 'summary');
  private readonly table = el('div', { class: 'data', tabindex: 0, role: 'region', hidden: true });
  private readonly toggle: HTMLElement;
  private series: Series | null = null;

  constructor(private readonly options: CardOptions) {
    const { id, title, unit, why, small = false } = options;
    const heading = `chart-${id}-${++made}`;
    this.chart = new Chart({ ...options, name: `${title}, by step` });
    this.toggle = button({
      label: small ? '' : 'Show as table',
      icon: 'table',
      look: 'quiet',
      name: `${title}: show as table`,
      onClick: () => this.show(this.table.hidden !== false),
    });
    this.toggle.setAttribute('aria-pressed', 'false');
    this.toggle.title = 'Show as table';
    this.table.setAttribute('aria-label', `${title}, as a table`);
    setText(this.unit, unit);
    this.element = el(
      'figure',
      { class: small ? 'card-chart small' : 'card-chart', 'aria-labelledby': heading, 'data-chart': id },
      el('div', 'head', el('h2', { id: heading, title: why }, title), this.unit, this.toggle),
      this.chart.element,
      this.table,
      this.summary,
    );
  }

  update(series: Series, overlays: readonly Overlay[] = []): void {
    this.series = series;
    const others = overlays.flatMap(({ letter, series: other }, i) =>
      other.plot.stacked
        ? []
        : compared(other.plot.curves, this.options.small).map((curve) =>
            laidOver(curve, letter, other.plot.steps, series.plot.steps, i),
          ),
    );
    const steps = withSteps(series.plot.steps, overlays);
    const own = series.plot.curves.map((curve) => onSteps(curve, series.plot.steps, steps));
    const over = others.map(({ curve, steps: from }) => onSteps(curve, from, steps));
    this.chart.update({ ...series.plot, steps, curves: [...own, ...over] });
    setText(this.summary, series.summary);
    if (!this.table.hidden) this.fillTable();
  }

  setStep(step: number | null): void {
    this.chart.setStep(step);
    setText(this.unit, step === null ? this.options.unit : `step ${step}`);
  }

  destroy(): void {
    this.chart.destroy();
  }

  private show(asTable: boolean): void {
    if (asTable) this.fillTable();
    this.table.style.height = `${this.options.height}px`;
    this.table.hidden = !asTable;
    this.chart.element.hidden = asTable;
    this.toggle.setAttribute('aria-pressed', String(asTable));
    this.toggle.title = asTable ? 'Show as chart' : 'Show as table';
    const label = this.toggle.querySelector('.label');
    if (label && !this.options.small) setText(label, this.toggle.title);
    this.toggle.setAttribute('aria-label', `${this.options.title}: ${this.toggle.title.toLowerCase()}`);
  }

  /** The newest step first: it is what people look for while a run goes on. */
  private fillTable(): void {
    if (!this.series) return;
    const { plot } = this.series;
    const at = this.table.scrollTop;
    const head = el(
      'tr',
      {},
      el('th', { scope: 'col' }, 'step'),
      ...plot.curves.map(({ label }) => el('th', { scope: 'col' }, label)),
    );
    const rows = plot.steps.flatMap((step, i) => {
      if (plot.curves.every(({ values }) => values[i] == null)) return [];
      return [
        el(
          'tr',
          {},
          el('th', { scope: 'row' }, String(step)),
          ...plot.curves.map((curve) => this.cell(curve, i)),
        ),
      ];
    });
    fill(this.table, el('table', {}, el('thead', {}, head), el('tbody', {}, ...rows.reverse())));
    this.table.scrollTop = at;
  }

  private cell({ values, low, high, counts }: Curve, i: number): HTMLElement {
    const { format } = this.options;
    const value = values[i];
    if (value == null) return el('td', 'mute', '–');
    const [from, to, n] = [low?.[i], high?.[i], counts?.[i]];
    const bounds =
      from == null || to == null ? '' : `${format(from)}–${format(to)}${n == null ? '' : `, n ${n}`}`;
    return el('td', {}, format(value), bounds && el('span', 'mute', ` ${bounds}`));
  }
}

/** Many thin curves say nothing: of a small chart with more than two, the first alone is laid over. */
function compared(curves: readonly Curve[], small = false): readonly Curve[] {
  return small && curves.length > 2 ? curves.slice(0, 1) : curves;
}

/** Steps of the run and of those laid over it. */
function withSteps(steps: readonly number[], overlays: readonly Overlay[]): number[] {
  const all = new Set(steps);
  for (const { series } of overlays) for (const step of series.plot.steps) all.add(step);
  return [...all].sort((a, b) => a - b);
}

function laidOver(
  curve: Curve,
  letter: string,
  steps: readonly number[],
  own: readonly number[],
  index: number,
) {
  const { low: _low, high: _high, counts: _counts, points: _points, ...rest } = curve;
  const dash = OVERLAYS[index % OVERLAYS.length]!;
  return { curve: { ...rest, dash, width: 1.25, label: letter }, steps: steps.length ? steps : own };
}

/** The same curve over other steps, null where it has none. */
function onSteps(curve: Curve, from: readonly number[], to: readonly number[]): Curve {
  if (from.length === to.length) return curve;
  const at = new Map(from.map((step, i) => [step, i]));
  const move = (values: Curve['values'] | undefined) =>
    values && to.map((step) => (at.has(step) ? (values[at.get(step)!] ?? null) : null));
  return {
    ...curve,
    values: move(curve.values)!,
    ...(curve.low && { low: move(curve.low) }),
    ...(curve.high && { high: move(curve.high) }),
  };
}
