/** What is wrong with training files, as VS Code's problems. */
import path from 'node:path';
import * as vscode from 'vscode';
import { TextDocument } from 'vscode-json-languageservice';
import type { LoadedFile, TrainingFiles } from './files';

const SOURCE = 'Rehearsal';

const SEVERITIES = {
  error: vscode.DiagnosticSeverity.Error,
  warning: vscode.DiagnosticSeverity.Warning,
  information: vscode.DiagnosticSeverity.Information,
};

export class TrainingDiagnostics implements vscode.Disposable {
  private readonly collection = vscode.languages.createDiagnosticCollection(`${SOURCE} Training`);
  private readonly listener: vscode.Disposable;
  private round = 0;

  constructor(private readonly files: TrainingFiles) {
    this.listener = files.onDidChange(() => void this.refresh());
    void this.refresh();
  }

  dispose(): void {
    this.collection.dispose();
    this.listener.dispose();
  }

  private async refresh(): Promise<void> {
    const round = ++this.round;
    const found: [vscode.Uri, vscode.Diagnostic[]][] = [];
    for (const file of await this.files.list()) {
      const loaded = await this.files.load(file).catch(() => null);
      if (loaded) found.push([vscode.Uri.file(file), problemsOf(loaded)]);
    }
    if (round !== this.round) return; // a newer text is being looked at
    this.collection.clear();
    this.collection.set(found);
  }
}

/** What stands in another file is told at the start of this one, by that file's name. */
function problemsOf({ file, text, diagnostics }: LoadedFile): vscode.Diagnostic[] {
  const document = TextDocument.create(file, 'json', 0, text);
  return diagnostics.map(({ severity, code, message, next, offset, length, file: other }) => {
    const [from, to] = other ? [0, 0] : [offset, offset + length];
    const [start, end] = [document.positionAt(from), document.positionAt(to)];
    const range = new vscode.Range(start.line, start.character, end.line, end.character);
    const where = other ? `${path.basename(other)}: ` : '';
    const made = new vscode.Diagnostic(
      range,
      `${where}${message}${next ? ` ${next}` : ''}`,
      SEVERITIES[severity],
    );
    made.source = SOURCE;
    made.code = code;
    return made;
  });
}
