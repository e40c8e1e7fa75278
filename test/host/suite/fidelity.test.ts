/** Comparing with the real tools, as a person does it: on the real engine, nano, and the shop's tools. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { comparisonView } from '../../../src/core/fidelity/view';
import { comparisonsFolder, listComparisons, readComparison } from '../../../src/node/fidelity/file';
import { outOf, share } from '../../../webview/compare/format';
import { driver, setTheme, until } from '../support';

const folder = vscode.workspace.workspaceFolders![0]!.uri.fsPath;
const file = path.join(folder, 'shop/compared.rehearsal.json');
const uri = vscode.Uri.file(file);

const ENVIRONMENT = `{
  "name": "compared", // of a test
  "policy": "Help the customers of a shop.",
  "tools": [
    {
      "type": "function",
      "readOnly": true,
      "function": {
        "name": "get_order",
        "description": "Get an order: its status, customer, product, total in dollars and address.",
        "parameters": { "type": "object", "properties": { "order_id": { "type": "string" } }, "required": ["order_id"] }
      }
    }
  ],
  "executor": { "kind": "module", "path": "tools.mjs", "state": "db.json" },
  "limits": { "act": 48, "rehearse": 96 },
  "maxTurns": 2,
  /* recorded by hand */
  "examples": [
    { "tool": "get_order", "arguments": { "order_id": "W7263910" }, "value": { "error": "Order not found" } },
    { "tool": "get_order", "arguments": { "order_id": "#W8830274" }, "value": { "mood": "such as no model rehearses" } }, // odd
  ],
  "tasks": [
    { "id": "look", "instruction": "What is the status of order #W4284542?", "checks": [{ "kind": "maxCalls", "max": 9 }] }
  ]
}
`;

const page = (selector: string) => `.page ${selector}`;
const texts = (selector: string) =>
  driver<string[]>({ op: 'texts', selector: page(selector), webview: true });
const click = (selector: string) => driver({ op: 'click', selector: page(selector), webview: true });
const pick = (text: string) =>
  driver({ op: 'click', selector: `.quick-input-list .monaco-list-row:has-text("${text}"):visible` });
const text = async () => (await vscode.workspace.openTextDocument(uri)).getText();
const differences = () =>
  vscode.languages
    .getDiagnostics(uri)
    .filter(
      ({ code, severity }) =>
        code === 'differs-from-real' && severity === vscode.DiagnosticSeverity.Information,
    );

async function isDone(): Promise<boolean> {
  const hidden = { op: 'attribute', selector: page('.progress'), name: 'hidden', webview: true } as const;
  if ((await driver<string | null>(hidden)) === null) return false;
  // A page that was sent nothing yet has a dash there.
  const [fidelity] = await texts('.figure .big');
  return fidelity !== undefined && fidelity !== '–';
}

/** What the person was asked; a test host refuses modal dialogs, so the answer is given here. */
const asked: string[] = [];
const { showWarningMessage } = vscode.window;

describe('comparing with the real tools', function () {
  this.timeout(240_000);

  before(async () => {
    Object.assign(vscode.window, {
      showWarningMessage: async (message: string, options: { detail?: string }) => {
        asked.push(`${message} ${options.detail ?? ''}`);
        return 'Allow';
      },
    });
    fs.writeFileSync(file, ENVIRONMENT);
    await vscode.window.showTextDocument(uri);
  });
  afterEach(async function () {
    if (this.currentTest?.state === 'failed')
      await driver({ op: 'screenshot', name: `compare-failed-${Date.now()}` });
  });
  after(async () => {
    Object.assign(vscode.window, { showWarningMessage });
    await vscode.commands.executeCommand('rehearsal.clearDifferences');
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    fs.rmSync(file, { force: true });
  });

  it('shows recorded calls in a table that is core’s own summary, and asks for no consent', async () => {
    void vscode.commands.executeCommand('rehearsal.compare', { file });
    await until(
      () => driver<number>({ op: 'count', selector: '.quick-input-list .monaco-list-row:visible' }),
      'the question',
    );
    await driver({ op: 'screenshot', name: 'compare-pick-dark' });
    await pick('All recorded calls');
    await until(isDone, 'the comparison', 180_000);
    const [saved] = listComparisons(comparisonsFolder(folder));
    const { head, runs } = await readComparison(saved!.file);
    const side = comparisonView(head, runs).sides[0]!;
    assert.deepEqual((await texts('.figure .big'))[0], share(side.fidelity));
    assert.equal(side.fidelity.n, 2);
    assert.deepEqual(asked, []);
    assert.ok(side.surprise!.tokens > 5, 'the real answers were scored');
    const expected = side.tools.flatMap(({ fidelity, outcomes, fields }) => [
      fidelity,
      outcomes,
      ...fields.map((field) => field.fidelity),
    ]);
    assert.deepEqual(await texts('.fields td.fidelity b'), expected.map(share));
    const cells = side.tools.flatMap(({ fields }) =>
      fields.flatMap(({ counts }) => Object.values(counts).filter((n) => n > 0)),
    );
    assert.deepEqual(await texts('.fields button.cell .num'), cells.map(String));
    assert.match((await texts('.figure')).join(), new RegExp(`${outOf(side.fidelity)} calls`));
    await driver({ op: 'screenshot', name: 'compare-dark' });
  });

  it('stands as information at the tool’s name, with fixes that edit the file', async () => {
    const found = await until(() => differences().length > 0 && differences(), 'the diagnostics');
    const document = await vscode.workspace.openTextDocument(uri);
    const mood = found.find(({ message }) => message.includes('mood'))!;
    assert.match(mood.message, /get_order: `\$\.mood` is missing in 1 of 1 rehearsal\./);
    assert.equal(document.getText(mood.range), '"get_order"');
    const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(
      'vscode.executeCodeActionProvider',
      uri,
      mood.range,
      undefined,
      20,
    );
    const ignore = actions.find(({ title }) => title === 'Ignore $.mood')!;
    assert.ok(actions.some(({ title }) => /Record the real answers of all calls/.test(title)));
    assert.ok(actions.some(({ title }) => title.includes('$..mood')));
    await vscode.window.showTextDocument(document, { selection: mood.range });
    await driver({ op: 'screenshot', name: 'compare-differences-dark' });
    const before = await text();
    await vscode.workspace.applyEdit(ignore.edit!);
    assert.match(await text(), /"ignore": \[\s*"\$\.mood"\s*\]/);
    assert.match(await text(), /\/\* recorded by hand \*\//);
    await until(
      () => !differences().some(({ message }) => message.includes('`$.mood`')),
      'the field to be tolerable',
    );
    await vscode.window.showTextDocument(document);
    await vscode.commands.executeCommand('undo');
    assert.equal(await text(), before);
    await until(
      () => differences().some(({ message }) => message.includes('`$.mood`')),
      'the field to differ again',
    );
  });

  it('opens a pair in VS Code’s own diff, folded, at its first difference', async () => {
    await vscode.commands.executeCommand('workbench.action.openPreviousRecentlyUsedEditor');
    await until(isDone, 'the page');
    await click('.row:nth-child(2)');
    await click('vscode-button:has-text("Open Diff")');
    const tab = await until(() => {
      const { activeTab } = vscode.window.tabGroups.activeTabGroup;
      return activeTab?.input instanceof vscode.TabInputTextDiff && activeTab;
    }, 'the diff');
    const { original, modified } = tab.input as vscode.TabInputTextDiff;
    assert.deepEqual([original.authority, modified.authority], ['rehearsed', 'real']);
    const real = await vscode.workspace.openTextDocument(modified);
    assert.deepEqual(Object.keys(JSON.parse(real.getText()) as object), ['mood']);
    const editor = await until(
      () => vscode.window.visibleTextEditors.find(({ document }) => document === real),
      'its editor',
    );
    assert.match(real.lineAt(editor.selection.active.line).text, /"mood"/);
    const settings = vscode.workspace.getConfiguration('diffEditor', {
      languageId: 'rehearsal-answer',
      uri: modified,
    });
    assert.equal(settings.get('hideUnchangedRegions.enabled'), true);
    assert.notEqual(
      vscode.workspace.getConfiguration('diffEditor').get('hideUnchangedRegions.enabled'),
      true,
      'other diffs are left alone',
    );
    await driver({ op: 'screenshot', name: 'compare-diff-dark' });
    await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
  });

  it('writes a verdict into the person’s document, comments kept, and can be undone', async () => {
    await until(isDone, 'the page');
    const before = await text();
    await click('.row:nth-child(2)');
    await driver({ op: 'press', key: '3' });
    await until(async () => (await text()).includes('"verdict": "wrong rehearsal"'), 'the verdict');
    const after = await text();
    for (const kept of ['// of a test', '/* recorded by hand */', '// odd']) assert.ok(after.includes(kept));
    assert.equal(after.split('\n').length, before.split('\n').length);
    await until(
      async () =>
        (await texts('button.choice[aria-checked="true"]')).some((one) => one.includes('Wrong Rehearsal')),
      'the verdict in the page',
    );
    assert.equal((await texts('.figure .big')).at(-1), '1');
    const stale = await driver({ op: 'attribute', selector: page('.stale'), name: 'hidden', webview: true });
    assert.notEqual(stale, null, 'a verdict changes nothing of what was compared');
    await driver({ op: 'screenshot', name: 'compare-verdict-dark' });
    await vscode.window.showTextDocument(uri);
    await vscode.commands.executeCommand('undo');
    assert.equal(await text(), before);
  });

  it('executes the calls of a task after asking once', async () => {
    void vscode.commands.executeCommand('rehearsal.compare', { file, task: 'look' });
    await until(() => listComparisons(comparisonsFolder(folder)).length === 2, 'the comparison', 120_000);
    const saved = listComparisons(comparisonsFolder(folder)).find(
      ({ head }) => head.request.kind === 'tasks',
    )!;
    const { runs } = await until(
      async () => {
        const read = await readComparison(saved.file);
        return read.complete && read;
      },
      'the end of it',
      120_000,
    );
    assert.equal(asked.length, 1);
    assert.match(asked[0]!, /tools\.mjs/);
    for (const { real, recorded, task } of runs[0]!.pairs) {
      assert.equal(recorded, false);
      assert.equal(task, 'look');
      assert.ok('status' in (real.value as object) || 'error' in (real.value as object));
    }
  });

  it('is opened again, in every theme', async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    const saved = listComparisons(comparisonsFolder(folder)).find(
      ({ head }) => head.request.kind === 'records',
    )!;
    await vscode.commands.executeCommand('rehearsal.openComparison', saved.file);
    await until(async () => (await texts('.row').catch(() => [])).length === 2, 'the calls');
    for (const theme of ['light', 'hc', 'dark'] as const) {
      await setTheme(theme);
      await driver({ op: 'screenshot', name: `compare-${theme}` });
    }
  });

  it('takes its differences back by one command', async () => {
    await vscode.commands.executeCommand('rehearsal.clearDifferences');
    assert.deepEqual(differences(), []);
  });
});
