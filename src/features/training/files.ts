/** Training files of the workspace: as they stand in an editor, with everything that is wrong in them. */
import fs from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import { type LoadedTraining, loadTraining } from '../../core/training/load';
import { stateBeside } from '../../node/tools/places';
import { type EnvironmentStore, readText } from '../environments/store';
import { Language } from '../ids';

const FILES = '**/*.training.json';
const EXCLUDED = '**/{node_modules,.git,.rehearsal,.venv}/**';
/** A pause in typing after which the text is read again. */
const PAUSE_MS = 250;

export interface LoadedFile extends LoadedTraining {
  file: string;
  text: string;
}

export class TrainingFiles implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  /** Fires after a training file changed, or what one is made from. */
  readonly onDidChange = this.changed.event;
  private readonly disposables: vscode.Disposable[];
  /** Initial states that training files name, there or not, by training file. */
  private readonly states = new Map<string, ReadonlySet<string>>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly environments: EnvironmentStore) {
    const soon = () => this.soon();
    const soonIfState = ({ fsPath }: vscode.Uri) => {
      if ([...this.states.values()].some((states) => states.has(fsPath))) soon();
    };
    const json = vscode.workspace.createFileSystemWatcher('**/*.json');
    const watcher = vscode.workspace.createFileSystemWatcher('**/*.{training.json,jsonl}');
    this.disposables = [
      this.changed,
      watcher,
      watcher.onDidChange(soon),
      watcher.onDidCreate(soon),
      watcher.onDidDelete(soon),
      json,
      json.onDidChange(soonIfState),
      json.onDidCreate(soonIfState),
      json.onDidDelete(soonIfState),
      environments.onDidChange(soon),
      vscode.workspace.onDidChangeTextDocument(({ document }) => isTraining(document) && soon()),
      vscode.workspace.onDidOpenTextDocument((document) => isTraining(document) && soon()),
      vscode.workspace.onDidCloseTextDocument((document) => isTraining(document) && soon()),
    ];
  }

  /** Absolute paths, sorted: those of the workspace, and what is open from outside of it. */
  async list(): Promise<string[]> {
    const found = await vscode.workspace.findFiles(FILES, EXCLUDED);
    const open = vscode.workspace.textDocuments.filter(isTraining).map(({ uri }) => uri);
    return [...new Set([...found, ...open].map(({ fsPath }) => fsPath))].sort();
  }

  /** Rejects only where the file itself cannot be read. */
  async load(file: string): Promise<LoadedFile> {
    const text = await readText(file);
    const folder = path.dirname(file);
    const states = new Set<string>();
    const loaded = await loadTraining(text, {
      path: file,
      read: (name) => readText(path.resolve(folder, name)),
      loadEnvironment: async (name) => {
        const environmentFile = path.resolve(folder, name);
        // A file that is not there is told at the line that names it.
        await fs.access(environmentFile);
        const { environment, diagnostics } = await this.environments.load(environmentFile);
        const errors = diagnostics
          .filter(({ severity }) => severity === 'error')
          .map(({ message }) => message);
        const beside = path.dirname(environmentFile);
        const state = (name: string) => {
          states.add(path.resolve(beside, name));
          return stateBeside(beside, name);
        };
        return { environment, errors, file: environmentFile, folder: beside, state };
      },
    });
    this.states.set(file, states);
    return { ...loaded, file, text };
  }

  dispose(): void {
    clearTimeout(this.timer);
    vscode.Disposable.from(...this.disposables).dispose();
  }

  private soon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.changed.fire(), PAUSE_MS);
  }
}

function isTraining(document: vscode.TextDocument): boolean {
  return document.languageId === Language.training && document.uri.scheme === 'file';
}
