/**
 * Everything that is wrong with the environments of the workspace, as VS Code's problems: what core's loader says
 * of all of them, and of those in an editor also what only the JSON language service sees.
 */
import * as vscode from 'vscode';
import { ErrorCode } from 'vscode-json-languageservice';
import type { Diagnostic } from '../../core/environment/diagnostics';
import type { Loaded } from '../environments/loaded';
import { type EnvironmentStore, isEnvironment } from '../environments/store';
import { toDiagnostic } from './convert';
import { notCovered } from './merge';
import type { JsonDocuments } from './providers';

const SOURCE = 'Rehearsal';

const SEVERITIES = {
  error: vscode.DiagnosticSeverity.Error,
  warning: vscode.DiagnosticSeverity.Warning,
  information: vscode.DiagnosticSeverity.Information,
};

export class EnvironmentDiagnostics implements vscode.Disposable {
  private readonly collection = vscode.languages.createDiagnosticCollection(SOURCE);
  private readonly disposables: vscode.Disposable[];
  private round = 0;

  constructor(
    private readonly environments: EnvironmentStore,
    private readonly documents: JsonDocuments,
  ) {
    const again = () => void this.refresh();
    this.disposables = [
      this.collection,
      environments.onDidChange(again),
      vscode.workspace.onDidOpenTextDocument((document) => isEnvironment(document) && again()),
    ];
    again();
  }

  dispose(): void {
    vscode.Disposable.from(...this.disposables).dispose();
  }

  private async refresh(): Promise<void> {
    const round = ++this.round;
    const open = vscode.workspace.textDocuments.filter(isEnvironment);
    const found = new Map<string, vscode.Diagnostic[]>();
    for (const file of await this.environments.files()) {
      const loaded = await this.environments.load(file);
      for (const diagnostic of loaded.diagnostics) add(found, loaded, diagnostic);
      const document = open.find(({ uri }) => uri.fsPath === file);
      if (document) append(found, file, await this.schemaProblems(document, loaded));
    }
    if (round !== this.round) return; // a newer text is being looked at
    this.collection.clear();
    for (const [file, diagnostics] of found) this.collection.set(vscode.Uri.file(file), diagnostics);
  }

  /** What the language service says where the loader says nothing; its syntax errors are always the loader's too. */
  private async schemaProblems(document: vscode.TextDocument, loaded: Loaded): Promise<vscode.Diagnostic[]> {
    const problems = await this.documents.support.validate(this.documents.parse(document));
    const spans = problems
      .filter(({ code }) => typeof code !== 'number' || code < ErrorCode.UnexpectedEndOfComment)
      .map((problem) => {
        const made = toDiagnostic(problem);
        const offset = document.offsetAt(made.range.start);
        return { made, offset, length: document.offsetAt(made.range.end) - offset };
      });
    const own = loaded.diagnostics.filter((diagnostic) => !diagnostic.file);
    return notCovered(own, spans).map(({ made }) => {
      made.source = SOURCE;
      return made;
    });
  }
}

function add(
  found: Map<string, vscode.Diagnostic[]>,
  loaded: Loaded,
  { severity, code, message, next, ...place }: Diagnostic,
) {
  const { uri, range } = loaded.location(place);
  const made = new vscode.Diagnostic(range, next ? `${message} ${next}` : message, SEVERITIES[severity]);
  made.source = SOURCE;
  made.code = code;
  append(found, uri.fsPath, [made]);
}

/** Two environments may share a file: what is wrong there is told once. */
function append(
  found: Map<string, vscode.Diagnostic[]>,
  file: string,
  diagnostics: vscode.Diagnostic[],
): void {
  const known = found.get(file) ?? [];
  const isKnown = (one: vscode.Diagnostic) =>
    known.some((other) => other.message === one.message && other.range.isEqual(one.range));
  found.set(file, [...known, ...diagnostics.filter((one) => !isKnown(one))]);
}
