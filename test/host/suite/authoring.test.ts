/** Environment files in the editor: problems, completion, lenses, breakpoints, formatting. */
import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { driver, until } from '../support';

const folder = vscode.workspace.workspaceFolders![0]!.uri;
const shop = vscode.Uri.joinPath(folder, 'shop/shop.rehearsal.json');

async function edit(document: vscode.TextDocument, from: string, to: string): Promise<void> {
  const at = document.getText().indexOf(from);
  assert.notEqual(at, -1, `${from} is in the file`);
  const range = new vscode.Range(document.positionAt(at), document.positionAt(at + from.length));
  const change = new vscode.WorkspaceEdit();
  change.replace(document.uri, range, to);
  assert.ok(await vscode.workspace.applyEdit(change));
}

const problemsOf = (uri: vscode.Uri) => vscode.languages.getDiagnostics(uri);

describe('environment files', () => {
  let document: vscode.TextDocument;

  beforeEach(async () => {
    document = await vscode.workspace.openTextDocument(shop);
    await vscode.window.showTextDocument(document);
  });

  afterEach(() => vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor'));

  it('are a language of their own, without problems in the examples', async () => {
    assert.equal(document.languageId, 'rehearsal-environment');
    const lenses = () =>
      vscode.commands.executeCommand<vscode.CodeLens[]>('vscode.executeCodeLensProvider', shop);
    const found = await until(async () => ((await lenses()).length ? lenses() : null), 'the lenses');
    assert.ok(found.some((lens) => /Rehearse/.test(lens.command!.title)));
    assert.ok(found.some((lens) => /Debug/.test(lens.command!.title)));
    assert.deepEqual(problemsOf(shop), []);
    await driver({ op: 'screenshot', name: 'authoring-dark' });
  });

  it('tell each problem once, where it stands, before the file is saved', async () => {
    await edit(document, '"tool": "cancel_order"', '"tool": "cancel_ordr"');
    await edit(document, '"maxTurns": 8', '"maxTurns": "eight"');
    const found = await until(() => (problemsOf(shop).length >= 2 ? problemsOf(shop) : null), 'the problems');
    const texts = found.map(({ range, message }) => `${document.getText(range)}: ${message}`);
    assert.equal(texts.filter((text) => /cancel_ordr/.test(text)).length, 1, texts.join('\n'));
    assert.equal(texts.filter((text) => /eight/.test(text)).length, 1, texts.join('\n'));
    assert.equal(found.length, 2, texts.join('\n'));
  });

  it('keep saying what they can while the text is broken', async () => {
    await edit(document, '"tasks": [', '"tasks": [ { "id": ');
    await until(
      () => problemsOf(shop).some(({ message }) => /Syntax error|ends too early/.test(message)),
      'the error',
    );
    const places = problemsOf(shop).map(({ range }) => `${range.start.line}:${range.start.character}`);
    assert.equal(new Set(places).size, places.length, 'one place, one problem');
  });

  it('complete the kinds of checks', async () => {
    await edit(document, '"kind": "maxCalls"', '"kind": ');
    const position = document.positionAt(document.getText().indexOf('"kind": ,') + '"kind": '.length);
    const list = await vscode.commands.executeCommand<vscode.CompletionList>(
      'vscode.executeCompletionItemProvider',
      shop,
      position,
    );
    const labels = list.items.map(({ label }) => (typeof label === 'string' ? label : label.label));
    assert.ok(labels.includes('"fromResult"'), labels.join());
  });

  it('explain fields', async () => {
    const position = document.positionAt(document.getText().indexOf('"maxTurns"') + 2);
    const hovers = await vscode.commands.executeCommand<vscode.Hover[]>(
      'vscode.executeHoverProvider',
      shop,
      position,
    );
    const text = hovers
      .flatMap(({ contents }) => contents.map((part) => (part as vscode.MarkdownString).value))
      .join();
    assert.match(text, /turns/i);
  });

  it('take breakpoints', async () => {
    const line = document.positionAt(document.getText().indexOf('order-without-hash')).line;
    const editor = vscode.window.activeTextEditor!;
    editor.selection = new vscode.Selection(line, 0, line, 0);
    await vscode.commands.executeCommand('editor.debug.action.toggleBreakpoint');
    await until(() => vscode.debug.breakpoints.length === 1, 'the breakpoint');
    vscode.debug.removeBreakpoints(vscode.debug.breakpoints);
  });

  it('are formatted without losing a comment', async () => {
    const comments = (text: string) => text.match(/\/\/.*/g);
    const before = comments(document.getText());
    await edit(document, '"maxTurns": 8', '      "maxTurns":8');
    await vscode.commands.executeCommand('editor.action.formatDocument');
    await until(() => /\n {2}"maxTurns": 8/.test(document.getText()), 'the formatted text');
    assert.deepEqual(comments(document.getText()), before);
  });
});
