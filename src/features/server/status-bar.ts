/** One item, left: server and model, busy or idle. */
import * as vscode from 'vscode';
import { View } from '../ids';
import type { ServerConnection } from './connection';
import { stateText, statusBarText } from './state';

export function createStatusBar(server: ServerConnection): vscode.Disposable {
  const item = vscode.window.createStatusBarItem('rehearsal.server', vscode.StatusBarAlignment.Left, 0);
  item.name = 'Rehearsal Server';
  item.command = `${View.server}.focus`;
  const draw = () => {
    const { status, busy } = server;
    item.text = statusBarText(status, busy);
    const lines = [
      status.address ?? 'Local server',
      status.model ?? '',
      stateText(status, busy),
      status.message,
    ];
    item.tooltip = `Rehearsal: ${lines.filter(Boolean).join(' · ')}`;
    const failed = status.state === 'failed';
    item.backgroundColor = failed ? new vscode.ThemeColor('statusBarItem.warningBackground') : undefined;
    if (vscode.workspace.isTrusted) item.show();
    else item.hide();
  };
  draw();
  return vscode.Disposable.from(
    item,
    server.onDidChange(draw),
    vscode.workspace.onDidGrantWorkspaceTrust(draw),
  );
}
