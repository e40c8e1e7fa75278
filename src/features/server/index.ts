/** The server feature: tree, status bar, set-up with progress, choice of model, token, log. */
import * as vscode from 'vscode';
import { UserError } from '../../core/user-error';
import type { Config } from '../config';
import { Command, ContextKey, Setting, View } from '../ids';
import type { Log } from '../services';
import { BearerTokens } from './bearer-tokens';
import { ServerConnection } from './connection';
import { LocalServer } from './local';
import { createStatusBar } from './status-bar';
import { ServerTree } from './tree';

export interface ServerDependencies {
  context: vscode.ExtensionContext;
  config: Config;
  log: Log;
  showError(error: unknown): void;
}

export function registerServer({ context, config, log, showError }: ServerDependencies): ServerConnection {
  const tokens = new BearerTokens(context.secrets);
  const local = new LocalServer(context.extensionPath, config, log);
  const server = new ServerConnection(config, local, tokens, log);
  const publishState = () => {
    void vscode.commands.executeCommand('setContext', ContextKey.serverState, server.status.state);
    const isReady = server.status.state === 'ready';
    void vscode.commands.executeCommand('setContext', ContextKey.serverReady, isReady);
    void vscode.commands.executeCommand('setContext', ContextKey.trusted, vscode.workspace.isTrusted);
  };
  const look = () => server.lookQuietly();
  const command = (id: string, work: () => Promise<unknown>) =>
    vscode.commands.registerCommand(id, () => work().catch(showError));

  publishState();
  look();
  context.subscriptions.push(
    server,
    createStatusBar(server),
    vscode.window.registerTreeDataProvider(View.server, new ServerTree(server)),
    server.onDidChange(publishState),
    vscode.workspace.onDidGrantWorkspaceTrust(() => {
      publishState();
      look();
    }),
    config.onDidChange([Setting.serverAddress, Setting.serverHome, Setting.model], look),
    command(Command.setUpServer, () => setUp(server, config)),
    command(Command.startServer, () => server.start()),
    command(Command.stopServer, () => server.stop()),
    command(Command.restartServer, () => server.restart()),
    command(Command.selectModel, () => selectModel(server, config)),
    command(Command.setServerToken, () => setToken(server, config, tokens)),
    vscode.commands.registerCommand(Command.showLog, () => log.show()),
  );
  return server;
}

/** The local server, whatever address the settings name: a person asked for it. */
async function setUp(server: ServerConnection, config: Config): Promise<void> {
  if (config.serverAddress) {
    throw new UserError(
      `The settings name another server, ${config.serverAddress}.`,
      `Clear the setting ${Setting.serverAddress} to use the local one.`,
    );
  }
  await server.start();
  const { address, models } = server.status;
  const next = 'Start Rehearsal Session';
  const told = `The local server is ready at ${address} with ${models.join(', ')}.`;
  if ((await vscode.window.showInformationMessage(told, next)) === next) {
    await vscode.commands.executeCommand(Command.startSession);
  }
}

async function selectModel(server: ServerConnection, config: Config): Promise<void> {
  const models = await server.models();
  const current = config.model() ?? models[0];
  const picks = models.map((label) => ({ label, description: label === current ? 'current' : '' }));
  const picked = await vscode.window.showQuickPick(picks, { placeHolder: 'Model of new sessions' });
  if (picked) await config.setModel(picked.label);
}

async function setToken(server: ServerConnection, config: Config, tokens: BearerTokens): Promise<void> {
  const named = [
    { label: 'Server', description: config.serverAddress },
    { label: 'Judge', description: config.judge?.address ?? null },
  ].flatMap(({ label, description }) => (description ? [{ label, description }] : []));
  if (!named.length) {
    throw new UserError(
      'The local server needs no token from you.',
      `Name a server in the setting ${Setting.serverAddress} first, or a judge in ${Setting.judgeAddress}.`,
    );
  }
  const picked =
    named.length === 1 ? named[0] : await vscode.window.showQuickPick(named, { placeHolder: 'Whose token?' });
  if (!picked) return;
  if ((await tokens.ask(picked.description)) && picked.label === 'Server') await server.models();
}
