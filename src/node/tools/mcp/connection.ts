/** One connection to an MCP server, and the program behind it. */
import type { Client, Transport } from '@modelcontextprotocol/client';
import { failures, ToolFailureError } from '../failures';
import { ProgramTransport } from './stdio';

const CLOSE_MS = 1000;

export type Target =
  | { argv: readonly string[]; cwd: string; env?: readonly string[] }
  | { url: string; headers: { [name: string]: string } };

export class Connection {
  /** Whether the server is gone. */
  lost = false;

  private constructor(
    readonly client: Client,
    private readonly transport: Transport,
  ) {}

  /** Throws `ToolFailureError`; a program that does not initialize is ended. */
  static async open(
    target: Target,
    { timeoutMs, signal, onToolsChanged }: { timeoutMs: number; signal: AbortSignal; onToolsChanged(): void },
  ): Promise<Connection> {
    // Loaded when first needed: most environments have no MCP server.
    const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
    const transport: Transport =
      'url' in target
        ? new StreamableHTTPClientTransport(new URL(target.url), { requestInit: { headers: target.headers } })
        : new ProgramTransport(target);
    const client = new Client(
      { name: 'rehearsal-studio', version: '1' },
      {
        listChanged: { tools: { autoRefresh: false, onChanged: onToolsChanged } },
        // Answers are compared with rehearsals, not with the server's own promise.
        jsonSchemaValidator: {
          getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
        },
      },
    );
    const connection = new Connection(client, transport);
    client.onclose = () => {
      connection.lost = true;
    };
    client.onerror = () => undefined; // told where it matters: at the call
    try {
      await client.connect(transport, { timeout: timeoutMs, signal });
    } catch (error) {
      await connection.kill();
      throw connection.failureOf(error, 'url' in target ? target.url : target.argv.join(' '), timeoutMs);
    }
    return connection;
  }

  /** What an error of the client means: the program's own end, if it ended, says more. */
  failureOf(error: unknown, what: string, timeoutMs: number): ToolFailureError {
    if (error instanceof ToolFailureError) return error;
    const own = this.transport instanceof ProgramTransport ? this.transport.failure : null;
    if (own) return own;
    const { code, message } = error as { code?: unknown; message: string };
    if (code === 'REQUEST_TIMEOUT') return failures.timeout(timeoutMs);
    if (code === 'CONNECTION_CLOSED' || code === 'NOT_CONNECTED')
      return failures.crashed('the connection closed');
    return failures.unreachable(what, message);
  }

  /** What the program printed beside the protocol since it was asked last. */
  noise(): string {
    if (!(this.transport instanceof ProgramTransport)) return '';
    const { noise } = this.transport;
    this.transport.noise = '';
    return noise;
  }

  async close(): Promise<void> {
    const { transport } = this;
    if ('terminateSession' in transport) {
      const ended = (transport.terminateSession as () => Promise<void>)
        .call(transport)
        .catch(() => undefined);
      await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, CLOSE_MS).unref())]);
    }
    await this.client.close().catch(() => undefined);
    await transport.close().catch(() => undefined);
  }

  async kill(): Promise<void> {
    this.lost = true;
    if (this.transport instanceof ProgramTransport) await this.transport.kill();
    else await this.client.close().catch(() => undefined);
  }
}
