/**
 * The only module that uses uPlot. A chart is one tab stop: arrow keys move along its steps as the mouse does,
 * Enter picks one. It appends without flicker, takes its colours from the theme, and moves nothing by itself.
 */
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import './chart.css';
import { el, oncePerFrame, setAttribute } from '../dom';
import { Labels } from './labels';
import { type Palette, paintOver, paintUnder } from './paint';
import { endSteps, quarters, rangeOfSteps, rangeOfValues, roundSteps } from './scale';
import type { Plot } from './types';

export interface ChartOptions {
  /** Name of the chart for screen readers. */
  name: string;
  /** Height in pixels, axes included. */
  height: number;
  /** One of many: few ticks, short labels. */
  small?: boolean;
  /** A value as it is written at the end of its curve and on the axis. */
  format(value: number): string;
  /** A step was clicked, or Enter pressed on it. */
  onPick?(step: number): void;
  /** The step that is looked at, or null. */
  onLook?(step: number | null): void;
}

export class Chart {
  readonly element: HTMLElement;
  private readonly area: HTMLElement;
  private readonly labels = new Labels();
  private chart: uPlot | null = null;
  private plot: Plot = { steps: [], curves: [] };
  private made = '';
  private looked: number | null = null;
  private silent = false;
  private colours = new Map<string, string>();
  private readonly watch = new ResizeObserver(() => this.resize());
  private readonly later = oncePerFrame(() => {
    if (this.chart) this.labels.place(this.chart, this.plot, this.looked, this.options);
  });

  constructor(private readonly options: ChartOptions) {
    this.area = el('div', { class: 'area', tabindex: 0, role: 'slider', 'aria-label': options.name });
    this.element = el('div', options.small ? 'chart small' : 'chart', this.area, ...this.labels.elements);
    this.area.addEventListener('keydown', (event) => this.pressed(event));
    this.area.addEventListener('blur', () => this.look(null));
    this.watch.observe(this.element);
    charts.add(this);
  }

  update(plot: Plot): void {
    this.plot = plot;
    const made = JSON.stringify([
      plot.stacked,
      plot.curves.map((c) => [c.label, c.colour, c.dash, c.points, c.width]),
    ]);
    const data = [plot.steps, ...plot.curves.map(({ values }) => values)] as unknown as uPlot.AlignedData;
    if (!this.chart || made !== this.made) this.make(data);
    else this.chart.setData(data);
    this.made = made;
    this.say();
    this.later();
  }

  /** Shows the values of this step, as when another chart is looked at; null for the last ones. */
  setStep(step: number | null): void {
    if (!this.chart || this.looked === step) return;
    this.looked = step;
    this.silent = true;
    const left = step === null ? -10 : this.chart.valToPos(step, 'x');
    this.chart.setCursor({ left, top: step === null ? -10 : 4 });
    this.silent = false;
    this.say();
    this.later();
  }

  destroy(): void {
    charts.delete(this);
    this.watch.disconnect();
    this.chart?.destroy();
    this.chart = null;
  }

  /** The theme has changed. */
  recolour(): void {
    this.colours.clear();
    this.chart?.redraw(false, true);
  }

  private readonly palette: Palette = (role) => {
    const known = this.colours.get(role);
    if (known) return known;
    this.area.style.color = `var(--${role})`;
    const colour = getComputedStyle(this.area).color;
    this.area.style.color = '';
    this.colours.set(role, colour);
    return colour;
  };

  private make(data: uPlot.AlignedData): void {
    this.chart?.destroy();
    const { small = false, height } = this.options;
    const { plot } = this;
    const font = () => `11px ${getComputedStyle(this.element).fontFamily}`;
    const axis = {
      stroke: () => this.palette('mute'),
      font: font(),
      ticks: { show: false },
      gap: 4,
    };
    this.chart = new uPlot(
      {
        width: Math.max(40, this.area.clientWidth),
        height,
        legend: { show: false },
        padding: [small ? 8 : 10, 10, 0, 0],
        cursor: {
          y: false,
          // Snapping looks like a drag to uPlot, which would swallow the click.
          drag: { x: false, y: false, click: () => {} },
          points: { show: false },
          move: (chart, left, top) => [this.snapped(chart, left), top],
        },
        scales: {
          x: { time: false, range: () => rangeOfSteps(this.plot) },
          y: { range: (_, low, high) => rangeOfValues(this.plot, low, high) },
        },
        axes: [
          {
            ...axis,
            size: 20,
            grid: { show: false },
            splits: (_, __, low, high) => (small ? endSteps(this.plot) : roundSteps(low, high)),
            values: (_, splits) =>
              splits.map((v, i) => (i === 0 && !small ? `step ${Math.ceil(v)}` : String(Math.round(v)))),
          },
          {
            ...axis,
            size: small ? 34 : 36,
            grid: { stroke: () => this.palette('grid'), width: 1 },
            splits: (_, __, low, high) => (small ? [low, high] : quarters(low, high)),
            values: (_, splits) => splits.map((value) => this.options.format(value)),
          },
        ],
        series: [
          {},
          ...plot.curves.map((curve) => ({
            label: curve.label,
            stroke: () => this.palette(curve.colour),
            width: curve.width ?? 1.5,
            ...(curve.dash && { dash: [...curve.dash] }),
            spanGaps: true,
            ...(plot.stacked && { paths: () => null }),
            points: {
              show: plot.stacked
                ? false
                : (curve.points ?? ((_: uPlot, i: number) => alone(this.plot.curves[i - 1]?.values))),
              size: small ? 5 : 7,
              width: small ? 1.5 : 2,
              fill: () => this.palette('bg'),
            },
          })),
        ],
        hooks: {
          drawAxes: [(chart) => paintUnder(chart, this.plot, this.palette, !isHighContrast())],
          draw: [(chart) => paintOver(chart, this.plot, this.palette), () => this.later()],
          setCursor: [(chart) => this.moved(chart)],
        },
      },
      data,
      this.area,
    );
    // uPlot moves its cursor a frame later: what was clicked is told by the event.
    this.chart.over.addEventListener('click', ({ offsetX }) => {
      this.look(this.plot.steps[this.chart?.posToIdx(offsetX) ?? -1] ?? null);
      this.pick();
    });
    this.chart.over.addEventListener('mouseleave', () => this.look(null));
  }

  private resize(): void {
    const width = this.area.clientWidth;
    if (this.chart && width > 0 && width !== this.chart.width)
      this.chart.setSize({ width, height: this.options.height });
  }

  /** The cursor stands on steps only. */
  private snapped(chart: uPlot, left: number): number {
    if (left < 0) return left;
    const index = chart.posToIdx(left);
    return chart.valToPos(this.plot.steps[index] ?? 0, 'x');
  }

  private moved(chart: uPlot): void {
    if (this.silent) return;
    const { idx, left } = chart.cursor;
    this.look(idx == null || left == null || left < 0 ? null : (this.plot.steps[idx] ?? null));
  }

  private look(step: number | null): void {
    if (step === this.looked) return;
    this.setStep(step);
    this.options.onLook?.(step);
  }

  private pick(): void {
    const step = this.looked ?? this.plot.steps.at(-1);
    if (step !== undefined) this.options.onPick?.(step);
  }

  private pressed(event: KeyboardEvent): void {
    const { steps } = this.plot;
    const at = this.looked === null ? steps.length - 1 : steps.indexOf(this.looked);
    const to = {
      ArrowLeft: at - 1,
      ArrowRight: at + 1,
      ArrowDown: at - 1,
      ArrowUp: at + 1,
      PageDown: at - 10,
      PageUp: at + 10,
      Home: 0,
      End: steps.length - 1,
    }[event.key];
    if (to !== undefined) this.look(steps[Math.min(Math.max(to, 0), steps.length - 1)] ?? null);
    else if (event.key === 'Enter' || event.key === ' ') this.pick();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** What the slider says: the step, and each curve's value there. */
  private say(): void {
    const { steps, curves } = this.plot;
    const index = this.indexShown();
    const step = steps[index];
    setAttribute(this.area, 'aria-valuemin', String(steps[0] ?? 0));
    setAttribute(this.area, 'aria-valuemax', String(steps.at(-1) ?? 0));
    setAttribute(this.area, 'aria-valuenow', String(step ?? 0));
    const values = curves.flatMap(({ label, values }) => {
      const value = values[index];
      return value == null ? [] : [`${label} ${this.options.format(value)}`];
    });
    const text =
      step === undefined ? 'no steps yet' : `step ${step}${values.length ? `: ${values.join(', ')}` : ''}`;
    setAttribute(this.area, 'aria-valuetext', text);
  }

  private indexShown(): number {
    const { steps } = this.plot;
    return this.looked === null ? steps.length - 1 : steps.indexOf(this.looked);
  }
}

/** A value with none beside it makes no line: it shows as a point. */
function alone(values: readonly (number | null)[] | undefined): boolean {
  return (values ?? []).filter((value) => value !== null).length === 1;
}

function isHighContrast(): boolean {
  return document.body.classList.contains('vscode-high-contrast');
}

const charts = new Set<Chart>();
/** VS Code changes a theme by the body's class and the variables on the root. */
const themes = new MutationObserver(() => {
  for (const chart of charts) chart.recolour();
});
themes.observe(document.documentElement, { attributes: true, attributeFilter: ['style'] });
themes.observe(document.body, { attributes: true, attributeFilter: ['class', 'data-vscode-theme-id'] });
