/** One call by itself, from the palette or a lens: executed for real, or rehearsed by the model. */
import * as vscode from 'vscode';
import { createRenderer } from '../../core/conversation/render';
import type { Environment, Example, Tool } from '../../core/environment/types';
import { equalJson, formatJson, type JsonObject } from '../../core/json';
import { rehearseCall } from '../../core/rehearsal/ask';
import { start } from '../../core/rehearsal/machine';
import { printable } from '../../core/text';
import { ALONE } from '../../node/fidelity/compare';
import type { ToolCall } from '../../node/tools';
import { withServerTools } from '../../node/tools/server-tools';
import { targetOf } from '../environments/target';
import { usable } from '../environments/usable';
import { notTrusted } from '../errors';
import { Command } from '../ids';
import type { Services } from '../services';
import { askArguments, askTool } from './ask-call';
import { CallDocuments } from './call-documents';

/** What a lens says: a recorded call by its index, or a tool whose arguments are asked for. */
export interface CallTarget {
  file: string;
  record?: number;
  tool?: string;
}

interface Chosen {
  file: string;
  environment: Environment;
  tool: Pick<Tool, 'name' | 'readOnly' | 'hinted'>;
  call: ToolCall & { arguments: JsonObject };
  /** The record that the call comes from, if it does. */
  record?: Example;
}

export function registerCallCommands(services: Services): void {
  const { context, showError } = services;
  const documents = new CallDocuments();
  const commands = new CallCommands(services, documents);
  const run = (action: Promise<unknown>) => action.catch(showError);
  context.subscriptions.push(
    documents,
    vscode.commands.registerCommand(Command.executeCall, (argument) => run(commands.execute(argument))),
    vscode.commands.registerCommand(Command.rehearseCall, (argument) => run(commands.rehearse(argument))),
  );
}

class CallCommands {
  constructor(
    private readonly services: Services,
    private readonly documents: CallDocuments,
  ) {}

  async execute(argument: unknown): Promise<void> {
    const chosen = await this.choose(argument, 'Execute This Call');
    if (!chosen) return;
    const { file, environment, tool, call, record } = chosen;
    const executor = this.services.tools.executorFor(file, environment);
    try {
      if (!(await executor.allow([tool], call))) return;
      const execution = await waiting(`executing ${call.tool}`, async (signal) => {
        const session = await executor.open(record?.state, signal);
        return session.execute(call, signal).finally(() => session.close());
      });
      const { failure, notes = [], outcome, durationMs } = execution;
      const said = failure ? failure.message : `real ${outcome}, ${durationMs.toFixed(1)} ms`;
      const late = record?.afterWrite
        ? ['It was recorded after calls that write; here it is the first call.']
        : [];
      await this.documents.show(file, call, 'real', execution, [said, ...late, ...notes]);
    } finally {
      await executor.close();
    }
  }

  /** The model answers the call as it would answer a first one: without the record that is its own answer. */
  async rehearse(argument: unknown): Promise<void> {
    const chosen = await this.choose(argument, 'Rehearse This Call');
    if (!chosen) return;
    const { server, settings } = this.services;
    const { file, environment, call, record } = chosen;
    const answer = await waiting(`rehearsing ${call.tool}`, async (signal) => {
      const policy = await server.connect(settings.model(), signal);
      const examples = environment.examples.filter(
        (one) => one.tool !== call.tool || !equalJson(one.arguments, call.arguments),
      );
      const state = record?.state === undefined ? {} : { state: record.state };
      const setup = {
        environment: { ...environment, examples },
        task: { id: 'call', instruction: ALONE, user: [], checks: [], ...state },
        policy: policy.info,
        options: { ...settings.sampling(), priority: 0, observations: 'rehearse' as const },
      };
      const asked = { name: call.tool, arguments: call.arguments, argumentsText: formatJson(call.arguments) };
      const ports = { policy, render: createRenderer(policy) };
      return { ...(await rehearseCall(start(setup), asked, ports, signal)), model: policy.info.model };
    });
    const { observation, model } = answer;
    if (!observation) return;
    await this.documents.show(file, call, 'rehearsed', observation, [
      `${observation.source} ${observation.outcome}, ${model}`,
    ]);
  }

  private async choose(argument: unknown, title: string): Promise<Chosen | undefined> {
    if (!vscode.workspace.isTrusted) throw notTrusted();
    const given = (argument ?? {}) as Partial<CallTarget>;
    const file = targetOf(argument).file ?? (await this.chooseFile(title));
    if (file === undefined) return undefined;
    const environment = await this.environment(file);
    const record = typeof given.record === 'number' ? environment.examples[given.record] : undefined;
    if (record) {
      const known = environment.tools.find(({ name }) => name === record.tool);
      const tool = known ?? { name: record.tool, readOnly: false };
      return { file, environment, tool, call: { tool: record.tool, arguments: record.arguments }, record };
    }
    const tool =
      environment.tools.find(({ name }) => name === given.tool) ?? (await askTool(environment, title));
    const args = tool && (await askArguments(environment, tool, title));
    return tool && args && { file, environment, tool, call: { tool: tool.name, arguments: args } };
  }

  private async chooseFile(title: string): Promise<string | undefined> {
    const files = await this.services.environments.files();
    if (files.length <= 1) return files[0];
    const picks = files.map((file) => ({ label: vscode.workspace.asRelativePath(file), file }));
    return (await vscode.window.showQuickPick(picks, { title, placeHolder: 'Which environment?' }))?.file;
  }

  /** With the tools of its server, where it has none of its own. Throws `UserError`. */
  private async environment(file: string): Promise<Environment> {
    const environment = usable(await this.services.environments.load(file));
    if (environment.tools.length > 0 || !environment.executor) return environment;
    const executor = this.services.tools.executorFor(file, environment);
    return withServerTools(environment, executor).finally(() => executor.close());
  }
}

/** Shows that something runs, and lets the person cancel it. */
async function waiting<T>(title: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const options = {
    location: vscode.ProgressLocation.Notification,
    title: `Rehearsal: ${printable(title)}`,
    cancellable: true,
  };
  return vscode.window.withProgress(options, (_, token) => {
    const abort = new AbortController();
    token.onCancellationRequested(() => abort.abort());
    return work(abort.signal);
  });
}
