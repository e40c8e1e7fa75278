/**
 * What happens in a run, as server-sent events: `status`, `metrics` (one row each) and `rewind` (rows from this count
 * on are no more). The id of an event says how many rows the client then has, and the time of the last: whoever comes
 * back with one that fits gets what followed, anyone else all rows.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Metrics, RunStatus } from '../../../src/core/training/run.types';
import type { Runs } from './runs';

const BEAT_MS = 15_000;

export function streamRun(runs: Runs, id: string, request: IncomingMessage, response: ServerResponse): void {
  const reader = runs.reader(id);
  const rows = reader.metrics();
  const stream = new EventStream(response);
  const known = knownRows(request.headers['last-event-id'], rows);
  if (known < 0) stream.send('rewind', { rows: 0 }, idOf(rows, 0));
  stream.send('status', runs.status(id), idOf(rows, Math.max(0, known)));
  for (let at = Math.max(0, known); at < rows.length; at++)
    stream.send('metrics', rows[at]!, idOf(rows, at + 1));

  const onStatus = (status: RunStatus) => {
    if (status.id === id) stream.send('status', status, idOf(rows, rows.length));
  };
  const onMetrics = (run: string, row: Metrics) => {
    if (run !== id) return;
    rows.push(row);
    stream.send('metrics', row, idOf(rows, rows.length));
  };
  const onRewind = (run: string, left: number) => {
    if (run !== id) return;
    rows.length = left;
    stream.send('rewind', { rows: left }, idOf(rows, left));
  };
  const onRemoved = (run: string) => {
    if (run === id) response.end();
  };
  runs.events.on('status', onStatus).on('metrics', onMetrics).on('rewind', onRewind).on('removed', onRemoved);
  response.once('close', () => {
    runs.events
      .off('status', onStatus)
      .off('metrics', onMetrics)
      .off('rewind', onRewind)
      .off('removed', onRemoved);
  });
}

/** The status of every run as it changes, and the ids of those that are deleted. */
export function streamRuns(runs: Runs, response: ServerResponse): void {
  const stream = new EventStream(response);
  for (const status of runs.list()) stream.send('status', status);
  const onStatus = (status: RunStatus) => stream.send('status', status);
  const onRemoved = (id: string) => stream.send('removed', { id });
  runs.events.on('status', onStatus).on('removed', onRemoved);
  response.once('close', () => runs.events.off('status', onStatus).off('removed', onRemoved));
}

class EventStream {
  constructor(private readonly response: ServerResponse) {
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    response.flushHeaders();
    const beat = setInterval(() => response.write(': still here\n\n'), BEAT_MS);
    response.once('close', () => clearInterval(beat));
  }

  /** JSON has no line ends of its own. */
  send(event: string, data: object, id?: string): void {
    if (this.response.destroyed) return;
    this.response.write(
      `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`,
    );
  }
}

function idOf(rows: readonly Metrics[], count: number): string {
  return count ? `${count}/${rows[count - 1]!.time}` : '0';
}

/** Rows that a client has already; -1 where it has some that are no more, and must forget them. */
function knownRows(id: string | string[] | undefined, rows: readonly Metrics[]): number {
  if (typeof id !== 'string') return 0;
  const count = Number.parseInt(id, 10);
  if (!Number.isInteger(count) || count < 0) return -1;
  return count <= rows.length && id === idOf(rows, count) ? count : -1;
}
