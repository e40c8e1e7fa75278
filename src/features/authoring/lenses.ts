/** Over each task of an environment file: Rehearse, Debug, and the last results. */
import * as vscode from 'vscode';
import type { EnvironmentStore } from '../environments/store';
import { Command } from '../ids';
import { outcomeOf, type Results, scoreOf, type TaskResult } from '../testing/results';

export class TaskLenses implements vscode.CodeLensProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.changed.event;
  private readonly disposables: vscode.Disposable[];

  constructor(
    private readonly environments: EnvironmentStore,
    private readonly results: Results,
  ) {
    const redraw = () => this.changed.fire();
    this.disposables = [
      this.changed,
      environments.onDidChange(redraw),
      vscode.Disposable.from(results.onDidChange(redraw)),
    ];
  }

  dispose(): void {
    vscode.Disposable.from(...this.disposables).dispose();
  }

  async provideCodeLenses(document: vscode.TextDocument): Promise<vscode.CodeLens[]> {
    const file = document.uri.fsPath;
    const loaded = await this.environments.load(file);
    return (loaded.environment?.tasks ?? []).flatMap(({ id }) => {
      const line = loaded.lineOfTask(id);
      if (line === undefined) return [];
      const range = new vscode.Range(line, 0, line, 0);
      const result = this.results.get(file, id);
      return [
        new vscode.CodeLens(
          range,
          lens('$(play) Rehearse', 'Rehearse this task to its end', Command.runTasks, { file, task: id }),
        ),
        new vscode.CodeLens(
          range,
          lens('Debug', 'Step this task token by token', Command.debugTask, { file, task: id }),
        ),
        ...(result ? [new vscode.CodeLens(range, resultLens(result, file, id))] : []),
      ];
    });
  }
}

const ICONS = { passed: '$(pass)', failed: '$(error)', errored: '$(warning)' };

function resultLens(result: TaskResult, file: string, task: string): vscode.Command {
  const title = `${ICONS[outcomeOf(result)]} ${scoreOf(result)}`;
  return lens(title, 'Attempts that passed; click to open their sessions', Command.openSavedSession, {
    file,
    task,
  });
}

function lens(
  title: string,
  tooltip: string,
  command: string,
  target: { file: string; task: string },
): vscode.Command {
  return { title, tooltip, command, arguments: [target] };
}
