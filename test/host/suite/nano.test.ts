/** Single calls and comparisons with the embedded models, as a person asks for them. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { createRenderer } from '../../../src/core/conversation/render';
import { drive, toTheEnd } from '../../../src/core/rehearsal/drivers';
import { DEFAULT_OPTIONS } from '../../../src/core/rehearsal/options';
import { usableEnvironment } from '../../../src/node/environments';
import { comparisonsFolder, listComparisons, readComparison } from '../../../src/node/fidelity/file';
import { createSession } from '../../../src/node/sessions/file';
import { memoryPolicy } from '../../unit/support/memory-policy';
import { driver, until } from '../support';

const folder = vscode.workspace.workspaceFolders![0]!.uri.fsPath;
const shop = path.join(folder, 'shop/shop.rehearsal.json');
/** Rows of a list that was closed stay in the document, with what they showed. */
const ROW = '.quick-input-list .monaco-list-row:visible';
const { showWarningMessage, showErrorMessage } = vscode.window;
const asked: string[] = [];
const errors: string[] = [];

const texts = (selector: string) =>
  driver<string[]>({ op: 'texts', selector: `.page ${selector}`, webview: true }).catch(() => []);
const pick = (text: string) => driver({ op: 'click', selector: `${ROW}:has-text("${text}")` });
const files = () => new Set(listComparisons(comparisonsFolder(folder)).map(({ file }) => file));

/** The comparison that `begin` makes, with as many models, once it is complete. */
async function comparison(known: Set<string>, models = 1) {
  const file = await until(
    () => {
      assert.deepEqual(errors, []);
      return [...files()].find((one) => !known.has(one));
    },
    'the comparison',
    60_000,
  );
  return until(
    async () => {
      const read = await readComparison(file);
      return read.complete && read.runs.length === models && { ...read, file };
    },
    'its end',
    180_000,
  );
}

describe('with the embedded models', function () {
  this.timeout(240_000);

  before(() => {
    Object.assign(vscode.window, {
      showWarningMessage: async (message: string, options: { detail?: string }) => {
        asked.push(`${message}\n${options.detail ?? ''}`);
        return 'Allow';
      },
      showErrorMessage: async (message: string) => void errors.push(message),
    });
  });
  afterEach(async function () {
    if (this.currentTest?.state === 'failed')
      await driver({ op: 'screenshot', name: `nano-failed-${Date.now()}` });
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });
  after(() => void Object.assign(vscode.window, { showWarningMessage, showErrorMessage }));

  it('a recorded call is rehearsed from its lens, and nothing is executed', async () => {
    const document = await vscode.workspace.openTextDocument(path.join(folder, 'shop/calls.jsonl'));
    await vscode.window.showTextDocument(document);
    const lens = await until(async () => {
      const found = await vscode.commands.executeCommand<vscode.CodeLens[]>(
        'vscode.executeCodeLensProvider',
        document.uri,
      );
      return found.find(
        ({ command, range }) =>
          command?.title === 'Rehearse' && document.lineAt(range.start.line).text.includes('#W4284542'),
      );
    }, 'the lens of the recorded call');
    await vscode.commands.executeCommand(lens.command!.command, ...lens.command!.arguments!);
    const shown = vscode.window.activeTextEditor!.document;
    assert.match(shown.uri.path, /\(rehearsed\)/);
    const lines = shown.getText().split('\n');
    assert.match(lines[0]!, /^\/\/ \w+\(\{.*#W4284542.*\}\)$/);
    assert.match(lines[1]!, /^\/\/ rehearsed (result|error), nano$/);
    JSON.parse(lines.slice(2).join('\n'));
    assert.deepEqual(asked, []);
    await driver({ op: 'screenshot', name: 'nano-rehearse-call-dark' });
  });

  it('another model is added to a comparison: the same calls, their real answers taken as they are', async () => {
    const known = files();
    void vscode.commands.executeCommand('rehearsal.compare', { file: shop });
    await until(() => driver<number>({ op: 'count', selector: ROW }), 'the question');
    await pick('Takes the recorded answers');
    const { runs: first, file } = await comparison(known);
    await until(async () => (await texts('.figure .big')).length > 0, 'the figures');
    const add = '.page vscode-button:has-text("Add Model")';
    await until(async () => (await texts('.progress[hidden]')).length === 1, 'the end in the page');
    await driver({ op: 'click', selector: add, webview: true });
    await until(() => driver<number>({ op: 'count', selector: ROW }), 'which model');
    await driver({ op: 'screenshot', name: 'nano-add-model-dark' });
    assert.ok((await driver<string[]>({ op: 'texts', selector: ROW })).every((row) => !/nano$/.test(row)));
    await pick('nano-novice');
    const { runs } = await until(
      async () => {
        const read = await readComparison(file);
        return read.complete && read.runs.length === 2 && read;
      },
      'the other model',
      180_000,
    );
    assert.deepEqual(
      runs.map(({ model }) => model),
      ['nano', 'nano-novice'],
    );
    const real = (side: number) =>
      runs[side]!.pairs.map(({ tool, arguments: of, real: { value } }) => ({ tool, of, value }));
    assert.deepEqual(runs[0]!.pairs, first[0]!.pairs);
    assert.deepEqual(real(1), real(0));
    await until(async () => (await texts('.models th.n')).join() === 'nano,nano-novice', 'both in the page');
    await driver({ op: 'screenshot', name: 'nano-two-models-dark' });
    assert.deepEqual(asked, []);
  });

  it('a saved session is compared: each of its calls executed once, after one question', async () => {
    const environment = await usableEnvironment(shop);
    // An order that no record knows: its answer is rehearsed.
    const call = '<tool_call>\n{"name": "get_order", "arguments": {"order_id": "#W1905836"}}\n</tool_call>';
    const policy = memoryPolicy({
      act: [call, 'It is pending.'],
      rehearse: ['<execution_result>{"status": "lost"}</execution_result>'],
    });
    // What it was rehearsed with scores the real answers now.
    const info = { ...policy.info, model: 'nano' };
    const setup = { environment, task: environment.tasks[0]!, options: DEFAULT_OPTIONS, policy: info };
    const stored = createSession(path.join(folder, '.rehearsal/sessions'), setup, { environmentFile: shop });
    await drive(stored.session, { policy, render: createRenderer(policy) }, toTheEnd);
    stored.close();
    const saved = fs.readFileSync(stored.path, 'utf8');
    const known = files();
    void vscode.commands.executeCommand('rehearsal.compare', { kind: 'session', path: stored.path });
    const { runs, head } = await comparison(known);
    assert.equal(head.request.kind, 'session');
    const [pair, ...others] = runs[0]!.pairs;
    assert.deepEqual(others, []);
    assert.deepEqual([pair!.tool, pair!.rehearsed.value], ['get_order', { status: 'lost' }]);
    assert.equal((pair!.real.value as { status: string }).status, 'pending');
    assert.equal(pair!.recorded, false);
    assert.ok(asked.length <= 1, 'one question at most: another suite may have had it answered');
    assert.equal(fs.readFileSync(stored.path, 'utf8'), saved, 'the session is as it was');
    await until(async () => (await texts('.row')).length === 1, 'the call in the page');
    await driver({ op: 'screenshot', name: 'nano-compare-session-dark' });
  });
});
