/** MCP over a program's standard input and output, in a process group that goes with it. */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { parseStrict } from '../../../core/json-text';
import { MAX_ANSWER_BYTES } from '../calls';
import type { ToolFailureError } from '../failures';
import { Program } from '../process';

const SHOWN_NOISE = 2000;

export class ProgramTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** What it printed beside the protocol. */
  noise = '';
  /** Why the program is gone. */
  failure: ToolFailureError | null = null;
  private program: Program | null = null;

  constructor(private readonly run: { argv: readonly string[]; cwd: string; env?: readonly string[] }) {}

  async start(): Promise<void> {
    this.program = new Program({
      ...this.run,
      maxLine: MAX_ANSWER_BYTES,
      onLine: (line) => this.line(line),
      onEnd: (failure) => {
        this.failure = failure;
        this.onerror?.(failure);
        this.onclose?.();
      },
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.failure) throw this.failure;
    this.program?.send(JSON.stringify(message));
  }

  async close(): Promise<void> {
    await this.program?.close();
    this.onclose?.();
  }

  async kill(): Promise<void> {
    await this.program?.kill();
  }

  private line(line: string): void {
    const parsed = parseStrict(line);
    if (parsed.ok && typeof parsed.value === 'object' && parsed.value !== null && 'jsonrpc' in parsed.value) {
      this.onmessage?.(parsed.value as unknown as JSONRPCMessage);
    } else this.noise = `${this.noise + line.slice(0, SHOWN_NOISE)}\n`.slice(0, SHOWN_NOISE);
  }
}
