/** What a chart paints besides its lines: intervals, bars, the hatched gap, limits and marks. */
import type uPlot from 'uplot';
import { between, type Colour, type Plot } from './types';

/** Resolves roles to colours as the theme has them now. */
export type Palette = (colour: Colour | 'bg' | 'grid') => string;

const y = (chart: uPlot, value: number) => chart.valToPos(value, 'y', true);
const x = (chart: uPlot, step: number) => chart.valToPos(step, 'x', true);

/** Under the lines. */
export function paintUnder(chart: uPlot, plot: Plot, palette: Palette, tint: boolean): void {
  const { ctx } = chart;
  ctx.save();
  clip(chart);
  if (plot.stacked) bars(chart, plot, palette);
  else {
    if (plot.hatch) hatch(chart, plot, plot.hatch, palette);
    for (const curve of plot.curves) {
      if (!curve.low || !curve.high || curve.band === false) continue;
      const { high, low } = curve;
      const at = plot.steps.map((_, i) => i).filter((i) => high[i] != null && low[i] != null);
      if (at.length === 0) continue;
      const path = new Path2D();
      for (const i of at) path.lineTo(x(chart, plot.steps[i]!), y(chart, high[i]!));
      for (const i of [...at].reverse()) path.lineTo(x(chart, plot.steps[i]!), y(chart, low[i]!));
      path.closePath();
      ctx.fillStyle = ctx.strokeStyle = palette(curve.colour);
      ctx.lineWidth = devicePixelRatio;
      if (tint) {
        ctx.globalAlpha = 0.18;
        ctx.fill(path);
      }
      ctx.globalAlpha = tint ? 0.45 : 0.8;
      ctx.setLineDash(curve.dash ? curve.dash.map((part) => part * devicePixelRatio) : []);
      ctx.stroke(path);
      ctx.globalAlpha = 1;
    }
  }
  ctx.restore();
}

/** Over the lines. */
export function paintOver(chart: uPlot, plot: Plot, palette: Palette): void {
  const { ctx } = chart;
  const { left, top, width, height } = chart.bbox;
  ctx.save();
  for (const { value } of plot.limits ?? []) {
    ctx.strokeStyle = palette('warn');
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([6 * devicePixelRatio, 3 * devicePixelRatio]);
    line(ctx, left, y(chart, value), left + width, y(chart, value));
  }
  if (plot.mark) {
    const { step, curve } = plot.mark;
    const value = plot.curves[curve]?.values[plot.steps.indexOf(step)];
    ctx.strokeStyle = palette('mute');
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio]);
    line(ctx, x(chart, step), top, x(chart, step), top + height);
    if (value != null) diamond(ctx, x(chart, step), y(chart, value), palette, plot.curves[curve]!.colour);
  }
  ctx.restore();
}

function diamond(ctx: CanvasRenderingContext2D, cx: number, cy: number, palette: Palette, colour: Colour) {
  const size = 7 * devicePixelRatio;
  ctx.setLineDash([]);
  ctx.fillStyle = palette(colour);
  ctx.strokeStyle = palette('bg');
  ctx.lineWidth = 2 * devicePixelRatio;
  ctx.beginPath();
  ctx.moveTo(cx, cy - size);
  ctx.lineTo(cx + size, cy);
  ctx.lineTo(cx, cy + size);
  ctx.lineTo(cx - size, cy);
  ctx.closePath();
  ctx.stroke();
  ctx.fill();
}

/** Diagonal lines where the two curves have parted. */
function hatch(
  chart: uPlot,
  plot: Plot,
  { upper, lower, from }: NonNullable<Plot['hatch']>,
  palette: Palette,
) {
  const [above, below] = [plot.curves[upper]!.values, plot.curves[lower]!.values];
  const at = plot.steps.flatMap((step, i) => {
    const [high, low] = [between(plot, above, i), between(plot, below, i)];
    return step >= from && high !== null && low !== null ? [{ step, high, low }] : [];
  });
  if (at.length < 2) return;
  const path = new Path2D();
  for (const { step, high } of at) path.lineTo(x(chart, step), y(chart, high));
  for (const { step, low } of at.reverse()) path.lineTo(x(chart, step), y(chart, low));
  path.closePath();
  const { ctx } = chart;
  const { left, top, width, height } = chart.bbox;
  ctx.save();
  ctx.clip(path);
  ctx.strokeStyle = palette('warn');
  ctx.globalAlpha = 0.5;
  ctx.lineWidth = devicePixelRatio;
  ctx.beginPath();
  for (let d = -height; d < width; d += 7 * devicePixelRatio) {
    ctx.moveTo(left + d, top + height);
    ctx.lineTo(left + d + height, top);
  }
  ctx.stroke();
  ctx.restore();
}

/** Patterns tell the parts of a bar from one another where colours cannot. */
type Fill = 'full' | 'outline' | 'lines' | 'light';
const FILLS: readonly Fill[] = ['full', 'lines', 'light', 'outline'];

function bars(chart: uPlot, plot: Plot, palette: Palette): void {
  const { ctx } = chart;
  const { width } = chart.bbox;
  const wide = Math.max(devicePixelRatio, (width / Math.max(plot.steps.length, 1)) * 0.7);
  plot.steps.forEach((step, i) => {
    let sum = 0;
    plot.curves.forEach(({ values, colour }, part) => {
      const value = values[i] ?? 0;
      if (value <= 0) return;
      const [bottom, top] = [y(chart, sum), y(chart, sum + value)];
      sum += value;
      box(
        ctx,
        x(chart, step) - wide / 2,
        top,
        wide,
        bottom - top,
        palette(colour),
        FILLS[part % FILLS.length]!,
      );
    });
  });
}

function box(
  ctx: CanvasRenderingContext2D,
  left: number,
  top: number,
  width: number,
  height: number,
  colour: string,
  fill: Fill,
): void {
  ctx.fillStyle = ctx.strokeStyle = colour;
  ctx.lineWidth = devicePixelRatio;
  ctx.globalAlpha = fill === 'light' ? 0.45 : 1;
  if (fill === 'full' || fill === 'light') ctx.fillRect(left, top, width, height);
  else {
    const inset = Math.min(devicePixelRatio / 2, width / 2, height / 2);
    ctx.strokeRect(left + inset, top + inset, width - 2 * inset, height - 2 * inset);
    const gap = 3 * devicePixelRatio;
    if (fill === 'lines')
      for (let at = top + gap; at < top + height; at += gap) line(ctx, left, at, left + width, at);
  }
  ctx.globalAlpha = 1;
}

function line(ctx: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.lineTo(x1, y1);
  ctx.stroke();
}

function clip(chart: uPlot): void {
  const { left, top, width, height } = chart.bbox;
  const around = 8 * devicePixelRatio;
  chart.ctx.beginPath();
  chart.ctx.rect(left - around, top - around, width + 2 * around, height + 2 * around);
  chart.ctx.clip();
}
