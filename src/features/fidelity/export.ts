/** A comparison as a file for other programs. */
import fs from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import { recordsOf } from '../../core/fidelity/comparison';
import { junitOf } from '../../node/fidelity/junit';
import type { LiveComparison } from './live';

/** The same records, or the same JUnit file, that the command line writes. */
export async function exportTo(
  { head, runs, environmentFile }: LiveComparison,
  format: 'json' | 'junit',
): Promise<void> {
  const text =
    format === 'junit'
      ? junitOf(head.environment, runs)
      : recordsOf(head.environment, runs)
          .map((record) => `${JSON.stringify(record)}\n`)
          .join('');
  const name = `compare-${head.environment.replace(/[^\p{L}\p{N}._-]+/gu, '-')}.${format === 'junit' ? 'xml' : 'jsonl'}`;
  const defaultUri = vscode.Uri.file(path.join(path.dirname(environmentFile), name));
  const filters: { [name: string]: string[] } =
    format === 'junit' ? { JUnit: ['xml'] } : { 'JSON Lines': ['jsonl'] };
  const uri = await vscode.window.showSaveDialog({ title: 'Export Comparison', defaultUri, filters });
  if (uri) await fs.writeFile(uri.fsPath, text);
}
