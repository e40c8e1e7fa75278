/** Training files in the editor: problems, completion, the lens, and the page whose edits are the document's own. */
import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { driver, setTheme, until } from '../support';

const folder = vscode.workspace.workspaceFolders![0]!.uri;
const file = vscode.Uri.joinPath(folder, 'shop/shop.training.json');

const problems = () => vscode.languages.getDiagnostics(file);
const errors = () => problems().filter(({ severity }) => severity === vscode.DiagnosticSeverity.Error);
const onPage = { webview: true } as const;

describe('training files', () => {
  let document: vscode.TextDocument;

  beforeEach(async () => {
    document = await vscode.workspace.openTextDocument(file);
    await vscode.window.showTextDocument(document);
  });

  afterEach(async function () {
    if (this.currentTest?.state === 'failed') await driver({ op: 'screenshot', name: 'training-failed' });
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  async function replace(from: string, to: string): Promise<void> {
    const at = document.getText().indexOf(from);
    assert.notEqual(at, -1, `${from} is in the file`);
    const edit = new vscode.WorkspaceEdit();
    edit.replace(file, new vscode.Range(document.positionAt(at), document.positionAt(at + from.length)), to);
    assert.ok(await vscode.workspace.applyEdit(edit));
  }

  it('of the examples have no errors', async () => {
    assert.equal(document.languageId, 'rehearsal-training');
    await new Promise((ok) => setTimeout(ok, 500));
    assert.deepEqual(errors(), []);
  });

  it('tell a wrong value once, at its place', async () => {
    await replace('"steps": 40', '"steps": 0');
    const found = await until(() => errors().length > 0 && errors(), 'the problem');
    assert.equal(found.length, 1, found.map(({ message }) => message).join('\n'));
    assert.equal(document.getText(found[0]!.range), '0');
  });

  it('tell a file that is not there where it is named', async () => {
    await replace('training/validation.jsonl', 'training/nowhere.jsonl');
    const found = () => errors().find(({ range }) => document.getText(range).includes('nowhere'));
    assert.match((await until(found, 'the problem')).message, /nowhere\.jsonl/);
  });

  it('tell an initial state that is not there, until it is', async () => {
    const state = vscode.Uri.joinPath(folder, 'shop/later.json');
    const task = {
      id: 'later',
      instruction: 'Look.',
      state: 'later.json',
      checks: [{ kind: 'maxCalls', max: 3 }],
    };
    await replace('"training/train.jsonl"', JSON.stringify([task]));
    const found = () => errors().find(({ message }) => message.includes('later.json'));
    assert.match((await until(found, 'the problem')).message, /there is no later\.json/);
    try {
      await vscode.workspace.fs.writeFile(state, Buffer.from('{}'));
      await until(() => !found(), 'the state that is there now');
    } finally {
      await vscode.workspace.fs.delete(state);
    }
  });

  it('offer what can be written', async () => {
    const at = document.positionAt(document.getText().indexOf('"variant": "') + '"variant": "'.length);
    const list = await vscode.commands.executeCommand<vscode.CompletionList>(
      'vscode.executeCompletionItemProvider',
      file,
      at,
    );
    const labels = list.items.map(({ label }) => (typeof label === 'string' ? label : label.label));
    for (const variant of ['rehearse', 'act-only', 'real'])
      assert.ok(
        labels.some((label) => label.includes(variant)),
        labels.join(', '),
      );
  });

  it("have a lens that opens the page, whose changes are the document's own", async function () {
    this.timeout(120_000);
    const lenses = await until(async () => {
      const found = await vscode.commands.executeCommand<vscode.CodeLens[]>(
        'vscode.executeCodeLensProvider',
        file,
      );
      return found.some((lens) => /Launch Training/.test(lens.command?.title ?? '')) && found;
    }, 'the lens');
    const { command } = lenses.find((lens) => /Launch Training/.test(lens.command?.title ?? ''))!;
    await vscode.commands.executeCommand(command!.command, ...(command!.arguments ?? []));
    const field = '#field-groupSize';
    await until(
      () => driver<number>({ op: 'count', selector: field, ...onPage }).catch(() => 0),
      'the page',
      60_000,
    );
    await driver({ op: 'screenshot', name: 'training-file-dark' });
    const before = document.getText();
    await driver({ op: 'focus', selector: field, ...onPage });
    await driver({ op: 'type', text: '4' });
    await driver({ op: 'press', key: 'Enter' });
    await until(() => /"groupSize": 4/.test(document.getText()), 'the edit');
    assert.ok(document.isDirty);
    assert.ok(document.getText().includes('// nano-novice leaves the #'), 'comments stay');
    await vscode.commands.executeCommand('undo');
    await until(() => document.getText() === before, 'undo');
    await setTheme('light');
    await driver({ op: 'screenshot', name: 'training-file-light' });
    await setTheme('dark');
  });

  it('are launched from a view that says what to do first', async () => {
    await vscode.commands.executeCommand('rehearsal.training.focus');
    const selector = '.pane:has(.title:text-is("Training"))';
    const shown = await until(async () => {
      const [text] = await driver<string[]>({ op: 'texts', selector });
      return /Launch Training/.test(text ?? '') && text;
    }, 'the welcome view');
    assert.match(shown, /Nothing was trained here yet/);
    await driver({ op: 'screenshot', name: 'training-view-dark' });
  });
});
