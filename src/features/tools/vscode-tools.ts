/** The executor `vscode`: tools that VS Code and its extensions offer to language models. */
import * as vscode from 'vscode';
import type { ExecutorOf } from '../../core/environment/executor-schema';
import type { Tool } from '../../core/environment/types';
import type { JsonObject } from '../../core/json';
import type { Execution, Executor, ExecutorOptions, Identity, ToolCall, ToolSession } from '../../node/tools';
import { answered, DEFAULT_TIMEOUT_MS, runCall, valueOfText } from '../../node/tools/calls';
import { failures } from '../../node/tools/failures';
import { sha256 } from '../../node/tools/places';

export class VscodeExecutor implements Executor {
  readonly kind = 'vscode';
  /** The window is one world for all sessions. */
  readonly isolated = false;
  private readonly timeoutMs: number;

  constructor({ environment }: ExecutorOptions) {
    const { timeoutSeconds } = environment.executor as unknown as ExecutorOf<'vscode'>;
    this.timeoutMs = timeoutSeconds === undefined ? DEFAULT_TIMEOUT_MS : timeoutSeconds * 1000;
  }

  async identity(): Promise<Identity> {
    return { kind: 'vscode', what: 'tools of VS Code and its extensions', hash: sha256('vscode') };
  }

  async tools(): Promise<Tool[]> {
    return vscode.lm.tools.map(({ name, description, inputSchema }) => ({
      name,
      description,
      parameters: (inputSchema ?? { type: 'object', properties: {} }) as JsonObject,
      readOnly: false,
    }));
  }

  async open(): Promise<ToolSession> {
    return {
      execute: (call, signal) => this.execute(call, signal),
      state: async () => undefined,
      close: async () => {},
    };
  }

  async close(): Promise<void> {}

  private execute({ tool, arguments: input }: ToolCall, signal?: AbortSignal): Promise<Execution> {
    const source = new vscode.CancellationTokenSource();
    const work = async () => {
      const known = vscode.lm.tools.map(({ name }) => name);
      if (!known.includes(tool)) throw failures.noTool(tool, known);
      const options = { input: input as object, toolInvocationToken: undefined };
      const { content } = await vscode.lm.invokeTool(tool, options, source.token);
      return answerOf(content);
    };
    return runCall(work, { timeoutMs: this.timeoutMs, signal, stop: () => source.cancel() }).finally(() =>
      source.dispose(),
    );
  }
}

/** Texts are the answer; what is no text is named, since a policy could not read it either. */
function answerOf(content: readonly unknown[]) {
  const texts = content.flatMap((part) => (part instanceof vscode.LanguageModelTextPart ? part.value : []));
  const others = content.length - texts.length;
  const raw = texts.join('');
  const notes = others > 0 ? [`${others} parts of its answer are no text and were left out.`] : [];
  return answered(valueOfText(raw), { raw, notes });
}
