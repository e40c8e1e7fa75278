/** Answers of real tools in editors: the whole of a large one, and both sides in VS Code's own diff. */
import path from 'node:path';
import * as vscode from 'vscode';
import { canonicalValue } from '../../core/fidelity/answers';
import { printable } from '../../core/text';
import { writeWhole } from '../../node/tools/whole';
import { ANSWER_SCHEME } from '../ids';
import type { LiveSession } from './live';

/** Sides of a diff beyond this are cut: VS Code compares no more in reasonable time. */
const MAX_SIDE = 2_000_000;

export class Answers implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly texts = new Map<string, string>();
  private readonly disposables = [
    vscode.workspace.registerTextDocumentContentProvider(ANSWER_SCHEME, this),
    vscode.workspace.onDidCloseTextDocument(({ uri }) => this.texts.delete(uri.toString())),
  ];

  dispose(): void {
    vscode.Disposable.from(...this.disposables).dispose();
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.toString()) ?? 'This answer is not kept any more.\n';
  }

  /** A file beside the sessions: as large as it is, an editor opens it at once. */
  async open(live: LiveSession, node: number): Promise<void> {
    const other = live.beside.get(node);
    if (!other?.answer) return;
    const folder = path.join(path.dirname(path.dirname(live.file)), 'answers');
    const file = await writeWhole(folder, { value: other.answer.value, raw: other.raw });
    await vscode.window.showTextDocument(vscode.Uri.file(file), { viewColumn: vscode.ViewColumn.Beside });
  }

  async diff(live: LiveSession, node: number): Promise<void> {
    const sides = live.beside.sides(node);
    if (!sides) return;
    const [left, right] = (['rehearsed', 'real'] as const).map((side) => {
      const uri = vscode.Uri.from({ scheme: ANSWER_SCHEME, path: `/${live.id}/${node}/${side}.json` });
      const text = JSON.stringify(canonicalValue(sides[side]), null, 2);
      this.texts.set(uri.toString(), text.slice(0, MAX_SIDE));
      return uri;
    });
    const title = `${printable(sides.tool)}: rehearsed ↔ real`;
    await vscode.commands.executeCommand('vscode.diff', left, right, title, {
      viewColumn: vscode.ViewColumn.Beside,
    });
  }
}
