/** The *Sessions* view: saved sessions of the workspace, newest first. */
import * as vscode from 'vscode';
import { sessionsFolder } from '../../../node/sessions/file';
import { listSessions, type SessionSummary } from '../../../node/sessions/list';
import { Command } from '../../ids';

export type SessionNode =
  | { kind: 'session'; path: string; summary: SessionSummary }
  | { kind: 'broken'; path: string; reason: string };

export class SessionTree implements vscode.TreeDataProvider<SessionNode> {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;

  redraw(): void {
    this.changed.fire();
  }

  getChildren(node?: SessionNode): SessionNode[] {
    return node ? [] : savedSessions();
  }

  getTreeItem(node: SessionNode): vscode.TreeItem {
    const item = node.kind === 'session' ? sessionItem(node.summary) : brokenItem(node);
    item.contextValue = node.kind;
    return item;
  }
}

/** Of all folders of the workspace; those that cannot be read stand at the end. */
export function savedSessions(): SessionNode[] {
  const lists = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) =>
    listSessions(sessionsFolder(uri.fsPath)),
  );
  const sessions = lists.flatMap((list) => list.sessions).sort((a, b) => b.changed - a.changed);
  return [
    ...sessions.map((summary): SessionNode => ({ kind: 'session', path: summary.path, summary })),
    ...lists.flatMap((list) => list.broken).map((broken): SessionNode => ({ kind: 'broken', ...broken })),
  ];
}

/** `reward 0.50 · 3 branches · 15:40 · shop`; the date where it was not today. */
function describeSession({ environment, reward, done, branches, changed }: SessionSummary): string {
  const end = !done ? 'not finished' : reward === null ? 'not scored' : `reward ${reward.toFixed(2)}`;
  const when = new Date(changed);
  const isToday = when.toDateString() === new Date().toDateString();
  const time = isToday
    ? when.toLocaleTimeString(undefined, { timeStyle: 'short' })
    : when.toLocaleDateString();
  return [end, ...(branches > 1 ? [`${branches} branches`] : []), time, environment].join(' · ');
}

function sessionItem(summary: SessionSummary): vscode.TreeItem {
  const item = new vscode.TreeItem(summary.task);
  item.description = describeSession(summary);
  item.tooltip = [
    `${summary.task} in ${summary.environment}`,
    `Model: ${summary.model}`,
    `Changed: ${new Date(summary.changed).toLocaleString()}`,
    `${summary.tokens} tokens, ${summary.branches === 1 ? '1 branch' : `${summary.branches} branches`}`,
    summary.path,
  ].join('\n');
  item.iconPath = iconOf(summary);
  item.command = { command: Command.openSavedSession, title: 'Open', arguments: [{ path: summary.path }] };
  return item;
}

function iconOf({ done, reward }: SessionSummary): vscode.ThemeIcon {
  if (!done) return new vscode.ThemeIcon('debug-pause');
  if (reward === null) return new vscode.ThemeIcon('warning', new vscode.ThemeColor('testing.iconErrored'));
  if (reward >= 1) return new vscode.ThemeIcon('pass', new vscode.ThemeColor('testing.iconPassed'));
  return new vscode.ThemeIcon('error', new vscode.ThemeColor('testing.iconFailed'));
}

function brokenItem({ path, reason }: { path: string; reason: string }): vscode.TreeItem {
  const item = new vscode.TreeItem(vscode.workspace.asRelativePath(path));
  item.description = 'cannot be read';
  item.tooltip = reason;
  item.iconPath = new vscode.ThemeIcon('error', new vscode.ThemeColor('list.errorForeground'));
  item.command = { command: 'vscode.open', title: 'Open', arguments: [vscode.Uri.file(path)] };
  return item;
}
