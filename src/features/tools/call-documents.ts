/** Answers to single calls as read-only documents, the call and what became of it on top. */
import path from 'node:path';
import * as vscode from 'vscode';
import type { Json } from '../../core/json';
import { formatJson } from '../../core/json';
import { previewJson } from '../../core/preview';
import { printable } from '../../core/text';
import type { ToolCall } from '../../node/tools';
import { writeWhole } from '../../node/tools/whole';
import { folderOf } from '../environments/folder';
import { CALL_SCHEME } from '../ids';

/** Characters of an answer beyond which it is a file of its own. */
const MAX_SHOWN = 200_000;

export class CallDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly texts = new Map<string, string>();
  private readonly disposables = [
    vscode.workspace.registerTextDocumentContentProvider(CALL_SCHEME, this),
    vscode.workspace.onDidCloseTextDocument(({ uri }) => this.texts.delete(uri.toString())),
  ];
  private count = 0;

  dispose(): void {
    vscode.Disposable.from(...this.disposables).dispose();
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.toString()) ?? '// This answer is not kept any more.\n';
  }

  /** @param said lines about the answer, as comments */
  async show(
    file: string,
    { tool, arguments: args }: ToolCall,
    side: 'real' | 'rehearsed',
    answer: { value: Json; raw?: string },
    said: readonly string[],
  ): Promise<void> {
    const { text, cut } = previewJson(answer.value, MAX_SHOWN);
    const whole = cut ? await writeWhole(path.join(folderOf(file), '.rehearsal', 'answers'), answer) : null;
    const lines = [
      `${tool}(${formatJson(args)})`,
      ...said,
      ...(whole ? [`Cut; all of it is in ${whole}`] : []),
    ];
    const head = lines.map((line) => `// ${printable(line).replaceAll('\n', '\n// ')}\n`).join('');
    // Names from files and models never become paths.
    const name = tool.replace(/[^\w.-]+/g, '-').slice(0, 60) || 'call';
    const uri = vscode.Uri.from({ scheme: CALL_SCHEME, path: `/${++this.count}/${name} (${side}).jsonc` });
    this.texts.set(uri.toString(), `${head}${text}\n`);
    await vscode.window.showTextDocument(uri, { preview: true, viewColumn: vscode.ViewColumn.Beside });
  }
}
