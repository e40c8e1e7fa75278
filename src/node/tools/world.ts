/**
 * The tools' world beside a session that goes back and forth: it is brought to where a call stands, by beginning
 * anew and making again what may have changed something. Where it stands there already, it goes on.
 */
import type { Json } from '../../core/json';
import { printable } from '../../core/text';
import type { Execution, Executor, ToolCall, ToolSession } from './types';

export interface PlacedCall {
  call: ToolCall;
  /** Earlier calls that may have changed something, in their order. */
  before: readonly ToolCall[];
  mayWrite: boolean;
}

const ONE_WORLD =
  'These tools are one world for all sessions: it was not put back to where this call stands.';

/** Failures after which nobody knows what the call has changed. */
const UNKNOWN = new Set(['timeout', 'cancelled', 'crashed', 'memory']);

export class World {
  private session: ToolSession | null = null;
  /** Calls that the open session has made and that may have changed something, as JSON. */
  private made: string[] = [];
  private turn: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly executor: Executor,
    /** Of the task. */
    private readonly state: Json | undefined,
    /** A session can be begun anew without what others did: the executor is isolated, or says how it is reset. */
    private readonly canBegin: boolean,
  ) {}

  /** Never rejects but where no session can be opened. One call after the other. */
  execute(placed: PlacedCall, signal?: AbortSignal): Promise<Execution> {
    const execution = this.turn.then(() => this.executeNow(placed, signal));
    this.turn = execution.catch(() => undefined);
    return execution;
  }

  async close(): Promise<void> {
    await this.turn;
    await this.leave();
    await this.executor.close();
  }

  private async executeNow({ call, before, mayWrite }: PlacedCall, signal?: AbortSignal): Promise<Execution> {
    const wanted = before.map((one) => JSON.stringify(one));
    const isThere = this.session !== null && same(this.made, wanted);
    if (!isThere && this.canBegin) {
      await this.leave();
      const failed = await this.begin(before, signal);
      if (failed) return failed;
    }
    this.session ??= await this.executor.open(this.state, signal);
    const execution = await this.session.execute(call, signal);
    if (execution.failure?.code === 'refused') return execution;
    if (mayWrite) this.made.push(JSON.stringify(call));
    if (execution.failure && UNKNOWN.has(execution.failure.code)) await this.leave();
    const isElsewhere = !isThere && !this.canBegin && wanted.length > 0;
    return isElsewhere ? { ...execution, notes: [ONE_WORLD, ...(execution.notes ?? [])] } : execution;
  }

  /** The execution that failed where an earlier call could not be made again. */
  private async begin(before: readonly ToolCall[], signal?: AbortSignal): Promise<Execution | null> {
    this.session = await this.executor.open(this.state, signal);
    for (const call of before) {
      const execution = await this.session.execute(call, signal);
      if (execution.failure) {
        await this.leave();
        const message = `The earlier call of ${printable(call.tool)} could not be made again: ${execution.failure.message}`;
        return { ...execution, value: { error: message }, failure: { ...execution.failure, message } };
      }
      this.made.push(JSON.stringify(call));
    }
    return null;
  }

  private async leave(): Promise<void> {
    const { session } = this;
    this.session = null;
    this.made = [];
    await session?.close();
  }
}

function same(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((one, i) => one === b[i]);
}
