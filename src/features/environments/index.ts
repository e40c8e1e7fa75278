/** The environments of the workspace: their tree, and the commands that open and choose among them. */
import * as vscode from 'vscode';
import { Command, ContextKey, View } from '../ids';
import type { Services, SessionFeature } from '../services';
import type { Results } from '../testing/results';
import type { EnvironmentStore } from './store';
import { targetOf } from './target';
import { type EnvironmentNode, EnvironmentTree } from './tree';

export function registerEnvironments(
  { context, showError }: Services,
  environments: EnvironmentStore,
  results: Results,
  session: SessionFeature,
): void {
  const tree = new EnvironmentTree(environments, results);
  const view = vscode.window.createTreeView(View.environments, {
    treeDataProvider: tree,
    showCollapseAll: true,
  });
  const count = async () => {
    const files = await environments.files();
    await vscode.commands.executeCommand('setContext', ContextKey.hasEnvironments, files.length > 0);
  };
  void count();
  context.subscriptions.push(
    tree,
    view,
    environments.onDidChange(count),
    vscode.commands.registerCommand(Command.refreshEnvironments, () => environments.refresh()),
    vscode.commands.registerCommand(Command.debugTask, (argument: unknown) =>
      session.start(targetOf(argument)).catch(showError),
    ),
    vscode.commands.registerCommand(Command.openEnvironment, (node: EnvironmentNode) => open(node)),
  );
}

async function open(node: EnvironmentNode): Promise<void> {
  const location = node.kind === 'environment' ? undefined : placeOf(node);
  const uri = location?.uri ?? vscode.Uri.file(node.file);
  await vscode.window.showTextDocument(uri, { selection: location?.range, preview: true });
}

function placeOf(node: Exclude<EnvironmentNode, { kind: 'environment' }>): vscode.Location {
  switch (node.kind) {
    case 'task':
      return node.loaded.task(node.task.id);
    case 'tool':
      return node.loaded.tool(node.tool.name);
    case 'problem':
      return node.loaded.location(node.loaded.diagnostics[node.index]);
    default:
      return node.loaded.location(undefined);
  }
}
