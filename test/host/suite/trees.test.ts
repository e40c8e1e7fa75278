/** The views of the activity bar, as a person reads them. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { driver, setTheme, until } from '../support';

const folder = vscode.workspace.workspaceFolders![0]!.uri.fsPath;

const rows = (view: string) =>
  driver<string[]>({ op: 'texts', selector: `.pane:has(.title:text-is("${view}")) .monaco-list-row` });

const clickRow = (view: string, text: string) =>
  driver({
    op: 'click',
    selector: `.pane:has(.title:text-is("${view}")) .monaco-list-row:has-text("${text}")`,
  });

describe('views', () => {
  before(() => vscode.commands.executeCommand('rehearsal.environments.focus'));
  afterEach(async function () {
    if (this.currentTest?.state === 'failed') await driver({ op: 'screenshot', name: 'trees-failed' });
  });

  it('show environments with their tasks and tools', async () => {
    // Of more than two, a person first sees which there are.
    await until(async () => (await rows('Environments')).length >= 4, 'the environments');
    assert.ok(!(await rows('Environments')).some((row) => row.includes('Tasks')));
    await clickRow('Environments', 'flights');
    await until(
      async () => (await rows('Environments')).some((row) => row.includes('basic-economy')),
      'the tasks',
    );
    const shown = (await rows('Environments')).join('\n');
    for (const text of ['flights', 'Tasks', 'Tools', 'change-economy']) assert.match(shown, new RegExp(text));
    await driver({ op: 'screenshot', name: 'trees-dark' });
    await setTheme('light');
    await driver({ op: 'screenshot', name: 'trees-light' });
    await setTheme('dark');
  });

  it('go to a task in its file', async () => {
    await clickRow('Environments', 'basic-economy');
    const editor = await until(() => vscode.window.activeTextEditor, 'the editor');
    assert.match(editor.document.fileName, /flights\.rehearsal\.json$/);
    assert.match(editor.document.getText(editor.selection), /"id": "basic-economy"/);
  });

  it('show what is wrong with a file, and forget it once it is corrected', async () => {
    const file = path.join(folder, 'broken.rehearsal.json');
    fs.writeFileSync(file, '{ "tools": [], "tasks": ');
    await until(
      async () => (await rows('Environments')).some((row) => row.includes('broken')),
      'the new file',
    );
    const shown = (await rows('Environments')).join('\n');
    assert.match(shown, /1 problem/);
    assert.match(shown, /ends too early/);
    fs.rmSync(file);
    await until(
      async () => !(await rows('Environments')).some((row) => row.includes('broken')),
      'the file to go',
    );
  });

  it('say what to do where there is no session yet', async () => {
    fs.rmSync(path.join(folder, '.rehearsal'), { recursive: true, force: true });
    const text = () =>
      driver<string>({ op: 'text', selector: '.pane:has(.title:text-is("Sessions")) .welcome-view' });
    await until(
      async () => /Nothing was rehearsed.*Start Rehearsal Session/.test(await text()),
      'the welcome',
    );
  });
});
