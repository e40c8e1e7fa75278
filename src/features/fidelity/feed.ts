/** Sends a compare page what it shows: figures and rows as they change, lists and pairs as they are asked for. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CompareHead, FromCompare, RowFilter, ToCompare } from '../../../webview/common/compare';
import type { RowView } from '../../core/fidelity/view.types';
import { errorText, UserError } from '../../core/user-error';
import type { LiveComparison } from './live';

/** Calls come faster than a person reads. */
const INTERVAL_MS = 250;
/** Rows in one message: the page draws between two of them. */
const ROWS = 500;

export class CompareFeed {
  private timer: NodeJS.Timeout | undefined;
  private sent = new Map<number, string>();
  private filter: { number: number; filter: RowFilter } | null = null;
  private shown: { id: number; side: number } | null = null;
  private closed = false;
  private readonly changed = () => this.soon();
  private readonly status = () => this.post({ type: 'head', head: this.head() });

  constructor(
    readonly live: LiveComparison,
    private readonly post: (message: ToCompare) => void,
    /** Why verdicts cannot be written, or null. */
    private readonly readOnly: () => string | null,
  ) {
    live.on('change', this.changed);
    live.on('status', this.status);
  }

  dispose(): void {
    this.closed = true;
    clearTimeout(this.timer);
    this.live.off('change', this.changed);
    this.live.off('status', this.status);
  }

  /** Everything, to a page that has nothing yet. */
  async start(): Promise<void> {
    this.sent = new Map();
    await this.flush();
  }

  /** What the page asks to see. */
  receive(message: Extract<FromCompare, { type: 'filter' | 'pair' }>): void {
    if (message.type === 'filter') {
      this.filter = { number: message.number, filter: message.filter };
      this.sendList();
    } else {
      this.shown = { id: message.id, side: message.side };
      this.sendPair();
    }
  }

  private soon(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      void this.flush();
    }, INTERVAL_MS);
  }

  private async flush(): Promise<void> {
    const { live } = this;
    this.post({ type: 'comparison', view: live.view(), head: this.head() });
    const { rows } = live.calls;
    const fresh: RowView[] = [];
    for (const row of rows) {
      const text = JSON.stringify(row);
      if (this.sent.get(row.id) === text) continue;
      this.sent.set(row.id, text);
      fresh.push(row);
    }
    for (let at = 0; at < fresh.length || at === 0; at += ROWS) {
      if (this.closed) return;
      this.post({ type: 'rows', total: rows.length, rows: fresh.slice(at, at + ROWS) });
      if (at + ROWS < fresh.length) await nextTurn();
    }
    this.sendList();
    this.sendPair();
  }

  private sendList(): void {
    if (!this.filter) return;
    const { number, filter } = this.filter;
    this.post({ type: 'list', filter: number, ids: this.live.list(filter) });
  }

  private sendPair(): void {
    if (!this.shown) return;
    const { id, side } = this.shown;
    const pair = this.live.pair(id, side);
    const reason = this.live.calls.rows[id]?.cells[side]?.note ?? 'This model was not compared on this call.';
    this.post({ type: 'pair', id, side, pair, reason });
  }

  private head(): CompareHead {
    const { live } = this;
    const { status, progress, share, error, stale, notice } = live;
    return {
      status,
      progress,
      share,
      ...(error ? { error: errorOf(error) } : notice ? { error: { message: notice } } : {}),
      stale: stale.length ? staleText(stale) : null,
      noModel: noModelReason(live),
      readOnly: this.readOnly(),
    };
  }
}

function errorOf(error: unknown): NonNullable<CompareHead['error']> {
  const action = error instanceof UserError ? error.action : undefined;
  return { message: errorText(error), ...(action && { action }) };
}

function staleText(tools: readonly string[]): string {
  const names =
    tools.length > 3 ? `${tools.slice(0, 3).join(', ')} and ${tools.length - 3} more` : tools.join(', ');
  return `The environment has changed since this comparison, as far as it concerns ${names}. Compare again for figures of what is there now.`;
}

/** Why no other model can be compared on the same calls, or null. */
export function noModelReason(live: LiveComparison): string | null {
  if (live.isRunning) return 'Wait until this comparison is done.';
  const [first] = live.runs;
  if (!first?.pairs.length) return 'Nothing was compared yet.';
  const isKept = live.head.request.kind !== 'tasks' || first.conversations !== undefined;
  return isKept
    ? null
    : 'The conversations of this comparison were not kept. Compare again, then add a model.';
}
