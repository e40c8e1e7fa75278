/** A comparison that is open in this window: what is shown of it, judged by the environment as it is now. Knows no VS Code. */
import { EventEmitter } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Environment } from '../../core/environment/types';
import {
  type ComparedCall,
  type ComparisonRun,
  judged,
  type Uncompared,
} from '../../core/fidelity/comparison';
import { type Calls, callsOf, filtered, type RowFilter } from '../../core/fidelity/rows';
import { comparisonView, pairView } from '../../core/fidelity/view';
import type { ComparisonView, PairView } from '../../core/fidelity/view.types';
import type { ComparisonHead, ComparisonWriter } from '../../node/fidelity/file';
import { basisOf, staleTools } from '../../node/fidelity/request';

export type LiveStatus = 'running' | 'done' | 'cancelled';

/** Pairs that are judged before others get a turn. */
const AT_ONCE = 250;

export class LiveComparison extends EventEmitter<{ change: []; status: [] }> {
  status: LiveStatus;
  /** What goes on, in words, and how far it is. */
  progress = '';
  share: number | null = null;
  error: unknown = null;
  private environment: Environment | null = null;
  private abort: AbortController | null = null;
  private known: Calls | null = null;
  private round = 0;
  /** The side that is being compared. */
  private current: ComparisonRun | null = null;
  private isJudged = false;

  constructor(
    readonly file: string,
    readonly environmentFile: string,
    readonly head: ComparisonHead,
    /** Replaced, never changed, where pairs are judged anew. */
    private sides: ComparisonRun[],
    status: LiveStatus,
    readonly notice: string | null = null,
  ) {
    super();
    this.status = status;
  }

  get runs(): readonly ComparisonRun[] {
    return this.sides;
  }

  get calls(): Calls {
    this.known ??= callsOf(this.sides);
    return this.known;
  }

  get isRunning(): boolean {
    return this.status === 'running';
  }

  /** Tools whose figures are of another state of the environment. */
  get stale(): string[] {
    const tools = [...new Set(this.sides.flatMap(({ pairs }) => pairs.map(({ tool }) => tool)))];
    return this.environment ? staleTools(this.head.basis, basisOf(this.environment), tools) : [];
  }

  view(): ComparisonView {
    return comparisonView(this.head, this.sides, this.environment?.examples);
  }

  list(filter: RowFilter): number[] {
    return filtered(this.calls, filter);
  }

  pairAt(id: number, side: number): ComparedCall | null {
    return this.calls.pairs[id]?.[side] ?? null;
  }

  pair(id: number, side: number): PairView | null {
    const pair = this.pairAt(id, side);
    return pair && pairView(pair, { id, side }, { examples: this.environment?.examples ?? [] });
  }

  /** By the rules and verdicts of the environment as it is now; false where that is how it was judged already. */
  async judge(environment: Environment): Promise<boolean> {
    if (environment === this.environment && this.isJudged) return false;
    const round = ++this.round;
    this.environment = environment;
    this.isJudged = false;
    const anew = new Map<ComparisonRun, ComparisonRun>();
    for (const side of this.sides) {
      // It is judged once it is done.
      if (side === this.current) continue;
      const pairs: ComparedCall[] = [];
      for (let at = 0; at < side.pairs.length; at += AT_ONCE) {
        pairs.push(...judged(side.pairs.slice(at, at + AT_ONCE), environment));
        await nextTurn();
        if (round !== this.round) return false;
      }
      anew.set(side, { ...side, pairs });
    }
    this.sides = this.sides.map((side) => anew.get(side) ?? side);
    this.isJudged = this.current === null;
    this.changed();
    return true;
  }

  /** Begins with one more model. What `report` is given is kept in the file first. */
  begin(
    model: string,
    writer: ComparisonWriter,
  ): {
    signal: AbortSignal;
    pair(pair: ComparedCall): void;
    uncompared(call: Uncompared): void;
    conversation(task: string, file: string): void;
  } {
    const abort = new AbortController();
    const run: ComparisonRun = { model, pairs: [], uncompared: [] };
    this.abort = abort;
    this.current = run;
    this.isJudged = false;
    this.status = 'running';
    this.error = null;
    this.sides = [...this.sides, run];
    writer.model(model);
    this.changed();
    return {
      signal: abort.signal,
      pair: (pair) => {
        writer.pair(pair, model);
        run.pairs.push(pair);
        this.changed();
      },
      uncompared: (call) => {
        writer.uncompared(call, model);
        run.uncompared.push(call);
        this.changed();
      },
      conversation: (task, file) => {
        writer.conversation(task, file, model);
        run.conversations = { ...run.conversations, [task]: file };
      },
    };
  }

  moved(progress: string, share: number | null): void {
    this.progress = progress;
    this.share = share;
    this.emit('status');
  }

  end(status: Exclude<LiveStatus, 'running'>, error: unknown = null): void {
    this.abort = null;
    this.current = null;
    this.status = status;
    this.error = error;
    this.moved(status === 'cancelled' ? 'Cancelled' : '', null);
    this.changed();
  }

  cancel(): void {
    this.abort?.abort();
  }

  private changed(): void {
    this.known = null;
    this.emit('change');
  }
}
