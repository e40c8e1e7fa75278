/** The *Server* view: what answers, how, and where its log is. */
import * as vscode from 'vscode';
import { Command } from '../ids';
import type { ServerConnection } from './connection';
import { stateText } from './state';

interface Row {
  label: string;
  value: string;
  icon: string;
  color?: string;
  command?: vscode.Command;
}

const command = (id: string, title: string): vscode.Command => ({ command: id, title });

export class ServerTree implements vscode.TreeDataProvider<Row> {
  readonly onDidChangeTreeData: vscode.Event<void>;

  constructor(private readonly server: ServerConnection) {
    this.onDidChangeTreeData = server.onDidChange;
  }

  /** Nothing where there is no server: the welcome view says what to do then. */
  getChildren(row?: Row): Row[] {
    const { status, busy } = this.server;
    if (row || status.state === 'unknown' || status.state === 'missing') return [];
    const rows: Row[] = [{ label: 'State', value: stateText(status, busy), ...STATE_ICONS[status.state] }];
    if (status.message)
      rows.push({
        label: status.message,
        value: '',
        icon: 'info',
        command: command(Command.showLog, 'Show Log'),
      });
    if (status.address) rows.push({ label: 'Address', value: status.address, icon: 'globe' });
    const model = status.model ?? status.models[0];
    if (model) {
      rows.push({
        label: 'Model',
        value: model,
        icon: 'symbol-misc',
        command: command(Command.selectModel, 'Select Model'),
      });
    }
    if (status.tier) rows.push({ label: 'Tier', value: status.tier, icon: 'layers' });
    if (status.contextLength) {
      rows.push({
        label: 'Context',
        value: `${status.contextLength.toLocaleString('en-US')} tokens`,
        icon: 'arrow-both',
      });
    }
    rows.push({
      label: 'Extension log',
      value: '',
      icon: 'output',
      command: command(Command.showLog, 'Show Log'),
    });
    const { logFile } = this.server;
    if (logFile) {
      const uri = vscode.Uri.file(logFile);
      rows.push({
        label: 'Server log',
        value: '',
        icon: 'file',
        command: { command: 'vscode.open', title: 'Open', arguments: [uri] },
      });
    }
    return rows;
  }

  getTreeItem({ label, value, icon, color, command: run }: Row): vscode.TreeItem {
    const item = new vscode.TreeItem(label);
    item.description = value;
    item.tooltip = value ? `${label}: ${value}` : label;
    item.iconPath = new vscode.ThemeIcon(icon, color ? new vscode.ThemeColor(color) : undefined);
    if (run) item.command = run;
    return item;
  }
}

const STATE_ICONS = {
  unknown: { icon: 'question' },
  missing: { icon: 'circle-slash' },
  stopped: { icon: 'circle-outline' },
  starting: { icon: 'loading~spin' },
  ready: { icon: 'pass', color: 'testing.iconPassed' },
  failed: { icon: 'error', color: 'list.errorForeground' },
};
