/** How a run goes, line by line. */

import { printable } from '../core/text';
import type { Estimate, Evaluation, Metrics, RunStatus, Warning } from '../core/training/run.types';
import { errorText } from '../core/user-error';
import type { RunsClient } from '../node/runs/client';
import type { Terminal } from './terminal';

export type Outcome = 'done' | 'stopped' | 'failed' | 'needs key';

const OUTCOMES: readonly RunStatus['state'][] = ['done', 'stopped', 'failed', 'needs key'];

export interface FollowOptions {
  json: boolean;
  /** What Ctrl-C does; the run is then followed until it has ended. Absent: only the following ends. */
  onAbort?: () => Promise<unknown>;
}

/** Tells rows and warnings until the run has ended. */
export async function follow(
  id: string,
  client: RunsClient,
  { json, onAbort }: FollowOptions,
  terminal: Terminal,
): Promise<Outcome> {
  const ended = new AbortController();
  const { page, say } = terminal;
  let last: RunStatus | null = null;
  let shown = -1;
  const aborted = () => {
    if (!onAbort) return ended.abort();
    say(`Stopping ${id} after what it is doing now; what was learned is kept. Once more ends this at once.`);
    onAbort().catch((error) => say(errorText(error)));
  };
  if (terminal.signal.aborted) aborted();
  terminal.signal.addEventListener('abort', aborted, { once: true });
  try {
    await client.follow(id, {
      signal: ended.signal,
      onTrouble: (why) => say(why === null ? 'The server answers again.' : `${why} It is tried again.`),
      onStatus: (status) => {
        if (status.state !== last?.state) {
          if (json) terminal.json({ type: 'status', ...status });
          else if (status.state !== 'running' || last?.state !== 'starting') say(stateLine(status));
        }
        last = status;
        if (OUTCOMES.includes(status.state)) ended.abort();
      },
      onMetrics: (rows, from) => {
        rows.forEach((row, i) => {
          if (from + i <= shown && rows.length) say(`${id} goes on after step ${row.step - 1}.`);
          shown = from + i;
          if (json) terminal.json({ type: 'metrics', run: id, ...row });
          else for (const line of linesOf(row, last, page.style)) page.print(line);
        });
      },
    });
  } finally {
    terminal.signal.removeEventListener('abort', aborted);
  }
  const status = last ?? (await client.get(id));
  if (!json && !terminal.signal.aborted && status.state === 'done') {
    page.print(endLine(status));
    for (const line of resultLines(status)) page.print(line);
  }
  return OUTCOMES.includes(status.state) ? (status.state as Outcome) : 'stopped';
}

function stateLine({ id, state, message }: RunStatus): string {
  return `${id}: ${state}${message ? `. ${message}` : ''}`;
}

function endLine({ id, checkpoints, bestStep }: RunStatus): string {
  const best = checkpoints.find(({ step }) => step === bestStep);
  if (!best) return `${id} is done.`;
  const success = best.success ? `, success ${estimate(best.success)}` : '';
  return `${id} is done. Its best checkpoint is ${printable(best.model)}${success}.`;
}

/** What came of it on the test tasks, where it has some. */
export function resultLines({ result }: RunStatus): string[] {
  if (!result?.difference) return [];
  const { on, start, best, difference } = result;
  const success = ({ realSuccess, rehearsedSuccess }: Evaluation) =>
    (on === 'real' ? realSuccess : rehearsedSuccess)?.value.toFixed(2) ?? '–';
  const where = on === 'real' ? 'on real tools' : 'in rehearsal';
  const { better, worse } = difference;
  return [
    `test: success ${where} ${success(start)} at the start, ${success(best)} at step ${result.step}: ${signed(difference)}, ${better} tasks better, ${worse} worse`,
  ];
}

/** A line a step, one for its evaluation, and one for each warning. */
function* linesOf(
  row: Metrics,
  status: RunStatus | null,
  style: Terminal['page']['style'],
): Generator<string> {
  const { step, reward, success, seconds, evaluation, warnings, unscored } = row;
  if (step > 0) {
    const left = unscored ? `  ${style.warn(`${unscored} unscored`)}` : '';
    yield `step ${String(step).padStart(4)}${status ? `/${status.steps}` : ''}  reward ${figure(reward)}  success ${figure(success)}  ${seconds.total.toFixed(1)} s${left}`;
  }
  if (evaluation) {
    const real = evaluation.realSuccess ? `success on real tools ${estimate(evaluation.realSuccess)}` : '';
    const rehearsed = evaluation.rehearsedSuccess
      ? `in rehearsal ${estimate(evaluation.rehearsedSuccess)}`
      : '';
    const gap = evaluation.gap ? `reward gap ${signed(evaluation.gap)}` : '';
    const parts = [real, rehearsed, gap].filter(Boolean).join(', ');
    yield style.bold(`step ${String(step).padStart(4)}  ${evaluation.part}: ${parts}`);
  }
  for (const warning of warnings) yield warningLine(warning, style);
}

function warningLine({ code, message }: Warning, style: Terminal['page']['style']): string {
  return `${style.warn('!')} ${printable(message)} ${style.dim(`[${code}]`)}`;
}

const figure = (value: number | null) => (value === null ? '  – ' : value.toFixed(2));

export function estimate({ value, low, high, n }: Estimate): string {
  return `${value.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)}, n = ${n})`;
}

export function signed({ value, low, high, n }: Estimate): string {
  const plus = (x: number) => `${x < 0 ? '−' : '+'}${Math.abs(x).toFixed(2)}`;
  return `${plus(value)} (${plus(low)} to ${plus(high)}, n = ${n})`;
}
