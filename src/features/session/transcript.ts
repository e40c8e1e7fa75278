/** The transcript documents: what a session says, as read-only text that the debugger points into. */
import * as vscode from 'vscode';
import { type TranscriptDocument, transcriptDocument } from '../../core/rehearsal/document';
import { sessionView } from '../../core/rehearsal/view';
import { TRANSCRIPT_EXTENSION, TRANSCRIPT_SCHEME } from '../ids';
import type { LiveSession } from './live';
import { cursorPlace, type Place } from './places';

/** While a session runs the transcript may lag; at a stop it is exact. */
const INTERVAL_MS = 200;
const SYNC_LIMIT_MS = 2000;

interface Followed {
  live: LiveSession;
  uri: vscode.Uri;
  /** Made for these nodes and this tip. */
  made: { nodes: number; tip: number; document: TranscriptDocument } | null;
  timer: NodeJS.Timeout | undefined;
}

export class Transcripts implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly followed = new Map<string, Followed>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  private readonly marks = createMarks();
  private readonly disposables: vscode.Disposable[];

  constructor() {
    this.disposables = [
      this.changed,
      ...Object.values(this.marks),
      vscode.workspace.registerTextDocumentContentProvider(TRANSCRIPT_SCHEME, this),
      vscode.window.onDidChangeVisibleTextEditors(() => this.markAll()),
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.mark(this.of(document.uri))),
    ];
  }

  dispose(): void {
    vscode.Disposable.from(...this.disposables).dispose();
  }

  /** Begins to follow a session; until it is closed its transcript can be opened. */
  follow(live: LiveSession): void {
    const uri = uriOf(live);
    if (this.followed.has(uri.path)) return;
    const followed: Followed = { live, uri, made: null, timer: undefined };
    this.followed.set(uri.path, followed);
    live.on('record', () => this.soon(followed));
    live.on('stop', () => this.update(followed));
    live.on('close', () => {
      clearTimeout(followed.timer);
      this.followed.delete(uri.path);
    });
  }

  uri(live: LiveSession): vscode.Uri {
    return uriOf(live);
  }

  document(live: LiveSession): TranscriptDocument {
    const followed = this.followed.get(uriOf(live).path);
    const { nodes, tip } = live.session;
    const { made } = followed ?? {};
    if (made && made.nodes === nodes.length && made.tip === tip.id) return made.document;
    const document = transcriptDocument(sessionView(live.session));
    if (followed) followed.made = { nodes: nodes.length, tip: tip.id, document };
    return document;
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    const followed = this.of(uri);
    return followed ? this.document(followed.live).text : 'This session is not open any more.\n';
  }

  /** Resolves when the open document, if there is one, holds the text as it is now. */
  async synced(live: LiveSession): Promise<void> {
    const { path } = uriOf(live);
    const isExact = () => {
      const open = vscode.workspace.textDocuments.find(
        ({ uri }) => uri.scheme === TRANSCRIPT_SCHEME && uri.path === path,
      );
      return !open || open.getText() === this.document(live).text;
    };
    if (isExact()) return;
    await new Promise<void>((ok) => {
      const done = () => {
        clearTimeout(limit);
        listener.dispose();
        ok();
      };
      const limit = setTimeout(done, SYNC_LIMIT_MS);
      const listener = vscode.workspace.onDidChangeTextDocument(() => isExact() && done());
    });
  }

  /** Shows the transcript without taking the keyboard. */
  async show(live: LiveSession, viewColumn: vscode.ViewColumn): Promise<void> {
    const uri = uriOf(live);
    const tab = vscode.window.tabGroups.all.find(({ tabs }) =>
      tabs.some(
        ({ input }) => input instanceof vscode.TabInputText && input.uri.toString() === uri.toString(),
      ),
    );
    await vscode.window.showTextDocument(uri, {
      viewColumn: tab?.viewColumn ?? viewColumn,
      preserveFocus: true,
      preview: false,
    });
  }

  private of(uri: vscode.Uri): Followed | undefined {
    return uri.scheme === TRANSCRIPT_SCHEME ? this.followed.get(uri.path) : undefined;
  }

  private soon(followed: Followed): void {
    followed.timer ??= setTimeout(() => this.update(followed), INTERVAL_MS);
  }

  private update(followed: Followed): void {
    clearTimeout(followed.timer);
    followed.timer = undefined;
    this.changed.fire(followed.uri);
    this.mark(followed);
  }

  private markAll(): void {
    for (const followed of this.followed.values()) this.mark(followed);
  }

  private mark(followed: Followed | undefined): void {
    if (!followed) return;
    const { live, uri } = followed;
    for (const editor of vscode.window.visibleTextEditors) {
      if (editor.document.uri.toString() !== uri.toString()) continue;
      const document = this.document(live);
      // The text arrives a moment after it was made; marks for it would stand at the wrong places until then.
      if (editor.document.getText() !== document.text) continue;
      const here = cursorPlace(live.session, document);
      const last = document.tokens[document.tokens.length - 1];
      const isAhead = last && live.session.cursor.id !== live.session.tip.id;
      const headings = (act: boolean) =>
        document.outputs
          .filter(({ call }) => (call === null) === act)
          .map(({ line }) => editor.document.lineAt(line).range);
      editor.setDecorations(this.marks.here, [rangeOf(here)]);
      editor.setDecorations(
        this.marks.stored,
        isAhead ? [new vscode.Range(here.endLine, here.endColumn, last.endLine, last.endColumn)] : [],
      );
      const given = [...document.observations.values()]
        .map((line) => editor.document.lineAt(line - 1))
        .filter(
          ({ firstNonWhitespaceCharacterIndex, isEmptyOrWhitespace }) =>
            firstNonWhitespaceCharacterIndex === 0 && !isEmptyOrWhitespace,
        );
      editor.setDecorations(
        this.marks.given,
        given.map(({ range }) => range),
      );
      editor.setDecorations(this.marks.act, headings(true));
      editor.setDecorations(this.marks.rehearse, headings(false));
    }
  }
}

function rangeOf({ line, column, endLine, endColumn }: Place): vscode.Range {
  return new vscode.Range(line, column, endLine, endColumn);
}

/** The current token, tokens stored ahead of it, and the headings in the colours of the roles. */
function createMarks() {
  // Text that comes in at a mark's edge belongs to the next token.
  const rangeBehavior = vscode.DecorationRangeBehavior.ClosedClosed;
  const make = (options: vscode.DecorationRenderOptions) =>
    vscode.window.createTextEditorDecorationType({ ...options, rangeBehavior });
  return {
    here: make({
      backgroundColor: new vscode.ThemeColor('editor.stackFrameHighlightBackground'),
      outline: '1px solid',
      outlineColor: new vscode.ThemeColor('debugIcon.breakpointCurrentStackframeForeground'),
      overviewRulerColor: new vscode.ThemeColor('debugIcon.breakpointCurrentStackframeForeground'),
    }),
    stored: make({ color: new vscode.ThemeColor('descriptionForeground'), fontStyle: 'italic' }),
    /** Observations that nobody rehearsed. */
    given: make({ color: new vscode.ThemeColor('foreground'), fontWeight: 'bold' }),
    act: make({ color: new vscode.ThemeColor('rehearsal.act'), fontWeight: 'bold' }),
    rehearse: make({
      color: new vscode.ThemeColor('rehearsal.rehearse'),
      fontWeight: 'bold',
      fontStyle: 'italic',
    }),
  };
}

/** Names from files never become paths: only letters, digits, dots, dashes and underscores stay. */
function uriOf(live: LiveSession): vscode.Uri {
  const plain = (text: string) => text.replace(/[^\w.-]+/g, '-').slice(0, 60);
  const path = `/${plain(live.id)}/${plain(live.session.setup.task.id) || 'task'}${TRANSCRIPT_EXTENSION}`;
  return vscode.Uri.from({ scheme: TRANSCRIPT_SCHEME, path });
}
