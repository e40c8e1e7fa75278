/** The *Environments* view: environments → tools and tasks, with the last results of each task. */
import path from 'node:path';
import * as vscode from 'vscode';
import type { Task, Tool } from '../../core/environment/types';
import { Command } from '../ids';
import { outcomeOf, type Results, scoreOf } from '../testing/results';
import type { Loaded } from './loaded';
import type { EnvironmentStore } from './store';

interface Root {
  kind: 'environment';
  file: string;
  /** Replaced when the file is read again: VS Code refreshes single rows only by the object it knows. */
  loaded: Loaded;
}

export type EnvironmentNode =
  | Root
  | { kind: 'tools'; file: string; loaded: Loaded }
  | { kind: 'tasks'; file: string; loaded: Loaded }
  | { kind: 'tool'; file: string; loaded: Loaded; tool: Tool }
  | { kind: 'task'; file: string; loaded: Loaded; task: Task }
  | { kind: 'problem'; file: string; loaded: Loaded; index: number };

const { Collapsed, Expanded, None } = vscode.TreeItemCollapsibleState;

/** So many environments are shown expanded; of more, a person first wants to see which there are. */
const FEW = 2;

export class EnvironmentTree implements vscode.TreeDataProvider<EnvironmentNode>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<EnvironmentNode[] | undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly disposables: vscode.Disposable[];
  private roots: Root[] = [];

  constructor(
    private readonly environments: EnvironmentStore,
    private readonly results: Results,
  ) {
    this.disposables = [
      this.changed,
      environments.onDidChange(() => void this.update()),
      vscode.Disposable.from(results.onDidChange((file) => this.redraw(file))),
    ];
  }

  dispose(): void {
    vscode.Disposable.from(...this.disposables).dispose();
  }

  async getChildren(node?: EnvironmentNode): Promise<EnvironmentNode[]> {
    if (!node) {
      this.roots = await this.readRoots();
      return this.roots;
    }
    const { file, loaded } = node;
    switch (node.kind) {
      case 'environment':
        return partsOf(file, loaded);
      case 'tools':
        return (loaded.environment?.tools ?? []).map((tool) => ({ kind: 'tool', file, loaded, tool }));
      case 'tasks':
        return (loaded.environment?.tasks ?? []).map((task) => ({ kind: 'task', file, loaded, task }));
      default:
        return [];
    }
  }

  getTreeItem(node: EnvironmentNode): vscode.TreeItem {
    const item = this.itemOf(node);
    // Stable where something can be expanded, so that it stays so when the tree is drawn again.
    if (item.collapsibleState !== None) item.id = `${node.kind}\0${node.file}`;
    else item.command = { command: Command.openEnvironment, title: 'Open', arguments: [node] };
    item.contextValue = node.kind;
    return item;
  }

  /** Draws only what has changed: drawing everything while rows are being read leaves them empty. */
  private async update(): Promise<void> {
    const before = this.roots;
    const stale = new Map(before.map((root) => [root, root.loaded]));
    const now = await this.readRoots();
    const isSame = now.length === before.length && now.every((root, i) => root === before[i]);
    if (!isSame) this.changed.fire(undefined);
    else {
      const read = now.filter((root) => root.loaded !== stale.get(root));
      if (read.length) this.changed.fire(read);
    }
  }

  private async readRoots(): Promise<Root[]> {
    const files = await this.environments.files();
    return Promise.all(
      files.map(async (file) => {
        const loaded = await this.environments.load(file);
        const known = this.roots.find((root) => root.file === file);
        return known ? Object.assign(known, { loaded }) : { kind: 'environment' as const, file, loaded };
      }),
    );
  }

  private redraw(file: string): void {
    const root = this.roots.find((known) => known.file === file);
    if (root) this.changed.fire([root]);
  }

  private itemOf(node: EnvironmentNode): vscode.TreeItem {
    switch (node.kind) {
      case 'environment':
        return environmentItem(node.loaded, this.roots.length > FEW ? Collapsed : Expanded);
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

function environmentItem(
  { file, environment, diagnostics }: Loaded,
  state: vscode.TreeItemCollapsibleState,
): vscode.TreeItem {
  const errors = diagnostics.filter((found) => found.severity === 'error').length;
  const made = environment
    ? item(environment.name, errors ? Expanded : state, 'symbol-namespace')
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
