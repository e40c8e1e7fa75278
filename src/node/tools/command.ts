/** Tools in any language: a program that reads and writes JSON lines. The protocol is in docs/tools.md. */
import path from 'node:path';
import type { ExecutorOf } from '../../core/environment/executor-schema';
import { isObject, type Json, type JsonObject } from '../../core/json';
import { parseStrict } from '../../core/json-text';
import { type Answered, answered, DEFAULT_TIMEOUT_MS, MAX_ANSWER_BYTES, runCall } from './calls';
import { failures, ToolFailureError } from './failures';
import { initialState, sha256 } from './places';
import { Program } from './process';
import type { Execution, Executor, ExecutorOptions, Identity, ToolCall, ToolSession } from './types';
import { Workspace } from './workspace';

const PROTOCOL_VERSION = 1;
const SHOWN_NOISE = 2000;

export class CommandExecutor implements Executor {
  readonly kind = 'command';
  readonly isolated = true;
  private readonly open_ = new Set<CommandSession>();

  constructor(
    private readonly config: ExecutorOf<'command'>,
    private readonly options: ExecutorOptions,
  ) {}

  async identity(): Promise<Identity> {
    const { command, env = [] } = this.config;
    const folder = path.resolve(this.options.folder);
    return {
      kind: 'command',
      what: commandLine(command),
      folder,
      hash: sha256('command', folder, ...command, '', ...env),
    };
  }

  async tools(): Promise<null> {
    return null;
  }

  async open(state?: Json): Promise<ToolSession> {
    const { folder } = this.options;
    const initial = await initialState(folder, state, this.config.state);
    const workspace = this.config.workspace ? await Workspace.copy(this.config.workspace, folder) : null;
    const session = new CommandSession(this.config, path.resolve(folder), initial, workspace, () =>
      this.open_.delete(session),
    );
    this.open_.add(session);
    return session;
  }

  async close(): Promise<void> {
    await Promise.all([...this.open_].map((session) => session.close()));
  }
}

/** As it would be typed, for people to read. */
export function commandLine(argv: readonly string[]): string {
  return argv.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word))).join(' ');
}

interface Waiting {
  id: number;
  resolve(line: { message: JsonObject; raw: string }): void;
  reject(error: Error): void;
}

class CommandSession implements ToolSession {
  private program: Program | null = null;
  private waiting: Waiting | null = null;
  private noise = '';
  private next = 0;
  /** Calls that an earlier program of this session answered, and this one does not know. */
  private forgotten = 0;
  private answeredCalls = 0;

  constructor(
    private readonly config: ExecutorOf<'command'>,
    private readonly folder: string,
    /** Of the session so far, where each call has a process of its own. */
    private current: Json,
    private readonly workspace: Workspace | null,
    private readonly onClose: () => void,
  ) {}

  execute(call: ToolCall, signal?: AbortSignal): Promise<Execution> {
    return runCall(() => this.call(call), { timeoutMs: this.timeoutMs, signal, stop: () => this.kill() });
  }

  async state(): Promise<Json | undefined> {
    if (this.config.per === 'call') return this.current;
    const execution = await runCall(
      async () => {
        const { message } = await this.ask({ type: 'state' });
        return answered(message.state ?? null);
      },
      { timeoutMs: this.timeoutMs, stop: () => this.kill() },
    );
    if (execution.failure) throw new ToolFailureError(execution.failure.code, execution.failure.message);
    return execution.value ?? undefined;
  }

  async close(): Promise<void> {
    await this.program?.close();
    this.program = null;
    await this.workspace?.remove();
    this.onClose();
  }

  private get timeoutMs(): number {
    return (this.config.timeoutSeconds ?? DEFAULT_TIMEOUT_MS / 1000) * 1000;
  }

  private async call({ tool, arguments: given }: ToolCall): Promise<Answered> {
    const args = this.workspace ? this.workspace.inward(given) : given;
    const each = this.config.per === 'call';
    this.noise = '';
    const asked: JsonObject = {
      type: 'call',
      tool,
      arguments: args,
      ...(each ? { state: this.current } : {}),
    };
    const { message, raw } = await this.ask(asked);
    if (each) {
      if (message.state !== undefined) this.current = message.state;
      await this.program?.close();
      this.program = null;
    }
    const notes = this.noise ? [`It also printed: ${this.noise.trimEnd()}`] : [];
    if (this.forgotten && !each) {
      notes.push(
        `The program was started again: ${this.forgotten} earlier calls of this session are lost to it.`,
      );
    }
    this.answeredCalls++;
    const failed = message.error !== undefined && message.result === undefined;
    const value = failed ? errorValue(message.error!) : (message.result ?? null);
    return answered(this.workspace ? this.workspace.outward(value) : value, { error: failed, raw, notes });
  }

  /** Sends one line and gives the line that answers it. */
  private ask(message: JsonObject): Promise<{ message: JsonObject; raw: string }> {
    const program = this.running();
    const id = ++this.next;
    return new Promise((resolve, reject) => {
      this.waiting = { id, resolve, reject };
      program.send(JSON.stringify({ id, ...message }));
    });
  }

  private running(): Program {
    if (this.program?.alive) return this.program;
    this.forgotten = this.answeredCalls;
    const place = (text: string) => this.workspace?.placed(text) ?? text;
    const program: Program = new Program({
      argv: this.config.command.map(place),
      // A program beside the environment is found there, whatever its workspace.
      cwd: this.folder,
      env: this.config.env,
      maxLine: MAX_ANSWER_BYTES,
      onLine: (line) => this.line(line),
      onEnd: (failure) => {
        this.waiting?.reject(failure);
        this.waiting = null;
        if (this.program === program) this.program = null;
      },
    });
    this.program = program;
    if (this.config.per !== 'call') {
      const folder = this.workspace ? { workspace: this.workspace.folder } : {};
      program.send(
        JSON.stringify({ type: 'open', version: PROTOCOL_VERSION, state: this.current, ...folder }),
      );
    }
    return program;
  }

  /** The answer to what was asked, or something printed in between. */
  private line(line: string): void {
    const { waiting } = this;
    const parsed = parseStrict(line);
    if (waiting && parsed.ok && isObject(parsed.value) && parsed.value.id === waiting.id) {
      this.waiting = null;
      waiting.resolve({ message: parsed.value, raw: line });
    } else if (
      // What looks like the answer and is none will not be followed by another one.
      waiting &&
      !parsed.ok &&
      new RegExp(`^\\s*\\{.*"id"\\s*:\\s*${waiting.id}\\b`).test(line.slice(0, 2000))
    ) {
      this.waiting = null;
      waiting.reject(failures.notJson(parsed.reason, line));
    } else this.noise = `${this.noise + line.slice(0, SHOWN_NOISE)}\n`.slice(0, SHOWN_NOISE);
  }

  private async kill(): Promise<void> {
    this.waiting = null;
    const { program } = this;
    this.program = null;
    await program?.kill();
  }
}

function errorValue(error: Json): Json {
  return isObject(error) && (Object.hasOwn(error, 'error') || Object.hasOwn(error, 'error_tool_call'))
    ? error
    : { error };
}
