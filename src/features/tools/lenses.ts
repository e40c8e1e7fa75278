/** Over each tool and each recorded call: Execute and Rehearse, where they stand, in whichever file. */
import * as vscode from 'vscode';
import type { Loaded } from '../environments/loaded';
import { type EnvironmentStore, isEnvironment } from '../environments/store';
import { Command, Language } from '../ids';
import type { CallTarget } from './call-commands';

/** Files of recorded calls are long: what nobody reads needs no lens. */
const MAX_RECORDS = 500;

export function registerCallLenses(context: vscode.ExtensionContext, environments: EnvironmentStore): void {
  const lenses = new CallLenses(environments);
  const files = [{ language: Language.environment }, { scheme: 'file', pattern: '**/*.{jsonl,json}' }];
  context.subscriptions.push(lenses, vscode.languages.registerCodeLensProvider(files, lenses));
}

class CallLenses implements vscode.CodeLensProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.changed.event;
  private readonly disposables: vscode.Disposable[];

  constructor(private readonly environments: EnvironmentStore) {
    this.disposables = [this.changed, environments.onDidChange(() => this.changed.fire())];
  }

  dispose(): void {
    vscode.Disposable.from(...this.disposables).dispose();
  }

  async provideCodeLenses(document: vscode.TextDocument): Promise<vscode.CodeLens[]> {
    const file = document.uri.fsPath;
    if (isEnvironment(document)) return lensesIn(await this.environments.load(file), file);
    // Another file may hold the tools or the records of several environments: the first one speaks for it.
    for (const own of await this.environments.files()) {
      const found = lensesIn(await this.environments.load(own), file);
      if (found.length > 0) return found;
    }
    return [];
  }
}

function lensesIn(loaded: Loaded, document: string): vscode.CodeLens[] {
  const { environment, file } = loaded;
  if (!environment) return [];
  const executes = environment.executor !== undefined;
  const at = (location: vscode.Location | undefined, target: CallTarget, dots: string) =>
    location?.uri.fsPath === document ? pair(location.range.start.line, target, executes, dots) : [];
  return [
    ...environment.tools.flatMap(({ name }) => at(loaded.tool(name), { file, tool: name }, '…')),
    ...environment.examples
      .slice(0, MAX_RECORDS)
      .flatMap((_, record) => at(loaded.example(record), { file, record }, '')),
  ];
}

function pair(line: number, target: CallTarget, executes: boolean, dots: string): vscode.CodeLens[] {
  const range = new vscode.Range(line, 0, line, 0);
  const lens = (title: string, tooltip: string, command: string) =>
    new vscode.CodeLens(range, { title: `${title}${dots}`, tooltip, command, arguments: [target] });
  return [
    ...(executes ? [lens('$(plug) Execute', 'Run the real tool with this call', Command.executeCall)] : []),
    lens('Rehearse', 'Let the model answer this call', Command.rehearseCall),
  ];
}
