/**
 * What stands before a real tool in the real VS Code: the trust of the workspace, and secrets that go to one address
 * only. The window of the tests is always trusted, so its answer is replaced here; `test/e2e/untrusted.e2e.ts` opens
 * a window that is not.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import * as vscode from 'vscode';
import { until } from '../support';

const folder = vscode.workspace.workspaceFolders![0]!.uri.fsPath;
const SECRET = 's3cret-4711-of-a-person';
const { showWarningMessage, showInputBox, showErrorMessage } = vscode.window;

/** What the person was asked, was asked to type, and was told. */
const questions: string[] = [];
const prompts: vscode.InputBoxOptions[] = [];
const errors: string[] = [];
let typed: string | undefined;

const shownText = () => vscode.window.activeTextEditor?.document.getText() ?? '';

/** A server of tools; answers with what it was sent, but for the secret. */
async function toolServer() {
  const received: { url: string; authorization: string | undefined }[] = [];
  const server = http.createServer((request, response) => {
    received.push({ url: request.url!, authorization: request.headers.authorization });
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ status: 'pending' }));
  });
  await new Promise<void>((ok) => server.listen(0, '127.0.0.1', ok));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, received, close: () => server.close() };
}

/** Every file below a folder that is no link and not too large to be a log or a setting. */
function filesBelow(at: string): string[] {
  return fs.readdirSync(at, { withFileTypes: true }).flatMap((entry) => {
    const file = path.join(at, entry.name);
    if (entry.isDirectory()) return filesBelow(file);
    return entry.isFile() && fs.statSync(file).size < 5_000_000 ? [file] : [];
  });
}

describe('before real tools run', function () {
  this.timeout(120_000);
  const files: string[] = [];
  const servers: { close(): void }[] = [];

  before(() => {
    Object.assign(vscode.window, {
      showWarningMessage: async (message: string, options: { detail?: string }) => {
        questions.push(`${message}\n${options.detail ?? ''}`);
        return 'Allow';
      },
      showInputBox: async (options: vscode.InputBoxOptions) => {
        prompts.push(options);
        return typed;
      },
      showErrorMessage: async (message: string) => void errors.push(message),
    });
  });
  beforeEach(() => {
    questions.length = prompts.length = errors.length = 0;
  });
  after(async () => {
    Object.assign(vscode.window, { showWarningMessage, showInputBox, showErrorMessage });
    for (const server of servers) server.close();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    for (const file of files) fs.rmSync(file, { force: true });
  });

  /** An environment whose only tool is at this address, with a recorded call of it. */
  function written(name: string, url: string): string {
    const file = path.join(folder, `shop/${name}.rehearsal.json`);
    const environment = {
      name,
      policy: '',
      tools: [
        { name: 'get_order', description: 'An order.', readOnly: true, inputSchema: { type: 'object' } },
      ],
      executor: {
        kind: 'http',
        url,
        headers: { authorization: `Bearer \${SHOP_TOKEN}` },
        tools: { get_order: { method: 'GET', url: '/orders/{order_id}' } },
      },
      examples: [{ tool: 'get_order', arguments: { order_id: 'W1' }, value: {} }],
      tasks: [{ id: 'look', instruction: 'Look up W1.', checks: [] }],
    };
    fs.writeFileSync(file, JSON.stringify(environment));
    files.push(file);
    return file;
  }
  const execute = (file: string) =>
    vscode.commands.executeCommand('rehearsal.executeCall', { file, record: 0 });

  it('a workspace that is not trusted runs none, whichever way it is asked for', async () => {
    const { url, received, close } = await toolServer();
    servers.push({ close });
    const file = written('untrusted', url);
    const trust = Object.getOwnPropertyDescriptor(vscode.workspace, 'isTrusted')!;
    Object.defineProperty(vscode.workspace, 'isTrusted', { configurable: true, get: () => false });
    try {
      assert.equal(vscode.workspace.isTrusted, false);
      const commands = ['executeCall', 'executeTasks', 'compareTasks', 'compare', 'rehearseCall'];
      for (const command of commands) {
        errors.length = 0;
        const target = command.endsWith('Call') ? { file, record: 0 } : { file, task: 'look' };
        await vscode.commands.executeCommand(`rehearsal.${command}`, target);
        await until(() => errors.length > 0, `what ${command} says`);
        assert.match(errors[0]!, /not trusted, so nothing runs.*Trust it/, command);
      }
      assert.deepEqual([questions, prompts, received], [[], [], []]);
    } finally {
      Object.defineProperty(vscode.workspace, 'isTrusted', trust);
    }
    typed = SECRET;
    await execute(file);
    assert.equal(received.length, 1, 'once it is trusted, it runs');
  });

  it('a secret is asked for after the consent, sent to its address, and not asked for again', async () => {
    const { url, received, close } = await toolServer();
    servers.push({ close });
    const file = written('secret', url);
    typed = undefined;
    await execute(file);
    assert.equal(questions.length, 1);
    assert.deepEqual(received, [], 'without the secret nothing is sent');
    assert.match([...errors, shownText()].join('\n'), /SHOP_TOKEN/);
    typed = SECRET;
    await execute(file);
    await execute(file);
    assert.equal(prompts.length, 2, 'the one that was left, and the one that was answered');
    const { password, title } = prompts[1]!;
    assert.equal(password, true);
    assert.equal(title, `SHOP_TOKEN for ${url}`);
    assert.deepEqual(
      received,
      [1, 2].map(() => ({ url: '/orders/W1', authorization: `Bearer ${SECRET}` })),
    );
    assert.match(shownText(), /real result[\s\S]*"pending"/);
  });

  it('a secret of one address is never sent to another, though it has the same name', async () => {
    const { url, received, close } = await toolServer();
    servers.push({ close });
    typed = undefined;
    await execute(written('elsewhere', url));
    assert.equal(prompts[0]!.title, `SHOP_TOKEN for ${url}`);
    assert.deepEqual(received, []);
  });

  it('a secret stands in no setting, no log and no file', () => {
    const home = process.env.HOME!;
    const all = filesBelow(home);
    assert.ok(
      all.some((file) => /Rehearsal.*\.log$/.test(file)),
      `the log is among ${all.length} files`,
    );
    assert.ok(all.some((file) => file.endsWith('settings.json')));
    const leaks = all.filter((file) => fs.readFileSync(file).includes(SECRET));
    assert.deepEqual(leaks, []);
  });
});
