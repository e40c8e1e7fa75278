/**
 * What the author says of a comparison, written into the author's own documents: verdicts and records into the
 * environment's `examples`, fields into `ignore`. Edits of open documents, so that they can be undone.
 */
import path from 'node:path';
import { findNodeAtLocation, parseTree } from 'jsonc-parser';
import * as vscode from 'vscode';
import type { Place } from '../../core/environment/diagnostics';
import { loadEnvironment } from '../../core/environment/load';
import type { Example } from '../../core/environment/types';
import { recordOf, verdictFields } from '../../core/fidelity/author';
import type { ComparedCall } from '../../core/fidelity/comparison';
import {
  addIgnored,
  editRecords,
  type RecordEdits,
  type RecordsPlace,
  recordsIn,
  replacementOf,
} from '../../core/fidelity/edits';
import { equalJson } from '../../core/json';
import { UserError } from '../../core/user-error';

export interface Verdict {
  pair: ComparedCall;
  /** Null takes the author's word back. */
  verdict: Example['verdict'] | null;
  note: string;
}

/** The edit that writes a verdict into the examples. */
export async function verdictEdit(
  file: string,
  { pair, verdict, note }: Verdict,
): Promise<vscode.WorkspaceEdit> {
  return examplesEdit(file, (examples, places) => {
    const index = examples.findIndex(
      (example) => isOf(example, pair) && equalJson(example.value, pair.real.value),
    );
    const about = verdict
      ? { rehearsed: undefined, ...verdictFields(pair, verdict) }
      : { verdict: undefined, rehearsed: undefined };
    const fields = { ...about, note: note || undefined };
    if (index >= 0) return { changed: [{ at: places[index]!, fields }], added: [] };
    return { changed: [], added: verdict ? [recordOf(pair, { ...stateOf(pair), verdict, note })] : [] };
  });
}

/** The edit that records real answers as examples. A record of the same call that answers otherwise is brought up to date. */
export async function recordEdit(
  file: string,
  pairs: readonly ComparedCall[],
): Promise<vscode.WorkspaceEdit> {
  return examplesEdit(file, (examples, places) => {
    const changed: RecordEdits['changed'][number][] = [];
    const added: Example[] = [];
    for (const pair of pairs) {
      const record = recordOf(pair, stateOf(pair));
      const isSame = (example: Example) =>
        isOf(example, pair) &&
        equalJson(example.state, record.state) &&
        example.afterWrite === record.afterWrite;
      if (
        [...examples, ...added].some((example) => isSame(example) && equalJson(example.value, record.value))
      )
        continue;
      const index = examples.findIndex(isSame);
      const { outcome, value } = record;
      // Whatever was said of the old answer is not about this one.
      if (index >= 0)
        changed.push({
          at: places[index]!,
          fields: { outcome, value, verdict: undefined, rehearsed: undefined },
        });
      else if (!added.some(isSame)) added.push(record);
    }
    return { changed, added };
  });
}

/** The edit that lets fields differ. */
export async function ignoreEdit(file: string, paths: readonly string[]): Promise<vscode.WorkspaceEdit> {
  const document = await vscode.workspace.openTextDocument(file);
  const edit = new vscode.WorkspaceEdit();
  replaceIn(edit, document, addIgnored(document.getText(), paths));
  return edit;
}

/** Applies an edit; throws `UserError` where the person's document could not be changed. */
export async function apply(edit: vscode.WorkspaceEdit): Promise<void> {
  if (edit.size === 0) return;
  if (await vscode.workspace.applyEdit(edit)) return;
  const names = edit.entries().map(([uri]) => vscode.workspace.asRelativePath(uri));
  throw new UserError(
    `${names.join(', ')} could not be changed.`,
    'See whether the file can be written, and try again.',
  );
}

function isOf(example: Example, { tool, arguments: args }: ComparedCall): boolean {
  return example.tool === tool && equalJson(example.arguments, args);
}

/** A state that is a value has no name that a record could call it by: its record is one that nothing reuses. */
function stateOf({ state, afterWrite }: ComparedCall): Pick<Example, 'state' | 'afterWrite'> {
  if (state === undefined) return { afterWrite };
  return typeof state === 'string' ? { state, afterWrite } : { afterWrite: true };
}

async function examplesEdit(
  file: string,
  change: (examples: readonly Example[], places: readonly Place[]) => RecordEdits,
): Promise<vscode.WorkspaceEdit> {
  const folder = path.dirname(file);
  const environment = await vscode.workspace.openTextDocument(file);
  const documents = new Map<string, vscode.TextDocument>();
  const loaded = await loadEnvironment(environment.getText(), {
    path: file,
    read: async (name) => {
      const document = await vscode.workspace.openTextDocument(path.resolve(folder, name));
      documents.set(name, document);
      return document.getText();
    },
  });
  const edits = change(loaded.environment?.examples ?? [], loaded.locations.examples);
  const edit = new vscode.WorkspaceEdit();
  if (edits.changed.length + edits.added.length === 0) return edit;
  const { name, place } = whereExamplesAre(environment.getText());
  if (name === null) replaceIn(edit, environment, editRecords(environment.getText(), place, edits));
  else {
    const document = documents.get(name);
    const text = document?.getText() ?? '';
    const where = document ? recordsIn(text, name) : 'lines';
    if (where === null)
      throw new UserError(`${name} has no list of examples.`, 'Write a JSON list into it, and try again.');
    const after = editRecords(text, where, edits);
    if (document) replaceIn(edit, document, after);
    else {
      const uri = vscode.Uri.file(path.resolve(folder, name));
      edit.createFile(uri, { ignoreIfExists: true });
      edit.insert(uri, new vscode.Position(0, 0), after);
    }
  }
  return edit;
}

/** The file that holds the examples, or where in the environment file they are. */
function whereExamplesAre(text: string): { name: string | null; place: RecordsPlace } {
  const root = parseTree(text, [], { allowTrailingComma: true });
  const node = root && findNodeAtLocation(root, ['examples']);
  return { name: node?.type === 'string' ? (node.value as string) : null, place: ['examples'] };
}

function replaceIn(edit: vscode.WorkspaceEdit, document: vscode.TextDocument, after: string): void {
  const before = document.getText();
  if (before === after) return;
  const { offset, length, text } = replacementOf(before, after);
  const range = new vscode.Range(document.positionAt(offset), document.positionAt(offset + length));
  edit.replace(document.uri, range, text);
}
