/** Real tools in the window: whatever is executed goes through here, after the person agreed. */
import path from 'node:path';
import * as vscode from 'vscode';
import type { Environment } from '../../core/environment/types';
import { UserError } from '../../core/user-error';
import { createExecutor, type ExecutorOptions } from '../../node/tools';
import type { CheckRunner } from '../../node/tools/checks';
import { guarded } from '../../node/tools/consent';
import type { Config } from '../config';
import { folderOf } from '../environments/folder';
import { notTrusted } from '../errors';
import { Command } from '../ids';
import type { Environments, RealExecutor, RealTools } from '../services';
import { Consents, mementoStore } from './gate';
import { manageConsents } from './list';
import { secretsOf, ToolSecrets } from './secrets';
import { VscodeExecutor } from './vscode-tools';

export interface ToolsDependencies {
  context: vscode.ExtensionContext;
  config: Config;
  environments: Environments;
  showError(error: unknown): void;
}

export function registerTools({ context, config, environments, showError }: ToolsDependencies): RealTools {
  const store = mementoStore(context.globalState);
  const consents = new Consents(store, () => config.trustsAnnotations);
  const secrets = new ToolSecrets(context.secrets);
  context.subscriptions.push(
    vscode.commands.registerCommand(Command.manageConsents, () => manageConsents(store).catch(showError)),
    vscode.commands.registerCommand(Command.setToolSecret, () => secrets.set(environments).catch(showError)),
  );
  return {
    executorFor: (file, environment, options) =>
      executorFor(consents, secrets, file, environment, options?.batch ?? false),
    checksOf: (file, environment): CheckRunner => ({
      folder: path.dirname(file),
      gate: consents.gate({ environment, workspace: folderOf(file) }, false),
    }),
  };
}

function executorFor(
  consents: Consents,
  secrets: ToolSecrets,
  file: string,
  environment: Environment,
  batch: boolean,
): RealExecutor {
  if (!vscode.workspace.isTrusted) throw notTrusted();
  if (!file)
    throw new UserError(
      'It is not known which environment file this session was started from, so its real tools cannot be found.',
      'Start a new session from the environment file.',
    );
  const subject = { environment, workspace: folderOf(file) };
  const gate = consents.gate(subject, !batch);
  const needed = secretsOf(environment);
  const inner = createExecutor({
    environment,
    folder: path.dirname(file),
    secret: async (name) => (needed ? secrets.get(needed.origin, name) : undefined),
    others: { vscode: (options: ExecutorOptions) => new VscodeExecutor(options) },
  });
  const executor = guarded(inner, environment.tools, gate);
  return {
    ...executor,
    async open(state, signal) {
      // Secrets are asked for as a session is opened: not before it is clear that anything may be sent there.
      if (needed) await gate({ identity: await inner.identity(), tools: [] });
      return executor.open(state, signal);
    },
    allow: async (tools, call) => consents.ask({ ...subject, identity: await inner.identity(), tools }, call),
  };
}
