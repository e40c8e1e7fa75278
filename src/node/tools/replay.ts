/** Recorded calls as tools: for machines that cannot run the real ones. */
import fs from 'node:fs/promises';
import { Report } from '../../core/environment/diagnostics';
import type { ExecutorOf } from '../../core/environment/executor-schema';
import { readExamples } from '../../core/environment/read-examples';
import { parseLines } from '../../core/environment/source';
import type { Example } from '../../core/environment/types';
import { similarity } from '../../core/fidelity/labels';
import { equalJson, formatJson, type Json } from '../../core/json';
import { runCall } from './calls';
import { executorErrors, ToolFailureError } from './failures';
import { fileBeside, sha256 } from './places';
import type { Execution, Executor, ExecutorOptions, Identity, ToolCall, ToolSession } from './types';

export class ReplayExecutor implements Executor {
  readonly kind = 'replay';
  readonly isolated = true;
  private records: Promise<Example[]> | null = null;

  constructor(
    private readonly config: ExecutorOf<'replay'>,
    private readonly options: ExecutorOptions,
  ) {}

  async identity(): Promise<Identity> {
    return {
      kind: 'replay',
      what: this.config.calls ?? "the environment's recorded calls",
      hash: sha256('replay'),
    };
  }

  async tools(): Promise<null> {
    return null;
  }

  async open(state?: Json): Promise<ToolSession> {
    this.records ??= this.read();
    const records = await this.records;
    const own = records.filter((record) => equalJson(record.state, state));
    return new ReplaySession(own.length ? own : records);
  }

  async close(): Promise<void> {}

  private async read(): Promise<Example[]> {
    const { calls } = this.config;
    if (calls === undefined) return this.options.environment.examples;
    const report = new Report();
    const text = await fs.readFile(await fileBeside(this.options.folder, calls), 'utf8');
    const locations = { tools: new Map(), tasks: new Map(), checks: new Map(), examples: [] };
    const { examples } = readExamples(parseLines(text, calls, report), report, locations);
    const [first] = report.diagnostics;
    if (first && examples.length === 0) throw executorErrors.broken(`${calls}: ${first.message}`);
    return examples;
  }
}

class ReplaySession implements ToolSession {
  private readonly used = new Map<Example, number>();

  constructor(private readonly records: readonly Example[]) {}

  execute(call: ToolCall): Promise<Execution> {
    const work = async () => {
      const { outcome, value } = this.find(call);
      return { outcome, value };
    };
    return runCall(work, { timeoutMs: 60_000, stop: () => undefined });
  }

  async state(): Promise<undefined> {
    return undefined;
  }

  async close(): Promise<void> {}

  /** The record of this call that was used least; of several, the first. */
  private find({ tool, arguments: args }: ToolCall): Example {
    const same = this.records.filter((one) => one.tool === tool && equalJson(one.arguments, args));
    const uses = (one: Example) => this.used.get(one) ?? 0;
    const [record] = same.sort((a, b) => uses(a) - uses(b));
    if (!record) throw new ToolFailureError('no-record', missMessage(tool, args, this.records));
    this.used.set(record, uses(record) + 1);
    return record;
  }
}

function missMessage(tool: string, args: Json, records: readonly Example[]): string {
  const own = records.filter((record) => record.tool === tool);
  const wanted = formatJson(args);
  const [nearest] = own
    .map((record) => ({ record, alike: similarity(formatJson(record.arguments), wanted) }))
    .sort((a, b) => b.alike - a.alike);
  const what = nearest
    ? `The nearest recorded call is ${tool} ${formatJson(nearest.record.arguments)}`
    : `No call of ${tool} is recorded`;
  return `This call was not recorded. ${what}.`;
}
