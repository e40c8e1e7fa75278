/** Answers of real tools in editors: the whole of a large one, and both sides in VS Code's own diff. */
import path from 'node:path';
import * as vscode from 'vscode';
import { writeWhole } from '../../node/tools/whole';
import type { Diffs } from '../services';
import type { LiveSession } from './live';

/** A file beside the sessions: as large as it is, an editor opens it at once. */
export async function openAnswer(live: LiveSession, node: number): Promise<void> {
  const other = live.beside.get(node);
  if (!other?.answer) return;
  const folder = path.join(path.dirname(path.dirname(live.file)), 'answers');
  const file = await writeWhole(folder, { value: other.answer.value, raw: other.raw });
  await vscode.window.showTextDocument(vscode.Uri.file(file), { viewColumn: vscode.ViewColumn.Beside });
}

export async function openDiff(diffs: Diffs, live: LiveSession, node: number): Promise<void> {
  const pair = live.beside.pair(node);
  if (pair) await diffs.show(`${live.id}-${node}`, pair, vscode.ViewColumn.Beside);
}
