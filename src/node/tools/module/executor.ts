/** Tools that are JavaScript functions `(arguments, state) => answer`. See docs/tools.md. */
import path from 'node:path';
import type { ExecutorOf } from '../../../core/environment/executor-schema';
import type { Json } from '../../../core/json';
import { parseStrict } from '../../../core/json-text';
import { type Answered, answered, DEFAULT_TIMEOUT_MS, MAX_ANSWER_BYTES, runCall } from '../calls';
import { executorErrors, failures, ToolFailureError } from '../failures';
import { fileBeside, initialState } from '../places';
import type { Execution, Executor, ExecutorOptions, Identity, ToolCall, ToolSession } from '../types';
import { type HostAnswer, ModuleHost } from './host';
import { readSources, type Sources, stampOf } from './sources';
import { type Running, Spares } from './spares';

const DEFAULT_MEMORY_MB = 256;

/** JSON of a state beyond which a worker is not asked whether it is still the same. */
const SMALL_STATE = 100_000;
const REST_MS = 1000;

export class ModuleExecutor implements Executor {
  readonly kind = 'module';
  readonly isolated = true;
  private readonly host: ModuleHost;
  private readonly spares: Spares;

  constructor(
    private readonly config: ExecutorOf<'module'>,
    private readonly options: ExecutorOptions,
  ) {
    this.host = new ModuleHost(path.resolve(options.folder), config.memoryMB ?? DEFAULT_MEMORY_MB);
    this.spares = new Spares(this.host);
  }

  async identity(): Promise<Identity> {
    const { file, sources } = await this.read();
    return { kind: 'module', what: this.config.path, folder: path.dirname(file), hash: sources.hash };
  }

  async tools(): Promise<null> {
    return null;
  }

  async open(state?: Json): Promise<ToolSession> {
    const { file, sources } = await this.read();
    const initial = await initialState(this.options.folder, state, this.config.state);
    const timeoutMs = (this.config.timeoutSeconds ?? DEFAULT_TIMEOUT_MS / 1000) * 1000;
    const reads = this.options.environment.tools.filter(({ readOnly, hinted }) => readOnly && !hinted);
    return new ModuleSession(
      this.host,
      this.spares,
      file,
      sources,
      initial,
      timeoutMs,
      new Set(reads.map(({ name }) => name)),
    );
  }

  close(): Promise<void> {
    return this.host.end();
  }

  private async read(): Promise<{ file: string; sources: Sources }> {
    const file = await fileBeside(this.options.folder, this.config.path);
    try {
      return { file, sources: readSources(file) };
    } catch (error) {
      throw executorErrors.broken(`${this.config.path} cannot be read: ${(error as Error).message}`);
    }
  }
}

class ModuleSession implements ToolSession {
  private running: Running | null = null;
  /** Calls that were answered and may have written: what another worker is brought up to date with. */
  private readonly made: ToolCall[] = [];
  private closed = false;
  private next = 0;
  /** A tool was called that may write. */
  private touched = false;

  constructor(
    private readonly host: ModuleHost,
    private readonly spares: Spares,
    private readonly file: string,
    private sources: Sources,
    private readonly initial: Json,
    private readonly timeoutMs: number,
    /** Tools that change nothing, so that their calls need not be made again. */
    private readonly reads: ReadonlySet<string>,
  ) {}

  async execute(call: ToolCall, signal?: AbortSignal): Promise<Execution> {
    return runCall(() => this.call(call), { timeoutMs: this.timeoutMs, signal, stop: () => this.stop() });
  }

  async state(): Promise<Json | undefined> {
    if (!this.running && this.made.length === 0) return structuredClone(this.initial);
    const execution = await runCall(
      async () => answeredBy(await this.ask(await this.current([]), (s, id) => this.host.state(s, id)), []),
      { timeoutMs: this.timeoutMs, stop: () => this.stop() },
    );
    if (execution.failure) throw new ToolFailureError(execution.failure.code, execution.failure.message);
    return execution.value;
  }

  async close(): Promise<void> {
    this.closed = true;
    const { running } = this;
    const key = this.key();
    if (
      running &&
      key !== null &&
      !this.touched &&
      (await this.isAsBegun(running)) &&
      this.running === running
    ) {
      this.running = null;
      this.spares.give(key, running);
    } else this.stop();
  }

  /** What a worker must be of to serve this session; null where none is kept. */
  private key(): string | null {
    const state = JSON.stringify(this.initial);
    return state.length > SMALL_STATE ? null : `${this.sources.hash} ${state}`;
  }

  private async isAsBegun(running: Running): Promise<boolean> {
    if (running.waiting.size > 0) return false;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(resolve, REST_MS, null);
    });
    try {
      const answer = await Promise.race([this.ask(running, (s, id) => this.host.state(s, id)), late]);
      return answer !== null && !answer.printed && answer.text === JSON.stringify(this.initial);
    } catch {
      return false;
    } finally {
      clearTimeout(timer);
    }
  }

  private async call(call: ToolCall): Promise<Answered> {
    const notes: string[] = [];
    const running = await this.current(notes);
    this.touched ||= !this.reads.has(call.tool);
    const answer = await this.ask(running, (s, id) => this.host.call(s, id, call.tool, call.arguments));
    const result = answeredBy(answer, notes, call.tool);
    if (!this.reads.has(call.tool)) this.made.push(call);
    return result;
  }

  private ask({ s, waiting }: Running, send: (s: number, id: number) => void): Promise<HostAnswer> {
    const id = ++this.next;
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      send(s, id);
    });
  }

  /** The worker of this session, started where there is none and brought up to date with the calls made so far. */
  private async current(notes: string[]): Promise<Running> {
    if (this.closed) throw failures.cancelled();
    const changed = stampOf(this.sources.files) !== this.sources.stamp;
    if (changed) {
      const sources = readSources(this.file);
      if (sources.hash !== this.sources.hash) {
        this.stop();
        notes.push('The module has changed and was loaded again.');
      }
      this.sources = sources;
    }
    if (this.running) {
      await this.running.opened;
      return this.running;
    }
    const key = this.made.length === 0 && !this.touched ? this.key() : null;
    const running = (key !== null && this.spares.take(key)) || this.start();
    running.gone = () => {
      if (this.running === running) this.running = null;
    };
    this.running = running;
    await running.opened;
    for (const call of this.made) {
      await this.ask(running, (s, id) => this.host.call(s, id, call.tool, call.arguments));
    }
    if (this.made.length)
      notes.push(`The ${this.made.length} earlier calls of this session were made again in a new worker.`);
    return running;
  }

  private start(): Running {
    const waiting: Running['waiting'] = new Map();
    let opened!: (tools: string[]) => void;
    let failed!: (error: Error) => void;
    const running: Running = {
      s: 0,
      waiting,
      opened: new Promise((resolve, reject) => {
        opened = resolve;
        failed = reject;
      }),
      gone: () => undefined,
    };
    running.opened.catch(() => undefined); // whoever calls is told
    running.s = this.host.open(this.file, this.initial, {
      opened,
      answer: (id, answer) => {
        waiting.get(id)?.resolve(answer);
        waiting.delete(id);
      },
      ended: (failure) => {
        running.gone();
        failed(failure);
        for (const { reject } of waiting.values()) reject(failure);
        waiting.clear();
      },
    });
    return running;
  }

  private stop(): void {
    const { running } = this;
    this.running = null;
    if (running) this.host.close(running.s);
  }
}

function answeredBy(answer: HostAnswer, notes: string[], tool = ''): Answered {
  if (answer.unknown) throw failures.noTool(tool, answer.unknown);
  if (answer.bad !== undefined) throw failures.notJson(`no JSON: ${answer.bad}`);
  const all = answer.printed ? [...notes, `It printed: ${answer.printed.trimEnd()}`] : notes;
  if (answer.error !== undefined) return answered({ error: answer.error }, { error: true, notes: all });
  const text = answer.text ?? 'null';
  if (text.length > MAX_ANSWER_BYTES) throw failures.tooLarge(MAX_ANSWER_BYTES);
  const parsed = parseStrict(text);
  if (!parsed.ok) throw failures.notJson(parsed.reason);
  return answered(parsed.value, { notes: all });
}
