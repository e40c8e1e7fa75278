/** The port to the real tools. Every kind of executor is one of these. */
import type { Environment, Tool } from '../../core/environment/types';
import type { Json } from '../../core/json';
import type { Execution as CoreExecution } from '../../core/rehearsal/drivers';
import type { ToolFailure } from './failures';

export interface ToolCall {
  tool: string;
  arguments: Json;
}

/** What a call came to. `value` is what the tool answered, or `{"error": …}` where it could not. */
export interface Execution extends CoreExecution {
  /** Why there is no answer: the executor failed, not the tool. Such a call says nothing about the policy. */
  failure?: ToolFailure;
  /** What a person should know: printed output, a restart, a lost write. */
  notes?: string[];
}

/** The world of one task: it begins in the task's state and is thrown away. Calls are made one after the other. */
export interface ToolSession {
  /** Never rejects: whatever a tool does is an execution. */
  execute(call: ToolCall, signal?: AbortSignal): Promise<Execution>;
  /** The state as it stands, or undefined where this kind has none that can be read. */
  state(): Promise<Json | undefined>;
  /** Ends everything that the session started. */
  close(): Promise<void>;
}

/** What would run, for consent: the same identity is the same program or the same address. */
export interface Identity {
  kind: string;
  /** Command line, address, or path of the module: what a person is shown. */
  what: string;
  /** Folder in which it runs, where it is a program. */
  folder?: string;
  /** Changes where what would run changes. */
  hash: string;
}

export interface Executor {
  readonly kind: string;
  /** Sessions begin in the task's state and do not see each other. */
  readonly isolated: boolean;
  identity(): Promise<Identity>;
  /** The tools that the executor itself brings (MCP, OpenAPI), or null. Runs it. */
  tools(signal?: AbortSignal): Promise<Tool[] | null>;
  /** @param state of the task; the executor's own where undefined */
  open(state?: Json, signal?: AbortSignal): Promise<ToolSession>;
  close(): Promise<void>;
  /** Called where its tools have changed (MCP), until the function returned is called. */
  onToolsChanged?(listener: () => void): () => void;
}

export interface ExecutorOptions {
  environment: Environment;
  /** Folder of the environment file. */
  folder: string;
  /** Value of a secret that a header or address names. On the command line an environment variable. */
  secret?(name: string): Promise<string | undefined>;
  /** Executors that live elsewhere: `vscode` in the extension. */
  others?: { [kind: string]: (options: ExecutorOptions) => Executor };
}
