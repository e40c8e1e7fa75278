/** Saved sessions: their view, and the commands that open and delete them. */
import * as vscode from 'vscode';
import { UserError } from '../../../core/user-error';
import { Command, View } from '../../ids';
import type { Services, SessionFeature } from '../../services';
import type { Attempt, Results } from '../../testing/results';
import { type SessionNode, SessionTree } from './tree';

/** Sessions are appended to token by token: the list is drawn again after a pause. */
const PAUSE_MS = 500;

export function registerSavedSessions(services: Services, sessions: SessionFeature, results: Results): void {
  const tree = new SessionTree();
  let timer: NodeJS.Timeout | undefined;
  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(() => tree.redraw(), PAUSE_MS);
  };
  const watcher = vscode.workspace.createFileSystemWatcher('**/.rehearsal{,/sessions,/sessions/*.jsonl}');
  services.context.subscriptions.push(
    { dispose: () => clearTimeout(timer) },
    vscode.window.registerTreeDataProvider(View.sessions, tree),
    watcher,
    watcher.onDidCreate(soon),
    watcher.onDidDelete(soon),
    sessions.onDidChangeSessions(soon),
    results.onDidChange(soon),
    vscode.commands.registerCommand(Command.openSavedSession, async (argument: unknown) => {
      try {
        const path = await pathOf(argument, results);
        if (path) await sessions.open(path);
      } catch (error) {
        services.showError(error);
      }
    }),
    vscode.commands.registerCommand(Command.deleteSession, async (node: SessionNode | undefined) => {
      if (node?.kind === 'session') await remove(node).then(soon, services.showError);
    }),
  );
}

/** A row of the view, or a task, whose last attempts are meant: asks which, where there are several. */
async function pathOf(argument: unknown, results: Results): Promise<string | undefined> {
  const { path, file, task } = (argument ?? {}) as { path?: string; file?: string; task?: string };
  if (path !== undefined) return path;
  if (file === undefined || task === undefined) return undefined;
  const attempts = results.get(file, task)?.attempts ?? [];
  const picks = attempts.flatMap((attempt, index) =>
    attempt.session ? [pickOf(attempt, attempt.session, index)] : [],
  );
  if (picks.length === 0) {
    throw new UserError(`The last run of ${task} left no session.`, 'Run the task again.');
  }
  if (picks.length === 1) return picks[0]!.session;
  return (await vscode.window.showQuickPick(picks, { placeHolder: `Attempts at ${task}` }))?.session;
}

function pickOf({ success, reward, failed, error }: Attempt, session: string, index: number) {
  const icon = success === null ? '$(warning)' : success ? '$(pass)' : '$(error)';
  return {
    label: `${icon} Attempt ${index + 1}`,
    description: reward === null ? 'not scored' : `reward ${reward.toFixed(2)}`,
    detail: error ?? failed[0]?.reason,
    session,
  };
}

async function remove({ path, summary }: Extract<SessionNode, { kind: 'session' }>): Promise<void> {
  const message = `Delete the session of ${summary.task} with ${summary.tokens} tokens?`;
  const answer = await vscode.window.showWarningMessage(message, { modal: true, detail: path }, 'Delete');
  if (answer === 'Delete') await vscode.workspace.fs.delete(vscode.Uri.file(path));
}
