/** The *Environments* view: environments → tools and tasks, with the last results of each task. */
import path from 'node:path';
import * as vscode from 'vscode';
import type { Task, Tool } from '../../core/environment/types';
import { Command } from '../ids';
import { outcomeOf, type Results, scoreOf } from '../testing/results';
import type { Loaded } from './loaded';
import type { EnvironmentStore } from './store';

export type EnvironmentNode =
  | { kind: 'environment'; file: string; loaded: Loaded }
  | { kind: 'tools'; file: string; loaded: Loaded }
  | { kind: 'tasks'; file: string; loaded: Loaded }
  | { kind: 'tool'; file: string; loaded: Loaded; tool: Tool }
  | { kind: 'task'; file: string; loaded: Loaded; task: Task }
  | { kind: 'problem'; file: string; loaded: Loaded; index: number };

const { Collapsed, Expanded, None } = vscode.TreeItemCollapsibleState;

export class EnvironmentTree implements vscode.TreeDataProvider<EnvironmentNode>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<EnvironmentNode | undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly disposables: vscode.Disposable[];

  constructor(
    private readonly environments: EnvironmentStore,
    private readonly results: Results,
  ) {
    const redraw = () => this.changed.fire(undefined);
    this.disposables = [this.changed, environments.onDidChange(redraw), results.onDidChange(redraw)];
  }

  dispose(): void {
    vscode.Disposable.from(...this.disposables).dispose();
  }

  async getChildren(node?: EnvironmentNode): Promise<EnvironmentNode[]> {
    if (!node) {
      const files = await this.environments.files();
      const environment = async (file: string) =>
        ({ kind: 'environment', file, loaded: await this.environments.load(file) }) as const;
      return Promise.all(files.map(environment));
    }
    const { file, loaded } = node;
    if (node.kind === 'environment') return partsOf(file, loaded);
    if (node.kind === 'tools') {
      return (loaded.environment?.tools ?? []).map((tool) => ({ kind: 'tool', file, loaded, tool }));
    }
    if (node.kind === 'tasks') {
      return (loaded.environment?.tasks ?? []).map((task) => ({ kind: 'task', file, loaded, task }));
    }
    return [];
  }

  getTreeItem(node: EnvironmentNode): vscode.TreeItem {
    const item = this.itemOf(node);
    // Stable where something can be expanded, so that it stays so when the tree is drawn again.
    if (item.collapsibleState !== None) item.id = `${node.kind}\0${node.file}`;
    item.contextValue = node.kind;
    item.command ??= { command: Command.openEnvironment, title: 'Open', arguments: [node] };
    if (item.collapsibleState !== None) delete item.command;
    return item;
  }

  private itemOf(node: EnvironmentNode): vscode.TreeItem {
    switch (node.kind) {
      case 'environment':
        return environmentItem(node.loaded);
      case 'tasks':
        return item('Tasks', Expanded, 'checklist', String(node.loaded.environment!.tasks.length));
      case 'tools':
        return item('Tools', Collapsed, 'tools', String(node.loaded.environment!.tools.length));
      case 'tool':
        return toolItem(node.tool);
      case 'task':
        return this.taskItem(node.file, node.task);
      case 'problem': {
        const { message, next } = node.loaded.diagnostics[node.index]!;
        const made = item(message, None, 'error', '', 'list.errorForeground');
        made.tooltip = next ? `${message} ${next}` : message;
        return made;
      }
    }
  }

  private taskItem(file: string, task: Task): vscode.TreeItem {
    const result = this.results.get(file, task.id);
    const made = item(task.id, None, 'circle-outline', result ? scoreOf(result) : '');
    if (result) made.iconPath = OUTCOME_ICONS[outcomeOf(result)];
    made.tooltip = task.instruction;
    const spoken = result ? `, ${outcomeOf(result)}, ${scoreOf(result)}` : ', not run yet';
    made.accessibilityInformation = { label: `Task ${task.id}${spoken}` };
    return made;
  }
}

const icon = (name: string, color: string) => new vscode.ThemeIcon(name, new vscode.ThemeColor(color));

const OUTCOME_ICONS = {
  passed: icon('pass', 'testing.iconPassed'),
  failed: icon('error', 'testing.iconFailed'),
  errored: icon('warning', 'testing.iconErrored'),
};

function partsOf(file: string, loaded: Loaded): EnvironmentNode[] {
  const problems = loaded.diagnostics.flatMap((found, index): EnvironmentNode[] =>
    found.severity === 'error' ? [{ kind: 'problem', file, loaded, index }] : [],
  );
  if (!loaded.environment) return problems;
  return [...problems, { kind: 'tasks', file, loaded }, { kind: 'tools', file, loaded }];
}

function environmentItem({ file, environment, diagnostics }: Loaded): vscode.TreeItem {
  const errors = diagnostics.filter((found) => found.severity === 'error').length;
  const made = environment
    ? item(environment.name, Expanded, 'symbol-namespace')
    : item(path.basename(file), Expanded, 'error', '', 'list.errorForeground');
  const place = vscode.workspace.asRelativePath(file);
  made.description = errors ? `${place} · ${errors} ${errors === 1 ? 'problem' : 'problems'}` : place;
  made.tooltip = file;
  return made;
}

function toolItem(tool: Tool): vscode.TreeItem {
  const made = tool.problem
    ? item(tool.name, None, 'warning', 'schema does not compile', 'list.warningForeground')
    : item(tool.name, None, 'symbol-method', tool.readOnly ? 'read-only' : '');
  made.tooltip = [tool.description, tool.problem].filter(Boolean).join('\n\n');
  return made;
}

function item(
  label: string,
  state: vscode.TreeItemCollapsibleState,
  iconName: string,
  description = '',
  color?: string,
): vscode.TreeItem {
  const made = new vscode.TreeItem(label, state);
  made.iconPath = color ? icon(iconName, color) : new vscode.ThemeIcon(iconName);
  made.description = description;
  return made;
}
