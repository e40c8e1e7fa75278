/**
 * The environments of the workspace, read once and again when one of their files changes: on disk, or in an
 * editor that was not saved yet. Trees, tests, lenses and diagnostics all ask here.
 */
import * as vscode from 'vscode';
import { readText as readFile } from '../../node/text-file';
import { ENVIRONMENT_FILES, Language } from '../ids';
import type { Environments } from '../services';
import { Loaded } from './loaded';

const EXCLUDED = '**/{node_modules,.git,.rehearsal,.venv}/**';
/** A pause in typing after which the text is read again. */
const PAUSE_MS = 250;

export class EnvironmentStore implements Environments, vscode.Disposable {
  /** What was read, with every file that it was read from or that it looked for. */
  private readonly known = new Map<string, { loaded: Promise<Loaded>; sources: Set<string> }>();
  private listed: Promise<string[]> | undefined;
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly disposables: vscode.Disposable[] = [this.changed];
  private timer: NodeJS.Timeout | undefined;

  /** Fires after files were added, removed or changed; whoever draws something asks again. */
  readonly onDidChange = this.changed.event;

  constructor() {
    const watcher = vscode.workspace.createFileSystemWatcher('**/*');
    this.disposables.push(
      watcher,
      watcher.onDidChange((uri) => this.touch(uri)),
      watcher.onDidCreate((uri) => this.touch(uri)),
      watcher.onDidDelete((uri) => this.touch(uri)),
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.touch(document.uri)),
      // Closing an editor without saving brings the text on disk back.
      vscode.workspace.onDidCloseTextDocument((document) => this.touch(document.uri)),
      vscode.workspace.onDidOpenTextDocument((document) => void this.opened(document)),
      vscode.workspace.onDidChangeWorkspaceFolders(() => this.refresh()),
    );
  }

  /** Absolute paths, sorted: those of the workspace, and what is open in an editor from outside of it. */
  files(): Promise<string[]> {
    this.listed ??= this.list();
    return this.listed;
  }

  load(file: string): Promise<Loaded> {
    const known = this.known.get(file);
    if (known) return known.loaded;
    const sources = new Set([file]);
    const loaded = Loaded.from(file, readText, sources);
    this.known.set(file, { loaded, sources });
    return loaded;
  }

  /** Forgets everything that was read. */
  refresh(): void {
    this.known.clear();
    this.listed = undefined;
    this.changed.fire();
  }

  dispose(): void {
    clearTimeout(this.timer);
    vscode.Disposable.from(...this.disposables).dispose();
  }

  private async list(): Promise<string[]> {
    const found = await vscode.workspace.findFiles(ENVIRONMENT_FILES, EXCLUDED);
    const open = vscode.workspace.textDocuments.filter(
      (document) => isEnvironment(document) && !vscode.workspace.getWorkspaceFolder(document.uri),
    );
    return [...new Set([...found, ...open.map(({ uri }) => uri)].map(({ fsPath }) => fsPath))].sort();
  }

  /** An editor may show a file from outside of the workspace. */
  private async opened(document: vscode.TextDocument): Promise<void> {
    if (isEnvironment(document) && !(await this.files()).includes(document.uri.fsPath))
      this.touch(document.uri);
  }

  private touch(uri: vscode.Uri): void {
    if (uri.scheme !== 'file') return;
    const file = uri.fsPath;
    let stale = false;
    for (const [name, { sources }] of this.known) {
      if (!sources.has(file)) continue;
      this.known.delete(name);
      stale = true;
    }
    if (file.endsWith('.rehearsal.json')) {
      this.listed = undefined;
      stale = true;
    }
    if (!stale) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.changed.fire(), PAUSE_MS);
  }
}

/** The text in an editor goes before the one on disk. Rejects with the reason where neither is a text. */
export async function readText(file: string): Promise<string> {
  const open = vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === 'file' && uri.fsPath === file);
  return open ? open.getText() : readFile(file);
}

/** Whether a document is an environment file. */
export function isEnvironment(document: vscode.TextDocument): boolean {
  return document.languageId === Language.environment && document.uri.scheme === 'file';
}
