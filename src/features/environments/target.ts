/** What a command was asked about: a row of the tree, a lens, an editor's title, or nothing at all. */
import * as vscode from 'vscode';
import { isEnvironment } from './store';

export interface Target {
  /** Path of the environment file. */
  file?: string;
  task?: string;
}

export function targetOf(argument: unknown): Target {
  if (argument instanceof vscode.Uri) return { file: argument.fsPath };
  if (typeof argument === 'object' && argument !== null && 'file' in argument) {
    const { file, task } = argument as { file: unknown; task?: unknown };
    const id = typeof task === 'object' && task !== null ? (task as { id?: unknown }).id : task;
    return {
      ...(typeof file === 'string' && { file }),
      ...(typeof id === 'string' && { task: id }),
    };
  }
  const document = vscode.window.activeTextEditor?.document;
  return document && isEnvironment(document) ? { file: document.uri.fsPath } : {};
}
