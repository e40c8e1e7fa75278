/** The debugger in the real VS Code, on the real engine: what is asserted holds whatever the model writes. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import type { DebugProtocol as P } from '@vscode/debugprotocol';
import * as vscode from 'vscode';
import { driver, until } from '../support';

const folder = vscode.workspace.workspaceFolders![0]!.uri.fsPath;
const file = path.join(folder, 'debugged.rehearsal.json');

const ENVIRONMENT = `{
  "name": "debugged",
  "policy": "Answer briefly.",
  "tools": [
    { "name": "get_time", "description": "The time.", "inputSchema": { "type": "object", "properties": {} } }
  ],
  "maxTurns": 2,
  "limits": { "act": 40, "rehearse": 40 },
  "tasks": [
    { "id": "ask", "instruction": "What time is it?", "checks": [{ "kind": "maxCalls", "max": 9 }] }
  ]
}
`;

const session = () => vscode.debug.activeDebugSession!;
const command = (id: string) => vscode.commands.executeCommand(`workbench.action.debug.${id}`);

async function stack(): Promise<P.StackFrame[]> {
  const body: P.StackTraceResponse['body'] = await session().customRequest('stackTrace', { threadId: 1 });
  return body.stackFrames;
}

/** Number of the current token in its output, as the stack says it; 0 before the first. */
const tokenNumber = async () => Number(/token (\d+)$/.exec((await stack())[0]!.name)?.[1] ?? 0);

const transcriptEditor = () =>
  vscode.window.visibleTextEditors.find(({ document }) => document.uri.scheme === 'rehearsal-transcript');

/** Until the debugger stands at this token and VS Code has its stack frame. */
async function standsAt(number: number): Promise<void> {
  await until(async () => (await tokenNumber()) === number, `token ${number}`);
  await until(
    () => vscode.debug.activeStackItem instanceof vscode.DebugStackFrame,
    'a stack frame that is in focus',
  );
}

/** What VS Code has selected in the transcript, which is the current token. */
const selected = () => {
  const editor = transcriptEditor();
  return editor?.document.getText(editor.selection);
};

async function currentToken(): Promise<string> {
  const { scopes }: P.ScopesResponse['body'] = await session().customRequest('scopes', { frameId: 1 });
  const { variablesReference } = scopes.find(({ name }) => name === 'Token')!;
  const { variables }: P.VariablesResponse['body'] = await session().customRequest('variables', {
    variablesReference,
  });
  return variables.find(({ name }) => name === 'text')?.value ?? '';
}

async function savedTokens(): Promise<number> {
  const sessions = path.join(folder, '.rehearsal/sessions');
  const newest = fs
    .readdirSync(sessions)
    .filter((name) => name.endsWith('.jsonl'))
    .sort()
    .at(-1)!;
  const lines = fs.readFileSync(path.join(sessions, newest), 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line)).filter(({ reply }) => reply?.kind === 'token').length;
}

describe('debug session', function () {
  this.timeout(120_000);

  before(async () => {
    fs.writeFileSync(file, ENVIRONMENT);
    await vscode.window.showTextDocument(vscode.Uri.file(file));
  });

  after(async () => {
    await vscode.debug.stopDebugging();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  it('starts by F5 on an environment file, and stops before the first token', async () => {
    await command('start');
    await until(() => vscode.debug.activeDebugSession?.type === 'rehearsal', 'the debug session', 90_000);
    await until(() => transcriptEditor(), 'the transcript');
    await until(() => vscode.debug.activeStackItem instanceof vscode.DebugStackFrame, 'the first stop');
    assert.equal(await tokenNumber(), 0);
    assert.equal(transcriptEditor()!.document.languageId, 'rehearsal-transcript');
    const labels = vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs.map(({ label }) => label));
    assert.ok(labels.includes('Session: ask'), labels.join(', '));
  });

  it('steps one token at a time, shown and selected in the transcript', async () => {
    for (const number of [1, 2, 3]) {
      await command('stepInto');
      await standsAt(number);
      const token = await currentToken();
      if (token.startsWith('"'))
        await until(() => JSON.stringify(selected()).includes(token.slice(1, -1)), `${token} selected`);
    }
  });

  it('steps back to where it was, and on again over the same tokens', async () => {
    const token = await currentToken();
    const saved = await savedTokens();
    await command('stepBack');
    await standsAt(2);
    await command('stepInto');
    await standsAt(3);
    assert.equal(await currentToken(), token);
    assert.equal(await savedTokens(), saved, 'nothing was sampled');
  });

  it('steps in the panel too: same position, and the keyboard stays there', async () => {
    const button = '[data-step="token"]';
    await driver({ op: 'click', webview: true, selector: button });
    await standsAt(4);
    await driver({ op: 'press', key: 'Enter' });
    await standsAt(5);
    await driver({ op: 'press', key: 'Enter' });
    await standsAt(6);
    await driver({ op: 'screenshot', name: 'debug-dark' });
  });

  it('never samples for a watch', async () => {
    const saved = await savedTokens();
    await assert.rejects(
      Promise.resolve(session().customRequest('evaluate', { expression: 'get_time({})', context: 'watch' })),
    );
    const answer = await session().customRequest('evaluate', { expression: 'get_time({})', context: 'repl' });
    assert.match(answer.result, /^rehearsed /);
    assert.equal(await savedTokens(), saved, 'the session holds nothing of it');
    assert.equal(await tokenNumber(), 6);
  });

  it('goes to the end, where one can still look, and stops there', async () => {
    await command('continue');
    await until(
      async () => (await stack())[0] && vscode.debug.activeStackItem instanceof vscode.DebugStackFrame,
      'the end',
    );
    await until(() => transcriptEditor()?.document.getText().includes('end ·'), 'the end in the transcript');
    assert.ok(vscode.debug.activeDebugSession, 'the session is still there');
    await driver({ op: 'screenshot', name: 'debug-end-dark' });
    const tokens = await savedTokens();
    await command('stop');
    await until(() => !vscode.debug.activeDebugSession, 'the end of the debug session');
    assert.equal(await savedTokens(), tokens);
  });
});
