/** *Open Examples…*: a copy of the examples in a folder of the person's choice, opened. */
import path from 'node:path';
import * as vscode from 'vscode';
import { Command } from '../ids';
import { copyExamples } from './copy';
import { welcome } from './welcome';

export function registerExamples(
  context: vscode.ExtensionContext,
  showError: (error: unknown) => void,
): void {
  const source = path.join(context.extensionPath, 'examples');
  context.subscriptions.push(
    vscode.commands.registerCommand(Command.openExamples, () => openExamples(source).catch(showError)),
  );
  welcome(context).catch(showError);
}

async function openExamples(source: string): Promise<void> {
  const chosen = await vscode.window.showOpenDialog({
    title: 'Copy the examples into a new folder in …',
    openLabel: 'Copy Examples Here',
    canSelectFiles: false,
    canSelectFolders: true,
    canSelectMany: false,
  });
  const parent = chosen?.[0];
  if (!parent) return;
  const folder = await copyExamples(source, parent.fsPath);
  await vscode.commands.executeCommand('vscode.openFolder', vscode.Uri.file(folder), {
    forceNewWindow: Boolean(vscode.workspace.workspaceFolders?.length),
  });
}
