/** Over a training file: Launch Training, and its last run. */
import * as vscode from 'vscode';
import { printable } from '../../core/text';
import { Command } from '../ids';
import type { Runs } from './runs';
import { describeRun } from './texts';

export class TrainingLenses implements vscode.CodeLensProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.changed.event;
  private readonly listener: vscode.Disposable;

  constructor(private readonly runs: Runs) {
    this.listener = runs.onDidChange(() => this.changed.fire());
  }

  dispose(): void {
    this.listener.dispose();
    this.changed.dispose();
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const top = new vscode.Range(0, 0, 0, 0);
    const file = document.uri.fsPath;
    const launch = {
      title: '$(rocket) Launch Training',
      tooltip: 'Every setting with its default, what a run would cost, and Launch',
      command: Command.launchTraining,
      arguments: [document.uri],
    };
    const last = this.runs.all.find(({ trainingFile }) => trainingFile === file);
    if (!last) return [new vscode.CodeLens(top, launch)];
    const open = {
      title: `${printable(last.name)}: ${describeRun(last)}`,
      tooltip: 'Open its last run',
      command: Command.openRun,
      arguments: [{ kind: 'run', id: last.id }],
    };
    return [new vscode.CodeLens(top, launch), new vscode.CodeLens(top, open)];
  }
}
