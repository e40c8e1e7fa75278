/** A pair in VS Code's own diff: two read-only documents, with the first difference revealed and marked. */
import * as vscode from 'vscode';
import { answerTexts, placeOf } from '../../core/fidelity/answer-text';
import type { ComparedCall } from '../../core/fidelity/comparison';
import { escaped } from '../../core/text';
import { ANSWER_EXTENSION, COMPARED_SCHEME } from '../ids';

interface Shown {
  texts: { rehearsed: string; real: string };
  /** JSONPath of the first difference. */
  first: string | null;
  kind: string;
}

type Side = 'rehearsed' | 'real';

export type ShownPair = Pick<ComparedCall, 'tool' | 'rehearsed' | 'real' | 'comparison'>;

export class AnswerDiffs implements vscode.TextDocumentContentProvider, vscode.Disposable {
  /** By the path of its documents without their side; as long as a document of it is open. */
  private readonly shown = new Map<string, Shown>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  private readonly mark = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    borderStyle: 'solid',
    borderWidth: '0 0 0 3px',
    borderColor: new vscode.ThemeColor('rehearsal.surprise'),
    overviewRulerColor: new vscode.ThemeColor('rehearsal.surprise'),
    overviewRulerLane: vscode.OverviewRulerLane.Full,
  });
  private readonly disposables: vscode.Disposable[];

  constructor() {
    this.disposables = [
      this.changed,
      this.mark,
      vscode.workspace.registerTextDocumentContentProvider(COMPARED_SCHEME, this),
      vscode.window.onDidChangeVisibleTextEditors((editors) => this.markAll(editors)),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => this.closed(uri)),
    ];
  }

  dispose(): void {
    vscode.Disposable.from(...this.disposables).dispose();
  }

  /** @param key of the pair: the same key is the same pair of documents */
  async show(key: string, pair: ShownPair, column: vscode.ViewColumn): Promise<void> {
    const { first } = pair.comparison;
    const shown: Shown = {
      texts: answerTexts(pair.rehearsed, pair.real),
      first: first?.path ?? null,
      kind: first?.kind ?? '',
    };
    this.shown.set(`/${key}`, shown);
    const [rehearsed, real] = [uriOf(key, 'rehearsed'), uriOf(key, 'real')];
    for (const uri of [rehearsed, real]) this.changed.fire(uri);
    const title = `${escaped(pair.tool)}: rehearsed ↔ real`;
    await vscode.commands.executeCommand('vscode.diff', rehearsed, real, title, {
      viewColumn: column,
      preview: true,
      ...(first && { selection: await rangeIn(real, shown) }),
    } satisfies vscode.TextDocumentShowOptions);
    this.markAll(vscode.window.visibleTextEditors);
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    const { side, shown } = this.of(uri);
    return shown ? shown.texts[side] : 'This comparison is not open any more.\n';
  }

  private of(uri: vscode.Uri): { side: Side; shown: Shown | undefined } {
    const side = uri.authority === 'real' ? 'real' : 'rehearsed';
    return { side, shown: this.shown.get(uri.path.slice(0, -ANSWER_EXTENSION.length)) };
  }

  private markAll(editors: readonly vscode.TextEditor[]): void {
    for (const editor of editors) {
      const { document } = editor;
      if (document.uri.scheme !== COMPARED_SCHEME) continue;
      const { shown } = this.of(document.uri);
      if (!shown?.first) {
        editor.setDecorations(this.mark, []);
        continue;
      }
      const range = rangeOf(document, shown.first);
      const text = `  first difference: ${escaped(shown.first)} ${shown.kind}`;
      const after = {
        contentText: text,
        color: new vscode.ThemeColor('descriptionForeground'),
        fontStyle: 'italic',
      };
      // Said once, on the side that people read last; the line is marked on both.
      const renderOptions = document.uri.authority === 'real' ? { after } : {};
      editor.setDecorations(this.mark, [
        { range: new vscode.Range(range.start, range.start), hoverMessage: text.trim(), renderOptions },
      ]);
    }
  }

  private closed(uri: vscode.Uri): void {
    if (uri.scheme !== COMPARED_SCHEME) return;
    const isOpen = vscode.workspace.textDocuments.some(
      (document) => document.uri.scheme === COMPARED_SCHEME && document.uri.path === uri.path,
    );
    if (!isOpen) this.shown.delete(uri.path.slice(0, -ANSWER_EXTENSION.length));
  }
}

async function rangeIn(uri: vscode.Uri, { first }: Shown): Promise<vscode.Range> {
  const { start } = rangeOf(await vscode.workspace.openTextDocument(uri), first!);
  return new vscode.Range(start, start);
}

function rangeOf(document: vscode.TextDocument, path: string): vscode.Range {
  const { offset, length } = placeOf(document.getText(), path);
  return new vscode.Range(document.positionAt(offset), document.positionAt(offset + length));
}

function uriOf(key: string, side: Side): vscode.Uri {
  return vscode.Uri.from({ scheme: COMPARED_SCHEME, authority: side, path: `/${key}${ANSWER_EXTENSION}` });
}
