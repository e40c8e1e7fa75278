/** Tasks as tests, on the real engine. The task's checks come out the same whatever the model writes. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { driver, setTheme, until } from '../support';

const folder = vscode.workspace.workspaceFolders![0]!.uri.fsPath;
const file = path.join(folder, 'checked.rehearsal.json');
const sessions = path.join(folder, '.rehearsal/sessions');

const ENVIRONMENT = `{
  "name": "checked",
  "policy": "Answer briefly.",
  "tools": [{ "name": "get_time", "description": "The time.", "inputSchema": { "type": "object" } }],
  "maxTurns": 1,
  "limits": { "act": 24, "rehearse": 24 },
  "tasks": [
    {
      "id": "always",
      "instruction": "What time is it?",
      "checks": [{ "kind": "maxCalls", "max": 99 }]
    },
    {
      "id": "never",
      "instruction": "What time is it?",
      "checks": [
        { "name": "says the word", "kind": "answer", "contains": "xylophone zebra" }
      ]
    }
  ]
}
`;

const savedSessions = () =>
  fs.existsSync(sessions) ? fs.readdirSync(sessions).filter((f) => f.endsWith('.jsonl')) : [];

const rows = (view: string) =>
  driver<string[]>({ op: 'texts', selector: `.pane:has(.title:text-is("${view}")) .monaco-list-row` });

async function lensTitles(): Promise<string[]> {
  const uri = vscode.Uri.file(file);
  const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>(
    'vscode.executeCodeLensProvider',
    uri,
  );
  return lenses.map((lens) => lens.command!.title);
}

describe('tasks in the Test Explorer', function () {
  this.timeout(240_000);

  before(async () => {
    fs.writeFileSync(file, ENVIRONMENT);
    const settings = vscode.workspace.getConfiguration('rehearsal');
    await settings.update('test.attempts', 2, vscode.ConfigurationTarget.Global);
    await vscode.window.showTextDocument(vscode.Uri.file(file));
    await until(async () => (await lensTitles()).length > 0, 'the lenses of the new environment');
  });

  after(async () => {
    const settings = vscode.workspace.getConfiguration('rehearsal');
    await settings.update('test.attempts', undefined, vscode.ConfigurationTarget.Global);
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    fs.rmSync(file, { force: true });
  });

  it('are run with all attempts, each saved as a session', async () => {
    const before = savedSessions().length;
    await vscode.commands.executeCommand('rehearsal.runTasks', { file });
    const titles = await until(async () => {
      const found = (await lensTitles()).filter((title) => /\d\/\d/.test(title));
      return found.length === 2 ? found : null;
    }, 'results in the lenses');
    assert.match(titles[0]!, /pass.*2\/2/);
    assert.match(titles[1]!, /error.*0\/2/);
    assert.equal(savedSessions().length - before, 4);
    await vscode.commands.executeCommand('rehearsal.environments.focus');
    await until(async () => (await rows('Environments')).some((row) => /checked/.test(row)), 'its row');
    await driver({
      op: 'click',
      selector: '.pane:has(.title:text-is("Environments")) .monaco-list-row:has-text("checked")',
    });
    await until(
      async () => (await rows('Environments')).some((row) => /never.*0\/2/.test(row)),
      'results in the tree',
    );
    await until(
      async () => (await rows('Sessions')).filter((row) => /never/.test(row)).length === 2,
      'the sessions',
    );
    await driver({ op: 'screenshot', name: 'testing-tree-dark' });
  });

  it('show a failed check at its line, with what was expected', async () => {
    await vscode.window.showTextDocument(vscode.Uri.file(file));
    const mark = '.test-error-content-widget';
    await until(() => driver<number>({ op: 'count', selector: mark }), 'the mark at the line of the check');
    await driver({ op: 'click', selector: mark });
    const peek = '.zone-widget';
    await until(() => driver<number>({ op: 'count', selector: peek }), 'the message in the editor');
    await until(
      async () => /says the word/.test(await driver<string>({ op: 'text', selector: peek })),
      'the reason',
    );
    await until(
      async () => /xylophone/.test(await driver<string>({ op: 'text', selector: peek })),
      'the expected text',
    );
    await driver({ op: 'screenshot', name: 'testing-message-dark' });
    await setTheme('light');
    await driver({ op: 'screenshot', name: 'testing-message-light' });
    await setTheme('dark');
  });

  it('open the session of a failed check', async () => {
    const open = '.monaco-workbench :text-is("Open Session at This Turn"):visible';
    await until(() => driver<number>({ op: 'count', selector: open }), 'the button of the message');
    await driver({ op: 'click', selector: open });
    await until(
      () =>
        vscode.window.tabGroups.all
          .flatMap((group) => group.tabs)
          .some((tab) => tab.input instanceof vscode.TabInputWebview),
      'the session panel',
      60_000,
    );
    await driver({ op: 'screenshot', name: 'testing-session-dark' });
  });
});
