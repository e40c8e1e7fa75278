import path from 'node:path';
import * as vscode from 'vscode';

/** The folder whose `.rehearsal` keeps the sessions of an environment file: its workspace folder, else its own. */
export function folderOf(environmentFile: string): string {
  const folder = vscode.workspace.getWorkspaceFolder(vscode.Uri.file(environmentFile));
  return folder?.uri.fsPath ?? path.dirname(environmentFile);
}
