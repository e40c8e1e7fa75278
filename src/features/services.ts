/**
 * What features give one another. `extension.ts` makes these once and hands them to each feature's `register`
 * function. Beside these, features share only the store of environments (`environments/`), the results of tasks
 * (`testing/results.ts`), and live sessions, which the debugger follows (`session/`).
 */
import type * as vscode from 'vscode';
import type { Diagnostic } from '../core/environment/diagnostics';
import type { Environment, Tool } from '../core/environment/types';
import type { Policy, Sampling, Signal } from '../core/policy';
import type { ObservationsFrom } from '../core/rehearsal/types';
import type { Executor, ToolCall } from '../node/tools';
import type { CheckRunner } from '../node/tools/checks';
import type { ShownPair } from './fidelity/diff';

/** The *Rehearsal* output channel. */
export interface Log {
  info(message: string): void;
  warn(message: string): void;
  /** With the stack of `cause`, which is never shown to a person elsewhere. */
  error(message: string, cause?: unknown): void;
  show(): void;
}

export interface Settings {
  /** How sessions sample where neither the launch configuration nor the file says otherwise. */
  sampling(): Sampling & { seed: number; alternatives: number };
  /** Model of new sessions; undefined means whatever the server offers first. */
  model(): string | undefined;
}

export interface Server {
  /** A connection to a model, starting the local server where needed. Throws `UserError`. */
  connect(model?: string, signal?: Signal): Promise<Policy>;
  /** Names of the models that can be asked for, the default first. Throws `UserError`. */
  models(): Promise<string[]>;
  /**
   * Where training runs: the server of the settings where that one trains, else the local one, which is started
   * only where `start` says so. Null where it does not run. Throws `UserError`.
   */
  address(options: { start: boolean }): Promise<{ url: string; token: string } | null>;
}

export interface LoadedEnvironment {
  file: string;
  /** Null where it cannot be used at all; `diagnostics` say why. */
  environment: Environment | null;
  diagnostics: Diagnostic[];
  /** Where things stand in the file, zero-based lines; absent for what another file holds. */
  lineOfTool(name: string): number | undefined;
  lineOfTask(id: string): number | undefined;
}

export interface Environments {
  /** Environment files of the workspace, sorted by path. */
  files(): Promise<string[]>;
  /** As the person sees it: an open editor's text goes before the disk's. */
  load(file: string): Promise<LoadedEnvironment>;
}

/** The real tools of an environment, behind the person's consent: every call is asked for where it has to be. */
export interface RealExecutor extends Executor {
  /**
   * Asks once for all of these tools, and answers whether they may run now. A batch calls this before it begins;
   * whoever makes a single call names it, so that the question says what would run.
   */
  allow(tools: readonly Pick<Tool, 'name' | 'readOnly' | 'hinted'>[], call?: ToolCall): Promise<boolean>;
}

/** Whatever is executed for real in this window goes through here. */
export interface RealTools {
  /**
   * Nothing runs before the first call, or before its `tools` are asked for. The caller closes it. Throws
   * `UserError` where there is none, where it cannot be used, and in a workspace that is not trusted.
   * @param file path of the environment file
   * @param options `batch`: what the person refused is not asked again
   */
  executorFor(file: string, environment: Environment, options?: { batch?: boolean }): RealExecutor;
  /** What `command` checks need; each program is asked for. */
  checksOf(file: string, environment: Environment): CheckRunner;
}

/** Pairs of answers in VS Code's own diff. */
export interface Diffs {
  /** @param key of the pair: the same key is the same pair of documents */
  show(key: string, pair: ShownPair, column: vscode.ViewColumn): Promise<void>;
}

/** What a session is started with; whatever is absent is asked for where it cannot be told. */
export interface StartRequest {
  /** Path of the environment file. */
  file?: string;
  task?: string;
  model?: string;
  seed?: number;
  /** Who answers the calls: the policy, or the real tools. */
  observations?: ObservationsFrom;
  /** Run to the end without stopping. */
  noDebug?: boolean;
}

/** The session feature, for the trees, the Test Explorer and links. */
export interface SessionFeature {
  /** Asks for what is missing, starts a debug session of type `rehearsal` and opens its panel. */
  start(request?: StartRequest): Promise<void>;
  /** Opens a saved session (path of its `.jsonl` file), at a turn where one is given. */
  open(file: string, turn?: number): Promise<void>;
  /** Fires when a session was opened, closed or changed enough for a list to be drawn again. */
  readonly onDidChangeSessions: vscode.Event<void>;
}

export interface Services {
  context: vscode.ExtensionContext;
  log: Log;
  settings: Settings;
  server: Server;
  environments: Environments;
  tools: RealTools;
  diffs: Diffs;
  /** Shows an error: a `UserError` as it is with its button, anything else with "Show Log". */
  showError(error: unknown): void;
  /** Runs the button of an error (`ErrorAction.id`), wherever it was shown. */
  runErrorAction(id: string): Promise<void>;
}
