/** Tools of an MCP server: a program of its own for each session, or an address. */
import path from 'node:path';
import type { ExecutorOf } from '../../../core/environment/executor-schema';
import type { Tool } from '../../../core/environment/types';
import type { Json } from '../../../core/json';
import { type Answered, answered, DEFAULT_TIMEOUT_MS, runCall } from '../calls';
import { commandLine } from '../command';
import { executorErrors, failures, ToolFailureError } from '../failures';
import { argumentsObject, sha256 } from '../places';
import { resolveSecrets } from '../secrets';
import type { Execution, Executor, ExecutorOptions, Identity, ToolCall, ToolSession } from '../types';
import { Workspace } from '../workspace';
import { answerOfResult, toolOf } from './answers';
import { Connection, type Target } from './connection';

export class McpExecutor implements Executor {
  readonly kind = 'mcp';
  readonly isolated: boolean;
  private readonly open_ = new Set<McpSession>();
  private readonly listeners = new Set<() => void>();

  constructor(
    private readonly config: ExecutorOf<'mcp'>,
    private readonly options: ExecutorOptions,
  ) {
    this.isolated = config.command !== undefined;
  }

  async identity(): Promise<Identity> {
    const { command, url, env = [] } = this.config;
    if (!command) return { kind: 'mcp', what: url!, hash: sha256('mcp', url!) };
    const folder = path.resolve(this.options.folder);
    return {
      kind: 'mcp',
      what: commandLine(command),
      folder,
      hash: sha256('mcp', folder, ...command, '', ...env),
    };
  }

  /** Asks the server, all pages. Throws `ExecutorError` where it does not say. */
  async tools(): Promise<Tool[]> {
    const session = await this.open();
    try {
      return await (session as McpSession).tools();
    } catch (error) {
      throw executorErrors.broken((error as Error).message.replace(/\.$/, ''));
    } finally {
      await session.close();
    }
  }

  async open(_state?: Json): Promise<ToolSession> {
    const { folder } = this.options;
    const headers = this.config.url
      ? await resolveSecrets(this.config.headers ?? {}, this.options.secret)
      : {};
    const workspace = this.config.workspace ? await Workspace.copy(this.config.workspace, folder) : null;
    const session = new McpSession(this.config, path.resolve(folder), headers, workspace, {
      closed: () => this.open_.delete(session),
      toolsChanged: () => {
        for (const listener of this.listeners) listener();
      },
    });
    this.open_.add(session);
    return session;
  }

  onToolsChanged(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  async close(): Promise<void> {
    await Promise.all([...this.open_].map((session) => session.close()));
  }
}

class McpSession implements ToolSession {
  private connection: Promise<Connection> | null = null;
  private readonly notes: string[] = [];
  private calls = 0;
  private stopped = new AbortController();

  constructor(
    private readonly config: ExecutorOf<'mcp'>,
    private readonly folder: string,
    private readonly headers: { [name: string]: string },
    private readonly workspace: Workspace | null,
    private readonly told: { closed(): void; toolsChanged(): void },
  ) {}

  execute(call: ToolCall, signal?: AbortSignal): Promise<Execution> {
    return runCall(() => this.call(call), { timeoutMs: this.timeoutMs, signal, stop: () => this.kill() });
  }

  async tools(): Promise<Tool[]> {
    const connection = await this.connected();
    try {
      const { tools } = await connection.client.listTools(undefined, { timeout: this.timeoutMs });
      return tools.map(toolOf);
    } catch (error) {
      throw connection.failureOf(error, this.what, this.timeoutMs);
    }
  }

  async state(): Promise<undefined> {
    return undefined;
  }

  async close(): Promise<void> {
    const connection = await this.connection?.catch(() => null);
    this.connection = null;
    await connection?.close();
    await this.workspace?.remove();
    this.told.closed();
  }

  private get timeoutMs(): number {
    return (this.config.timeoutSeconds ?? DEFAULT_TIMEOUT_MS / 1000) * 1000;
  }

  private get what(): string {
    return this.config.url ?? commandLine(this.config.command!);
  }

  private async call({ tool, arguments: given }: ToolCall): Promise<Answered> {
    const args = argumentsObject(given);
    if (!args) throw failures.arguments('the arguments are not an object');
    const connection = await this.connected();
    const { workspace } = this;
    let answer: Answered;
    try {
      const placed = workspace ? workspace.inward(args) : args;
      // Our own limit comes first; a little more, so that there is one message for it.
      const timeout = this.timeoutMs + 1000;
      answer = answerOfResult(
        await connection.client.callTool({ name: tool, arguments: placed }, { timeout }),
      );
    } catch (error) {
      answer = this.refusal(error, connection);
    }
    this.calls++;
    const noise = connection.noise();
    const notes = [...this.notes.splice(0), ...(noise ? [`It also printed: ${noise.trimEnd()}`] : [])];
    return {
      ...answer,
      value: workspace ? workspace.outward(answer.value) : answer.value,
      ...(notes.length ? { notes } : {}),
    };
  }

  /** An error that the server answers with (a code as JSON-RPC has it) is an answer; anything else is a failure. */
  private refusal(error: unknown, connection: Connection): Answered {
    const { code, message } = error as { code?: unknown; message: string };
    if (error instanceof ToolFailureError || typeof code !== 'number' || connection.lost) {
      throw connection.failureOf(error, this.what, this.timeoutMs);
    }
    return answered({ error: message }, { error: true, raw: JSON.stringify({ code, message }) });
  }

  /** The connection of this session; another one where the server has ended or was started again. */
  private async connected(): Promise<Connection> {
    const known = await this.connection?.catch(() => null);
    if (known && !known.lost) return known;
    if (this.calls > 0 && this.config.command) {
      this.notes.push(
        `The server was started again: what its ${this.calls} earlier calls left in it is lost.`,
      );
    }
    this.stopped = new AbortController();
    this.connection = Connection.open(this.target(), {
      timeoutMs: this.timeoutMs,
      signal: this.stopped.signal,
      onToolsChanged: () => {
        this.notes.push('The server has changed its tools.');
        this.told.toolsChanged();
      },
    });
    return this.connection;
  }

  private target(): Target {
    const { command, env } = this.config;
    if (!command) return { url: this.config.url!, headers: this.headers };
    return { argv: command.map((word) => this.workspace?.placed(word) ?? word), cwd: this.folder, env };
  }

  private async kill(): Promise<void> {
    const { connection } = this;
    this.connection = null;
    this.stopped.abort(); // where it is still being opened
    const open = await connection?.catch(() => null);
    await open?.kill();
  }
}
