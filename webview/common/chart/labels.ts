/** What stands beside and in a chart in words: curves named at their ends, the gap, what is marked. */
import type uPlot from 'uplot';
import { el, fill } from '../dom';
import { type Curve, lastAt, type Plot, spread } from './types';

/** Height of a label at the end of a curve. */
const LABEL = 16;
/** Height of the figure of a gap, with its note. */
const GAP = 40;

interface End {
  curve: Curve | null;
  text: string;
  y: number;
}

export interface LabelOptions {
  format(value: number): string;
  small?: boolean;
}

export class Labels {
  private readonly ends = el('div', { class: 'ends', 'aria-hidden': 'true' });
  private readonly notes = el('div', { class: 'notes', 'aria-hidden': 'true' });
  readonly elements = [this.notes, this.ends];

  /** @param looked step whose values are shown; null for the last ones */
  place(chart: uPlot, plot: Plot, looked: number | null, { format, small = false }: LabelOptions): void {
    const { top, height } = chart.bbox;
    const [from, to] = [top / devicePixelRatio, (top + height) / devicePixelRatio];
    const index = looked === null ? plot.steps.length - 1 : plot.steps.indexOf(looked);
    const y = (value: number) => from + chart.valToPos(value, 'y');
    const ends = [
      ...endsOf(plot, index, { format, small }, y),
      ...(plot.limits ?? []).map(({ value, label }): End => ({ curve: null, text: label, y: y(value) })),
    ];
    const gap = looked === null && plot.gap ? gapOf(plot, plot.gap, y) : null;
    const wanted = [...ends.map((end) => end.y), ...(gap ? [(gap.from + gap.to) / 2] : [])];
    const sizes = [...ends.map(() => LABEL), ...(gap ? [GAP] : [])];
    const places = spread(wanted, sizes, from - LABEL / 2, to + LABEL / 2);
    fill(
      this.ends,
      ...ends.map((end, i) => endLabel(end, places[i]!)),
      ...(gap && plot.gap ? gapLabels(plot.gap, gap, places.at(-1)!) : []),
    );
    this.placeNotes(chart, plot, from, to);
  }

  private placeNotes(chart: uPlot, { mark, curves }: Plot, from: number, to: number): void {
    const isEmpty = curves.every(({ values }) => values.every((value) => value === null));
    if (!mark) {
      fill(this.notes, isEmpty && el('span', 'note none', 'nothing measured yet'));
      return;
    }
    const left = chart.bbox.left / devicePixelRatio + chart.valToPos(mark.step, 'x');
    const isLate = left > chart.width * 0.55;
    const note = (text: string, top: number) => {
      const element = el('span', `note ${isLate ? 'before' : 'after'}`, text);
      element.style.top = `${top}px`;
      element.style.left = `${left}px`;
      return element;
    };
    fill(this.notes, mark.above && note(mark.above, from), mark.below && note(mark.below, to - 20));
  }
}

function endsOf(
  plot: Plot,
  index: number,
  { format, small }: LabelOptions,
  y: (value: number) => number,
): End[] {
  let sum = 0;
  return plot.curves.flatMap((curve): End[] => {
    const at = plot.stacked ? index : lastAt(curve.values, index);
    const value = curve.values[at];
    if (curve.quiet || at < 0 || value == null) return [];
    const middle = plot.stacked ? sum + value / 2 : value;
    sum += value;
    // The title has said already what a chart's only curve is.
    const name = plot.curves.length > 1 || !small ? ` ${curve.label}` : '';
    return [{ curve, text: `${format(value)}${name}`, y: y(middle) }];
  });
}

function endLabel({ curve, text }: End, middle: number): HTMLElement {
  const label = el('span', `end ${curve?.colour ?? 'warn'}`, text);
  label.style.top = `${middle - LABEL / 2}px`;
  return label;
}

/** Where the ends of the two curves are. */
function gapOf(
  plot: Plot,
  gap: NonNullable<Plot['gap']>,
  y: (value: number) => number,
): { from: number; to: number } | null {
  const last = plot.steps.length - 1;
  const [upper, lower] = [gap.upper, gap.lower].map((i) => {
    const { values } = plot.curves[i]!;
    return values[lastAt(values, last)];
  });
  if (upper == null || lower == null) return null;
  const [from, to] = [y(upper), y(lower)].sort((a, b) => a - b) as [number, number];
  return { from, to };
}

/** The distance between the ends of two curves as a bracket, and its figure where there is room beside. */
function gapLabels(
  { figure, note, isWide }: NonNullable<Plot['gap']>,
  { from, to }: { from: number; to: number },
  middle: number,
): HTMLElement[] {
  const look = isWide ? 'gapmark wide' : 'gapmark';
  const bracket = el('i', look);
  bracket.style.top = `${from}px`;
  bracket.style.height = `${Math.max(to - from, 2)}px`;
  const label = el('div', look, el('b', {}, figure), el('span', 'mute', note));
  label.style.top = `${middle - GAP / 2}px`;
  return [bracket, label];
}
