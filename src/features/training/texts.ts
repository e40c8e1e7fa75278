/** A run in few words, for the view, the status bar and notifications. Knows no VS Code. */

import { printable } from '../../core/text';
import type { RunStatus } from '../../core/training/run.types';

export const ACTIVE: ReadonlySet<RunStatus['state']> = new Set(['queued', 'starting', 'running', 'stopping']);

/** `running · 46/120 · 5 min · .59 at step 30`. */
export function describeRun({
  state,
  step,
  steps,
  secondsLeft,
  bestStep,
  checkpoints,
  variant,
}: RunStatus): string {
  const parts: string[] = [state];
  if (ACTIVE.has(state) || state === 'stopped') parts.push(`${step}/${steps}`);
  if (state === 'running' && secondsLeft !== null) parts.push(durationOf(secondsLeft));
  const best = checkpoints.find((one) => one.step === bestStep);
  if (best?.success) parts.push(`${best.success.value.toFixed(2)} at step ${best.step}`);
  parts.push(variant);
  return parts.join(' · ');
}

export function durationOf(seconds: number): string {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s left`;
  const minutes = Math.round(seconds / 60);
  return minutes < 60 ? `${minutes} min left` : `${Math.floor(minutes / 60)} h ${minutes % 60} min left`;
}

/** `shop-01 46/120`, behind what the server's item says. */
export function statusText({ name, step, steps, state, warnings }: RunStatus, waiting: number): string {
  const icon = warnings.length > 0 ? '$(warning)' : state === 'queued' ? '$(clock)' : '$(graph-line)';
  const more = waiting > 0 ? `, ${waiting} waiting` : '';
  return `${icon} ${printable(name)} ${state === 'running' ? `${step}/${steps}` : state}${more}`;
}

/** What came of it: on the test tasks where there are some, else on the validation tasks. */
export function endText({ state, message, bestStep, checkpoints, result }: RunStatus): string {
  if (state === 'failed' || state === 'needs key') return printable(message);
  if (result?.difference) {
    const { value, low, high, n } = result.difference;
    const where = result.on === 'real' ? 'on real tools' : 'in rehearsal';
    return `Test success ${where} changed by ${signed(value)} (${signed(low)} to ${signed(high)}, n = ${n}) with the checkpoint of step ${result.step}.`;
  }
  const best = checkpoints.find(({ step }) => step === bestStep);
  return best?.success
    ? `Its best checkpoint, of step ${best.step}, has a validation success of ${best.success.value.toFixed(2)}.`
    : printable(message);
}

function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(2)}`;
}
