/** The test items: environments of the workspace, their tasks resolved when somebody looks at them. */
import path from 'node:path';
import * as vscode from 'vscode';
import type { Environment, Task } from '../../core/environment/types';
import type { Loaded } from '../environments/loaded';
import { type EnvironmentStore, isEnvironment } from '../environments/store';

/** A task to run, with the item that shows what came of it. */
export interface TaskItem {
  item: vscode.TestItem;
  loaded: Loaded;
  environment: Environment;
  task: Task;
}

export class TestItems implements vscode.Disposable {
  private readonly disposables: vscode.Disposable[];
  /** Environments whose tasks are shown, with what they were read from. */
  private readonly resolved = new Map<string, Loaded>();

  /** @param onResolved told of each environment whose tasks were read (again), and which of them have changed */
  constructor(
    private readonly controller: vscode.TestController,
    private readonly environments: EnvironmentStore,
    private readonly onResolved: (tasks: TaskItem[], changed: TaskItem[]) => void,
  ) {
    controller.resolveHandler = async (item) => {
      await (item ? this.resolve(item) : this.discover());
    };
    controller.refreshHandler = () => environments.refresh();
    const opened = (document: vscode.TextDocument) => {
      if (isEnvironment(document)) void this.resolveFile(document.uri.fsPath);
    };
    this.disposables = [
      environments.onDidChange(() => void this.update()),
      vscode.workspace.onDidOpenTextDocument(opened),
    ];
    void this.discover().then(() => vscode.workspace.textDocuments.forEach(opened));
  }

  dispose(): void {
    vscode.Disposable.from(...this.disposables).dispose();
  }

  /** All tasks that a request means, environments resolved. */
  async tasksOf(request: vscode.TestRunRequest): Promise<TaskItem[]> {
    if (!request.include) await this.discover();
    const included = request.include ?? [...this.controller.items].map(([, item]) => item);
    const excluded = new Set(request.exclude?.map((item) => item.id));
    const found = new Map<string, TaskItem>();
    for (const item of included) {
      const parent = item.parent ?? item;
      const tasks = excluded.has(parent.id) ? [] : await this.resolve(parent);
      for (const task of tasks) {
        const meant = item === parent || task.item.id === item.id;
        if (meant && !excluded.has(task.item.id)) found.set(task.item.id, task);
      }
    }
    return [...found.values()];
  }

  /** Items of one environment file, or of one of its tasks. */
  async itemsOf(file: string, task?: string): Promise<vscode.TestItem[]> {
    const parent = await this.resolveFile(file);
    if (!parent) return [];
    const item = task === undefined ? parent : parent.children.get(taskItemId(file, task));
    return item ? [item] : [];
  }

  private async discover(): Promise<void> {
    const files = await this.environments.files();
    for (const [id] of [...this.controller.items]) {
      if (files.includes(id)) continue;
      this.controller.items.delete(id);
      this.resolved.delete(id);
    }
    for (const file of files) {
      if (this.controller.items.get(file)) continue;
      const item = this.controller.createTestItem(
        file,
        path.basename(file, '.rehearsal.json'),
        vscode.Uri.file(file),
      );
      item.description = vscode.workspace.asRelativePath(file);
      item.canResolveChildren = true;
      this.controller.items.add(item);
    }
  }

  private async update(): Promise<void> {
    await this.discover();
    for (const file of [...this.resolved.keys()]) await this.resolveFile(file);
  }

  private async resolveFile(file: string): Promise<vscode.TestItem | undefined> {
    if (!this.controller.items.get(file)) await this.discover();
    const item = this.controller.items.get(file);
    if (item) await this.resolve(item);
    return item;
  }

  private async resolve(parent: vscode.TestItem): Promise<TaskItem[]> {
    const loaded = await this.environments.load(parent.id);
    const { environment } = loaded;
    const before = this.resolved.get(parent.id);
    const tasks = (environment?.tasks ?? []).map((task): TaskItem => {
      const item = parent.children.get(taskItemId(parent.id, task.id)) ?? this.taskItem(parent.id, task);
      item.range = rangeIn(loaded, task, item);
      return { item, loaded, environment: environment!, task };
    });
    if (before === loaded) return tasks;
    this.resolved.set(parent.id, loaded);
    parent.error = environment ? undefined : loaded.diagnostics[0]?.message;
    if (environment) parent.label = environment.name;
    parent.children.replace(tasks.map(({ item }) => item));
    this.onResolved(
      tasks,
      tasks.filter(({ task }) => hasChanged(before, task)),
    );
    return tasks;
  }

  private taskItem(file: string, task: Task): vscode.TestItem {
    const item = this.controller.createTestItem(taskItemId(file, task.id), task.id, vscode.Uri.file(file));
    item.description = task.instruction;
    return item;
  }
}

function taskItemId(file: string, task: string): string {
  return `${file}\n${task}`;
}

/** The first line of a task that stands in the environment file itself. */
function rangeIn(loaded: Loaded, task: Task, item: vscode.TestItem): vscode.Range | undefined {
  const { uri, range } = loaded.task(task.id);
  if (uri.fsPath !== item.uri?.fsPath) return undefined;
  return new vscode.Range(range.start, range.end);
}

function hasChanged(before: Loaded | undefined, task: Task): boolean {
  const known = before?.environment?.tasks.find(({ id }) => id === task.id);
  return known !== undefined && JSON.stringify(known) !== JSON.stringify(task);
}
