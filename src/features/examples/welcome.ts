/** The first window that `npm start` opens: the view and the walkthrough, once. */
import * as vscode from 'vscode';
import { ContextKey, ViewContainer, WALKTHROUGH } from '../ids';

const SHOWN = 'rehearsal.welcomed';

/** Elsewhere VS Code shows the walkthrough itself, as it installs the extension. */
export async function welcome({ extension, globalState }: vscode.ExtensionContext): Promise<void> {
  if (!process.env.REHEARSAL_WELCOME || globalState.get(SHOWN)) return;
  await globalState.update(SHOWN, true);
  await vscode.commands.executeCommand(`workbench.view.extension.${ViewContainer}`);
  await vscode.commands.executeCommand('workbench.action.openWalkthrough', `${extension.id}#${WALKTHROUGH}`);
  await vscode.commands.executeCommand('setContext', ContextKey.welcomed, true);
}
