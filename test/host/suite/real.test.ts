/**
 * Real tools in the real VS Code: the example shop, and tools that do everything wrong. A test host shows no modal
 * dialogs, so the questions are answered here; `test/e2e/consent.e2e.ts` presses the real button.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import type { DebugProtocol as P } from '@vscode/debugprotocol';
import * as vscode from 'vscode';
import { createRenderer } from '../../../src/core/conversation/render';
import { drive, toTheEnd } from '../../../src/core/rehearsal/drivers';
import { DEFAULT_OPTIONS } from '../../../src/core/rehearsal/options';
import { usableEnvironment } from '../../../src/node/environments';
import { createSession } from '../../../src/node/sessions/file';
import { memoryPolicy } from '../../unit/support/memory-policy';
import { driver, setTheme, until } from '../support';

const folder = vscode.workspace.workspaceFolders![0]!.uri.fsPath;
const shop = path.join(folder, 'shop/shop.rehearsal.json');
const odd = path.join(folder, 'shop/odd.rehearsal.json');
const tools = path.join(folder, 'shop/odd.mjs');

/** Calls of one message, each to a tool that does something wrong. */
const ODD = ['loops', 'exits', 'large', 'ansi', 'html', 'nan', 'throws'];

/** Their module. */
const source = `
export const loops = () => { for (;;); };
export const exits = () => process.exit(3);
export const large = () => ({ text: 'x'.repeat(10 * 2 ** 20) });
export const ansi = () => '\\u001b[31mred\\u001b[0m';
export const html = () => '<img src=x onerror="alert(1)">';
export const nan = () => ({ price: Number.NaN });
export const throws = () => { throw new Error('Order not found'); };
`;

/** The question that waits for the person. */
let question: { said: string; answer(pressed: string | undefined): void } | null = null;
const { showWarningMessage } = vscode.window;

/** Waits for the question, answers it, and gives what it said. */
async function asked(press: 'Allow' | 'Cancel'): Promise<string> {
  const { said, answer } = await until(() => question, 'the question');
  question = null;
  answer(press === 'Allow' ? press : undefined);
  return said;
}

/** Waits for a condition, and allows whatever is asked for until then. */
async function allowing<T>(condition: () => T | Promise<T>, what: string): Promise<void> {
  await until(
    async () => {
      if (question) await asked('Allow');
      return condition();
    },
    what,
    150_000,
  );
}

/** Runs a command that may ask; resolves once it is done. */
async function allowingCommand(id: string, argument: object): Promise<void> {
  let isDone = false;
  const done = vscode.commands.executeCommand(id, argument).then(() => {
    isDone = true;
  });
  await allowing(() => isDone, id);
  await done;
}

/** Rows of a list that was closed stay in the page, hidden. */
const ROW = '.quick-input-list .monaco-list-row:visible';

/** Takes all consents back through the list; gives what it listed. */
async function revokeAll(): Promise<string> {
  void vscode.commands.executeCommand('rehearsal.manageConsents');
  // Where nothing was allowed there is no list.
  await until(() => driver<number>({ op: 'count', selector: ROW }), 'the list', 5000).catch(() => 0);
  const rows = await driver<string[]>({ op: 'texts', selector: ROW });
  await driver({ op: 'screenshot', name: 'real-consents-dark' });
  const executors = `${ROW}:has-text("taken back with all of its tools")`;
  const { length } = await driver<string[]>({ op: 'texts', selector: executors });
  for (let i = 0; i < length; i++)
    await driver({ op: 'click', selector: `:nth-match(${executors}, ${i + 1})` });
  if (rows.length > 0) await driver({ op: 'press', key: 'Enter' });
  await until(async () => (await driver<number>({ op: 'count', selector: ROW })) === 0, 'the list to close');
  await vscode.commands.executeCommand('notifications.clearAll');
  return rows.join('\n');
}

const webview = (selector: string) => ({ selector, webview: true });
const texts = (selector: string): Promise<string[]> =>
  driver<string[]>({ op: 'texts', ...webview(selector) }).catch(() => []);
const click = (selector: string) => driver({ op: 'click', ...webview(selector) });
const shownText = () => vscode.window.activeTextEditor?.document.getText() ?? '';
const callOf = (index: number) => `[aria-label="Execute for Real, turn 1, call ${index + 1}"]`;

async function closeAll(): Promise<void> {
  await vscode.debug.stopDebugging();
  await vscode.commands.executeCommand('workbench.action.closeAllEditors');
}

describe('real tools', function () {
  this.timeout(240_000);

  before(() => {
    Object.assign(vscode.window, {
      showWarningMessage: (message: string, options: { modal?: boolean; detail?: string }) =>
        new Promise<string | undefined>((answer) => {
          assert.equal(options.modal, true);
          question = { said: `${message}\n${options.detail}`, answer };
        }),
    });
  });
  afterEach(async function () {
    if (this.currentTest?.state === 'failed')
      await driver({ op: 'screenshot', name: `real-failed-${Date.now()}` });
  });
  after(async () => {
    Object.assign(vscode.window, { showWarningMessage });
    await closeAll();
    for (const file of [odd, tools]) fs.rmSync(file, { force: true });
  });

  const recordOf = async (tool: string) => {
    const { examples } = await usableEnvironment(shop);
    return { file: shop, record: examples.findIndex((example) => example.tool === tool) };
  };

  it('are not run where the person says no', async () => {
    await revokeAll();
    const done = vscode.commands.executeCommand('rehearsal.executeCall', await recordOf('get_order'));
    const said = await asked('Cancel');
    await done;
    assert.match(said, /Execute get_order for real\?/);
    assert.match(said, /tools\.mjs[\s\S]*"order_id"/);
    assert.ok(said.includes(path.join(folder, 'shop')), said);
    assert.equal(vscode.window.activeTextEditor, undefined);
  });

  it('are asked for once, execute a recorded call from its lens, and show what came', async () => {
    const document = await vscode.workspace.openTextDocument(path.join(folder, 'shop/calls.jsonl'));
    await vscode.window.showTextDocument(document);
    const lenses = await until(async () => {
      const found = await vscode.commands.executeCommand<vscode.CodeLens[]>(
        'vscode.executeCodeLensProvider',
        document.uri,
      );
      return found.length > 1 && found;
    }, 'the lenses of the recorded calls');
    const { command } = lenses.find(({ range, command: of }) => {
      const line = document.lineAt(range.start.line).text;
      return of?.title.includes('Execute') && line.includes('"get_order"') && line.includes('#W4284542');
    })!;
    const run = () => vscode.commands.executeCommand(command!.command, ...command!.arguments!);
    const done = run();
    await asked('Allow');
    await done;
    assert.match(shownText(), /^\/\/ get_order\(\{"order_id": "#W4284542"\}\)\n\/\/ real result, \d/);
    assert.match(shownText(), /"status": "pending"/);
    await driver({ op: 'screenshot', name: 'real-call-dark' });
    // The module was agreed to, and this tool only reads: it runs to its end unasked.
    await run();
    await closeAll();
  });

  it('that may write are asked for by name', async () => {
    const done = vscode.commands.executeCommand('rehearsal.executeCall', await recordOf('cancel_order'));
    const said = await asked('Allow');
    await done;
    assert.match(said, /Execute cancel_order for real\?/);
    assert.match(said, /may change/);
    await closeAll();
  });

  it('are listed, and taken back', async () => {
    const listed = await revokeAll();
    assert.match(listed, /tools\.mjs/);
    assert.match(listed, /cancel_order/);
    const done = vscode.commands.executeCommand('rehearsal.executeCall', await recordOf('get_order'));
    await asked('Cancel');
    await done;
  });

  it('show at each call of a session what they did, whatever that is, and leave the session alone', async () => {
    fs.writeFileSync(tools, source);
    const declared = ODD.map((name) => ({
      name,
      description: name,
      readOnly: true,
      inputSchema: { type: 'object' },
    }));
    const environment = {
      name: 'odd',
      policy: '',
      tools: declared,
      executor: { kind: 'module', path: 'odd.mjs', timeoutSeconds: 3 },
      tasks: [{ id: 'odd', instruction: 'Try them all.', checks: [] }],
    };
    fs.writeFileSync(odd, JSON.stringify(environment, null, 2));
    const saved = await savedSession();
    await vscode.commands.executeCommand('rehearsal.openSession', saved);
    await until(
      async () => (await texts('.calltitle')).length >= ODD.length,
      'the calls in the panel',
      60_000,
    );
    const lines = fs.readFileSync(saved, 'utf8').split('\n').length;
    const results: string[] = [];
    for (const [index, name] of ODD.entries()) {
      await click(callOf(index));
      // One module, and tools that only read: one question.
      if (index === 0) await asked('Allow');
      const found = await until(
        async () => {
          const blocks = await texts('.out.other:not([hidden])');
          const text = blocks[index] ?? '';
          return blocks.length > index && !text.includes('executing') && text;
        },
        `the answer of ${name}`,
        30_000,
      );
      results.push(found);
    }
    const [loops, exits, large, ansi, html, nan, throws] = results;
    assert.match(loops!, /not answered within 3 s/);
    assert.match(exits!, /ended before it answered/);
    assert.match(large!, /the first 20,000/);
    assert.match(ansi!, /\[31mred/);
    assert.ok(!ansi!.includes('\u001b'), 'control characters are shown as such');
    assert.ok(html!.includes('<img src=x onerror="alert(1)">'), html);
    assert.match(nan!, /JSON|NaN/);
    assert.match(throws!, /Order not found/);
    assert.equal(fs.readFileSync(saved, 'utf8').split('\n').length, lines, 'the session is as it was');
    await driver({ op: 'screenshot', name: 'real-odd-dark' });
    await setTheme('light');
    await driver({ op: 'screenshot', name: 'real-odd-light' });
    await setTheme('dark');
  });

  it('open an answer of 10 MB whole', async () => {
    await click('[aria-label="Open Whole Answer, turn 1, call 3"]');
    await until(
      () => vscode.window.visibleTextEditors.some(({ document }) => document.getText().length > 10 * 2 ** 20),
      'the whole answer',
      60_000,
    );
    await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
  });

  it('are compared at the call, and in a diff', async () => {
    await click('[aria-label="Compare, turn 1, call 7"]');
    await until(
      async () => (await texts('.compared')).some((text) => text.includes('differs')),
      'the comparison',
    );
    await click('[aria-label="Open Diff, turn 1, call 7"]');
    const isDiff = ({ input }: vscode.Tab) => input instanceof vscode.TabInputTextDiff;
    await until(() => vscode.window.tabGroups.all.some(({ tabs }) => tabs.some(isDiff)), 'the diff');
    await driver({ op: 'screenshot', name: 'real-diff-dark' });
    await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
  });

  it('can be taken into the session', async () => {
    await click('[aria-label="Take This Answer, turn 1, call 7"]');
    await until(
      async () => (await texts('.out.given.real')).some((text) => text.includes('Order not found')),
      'the real answer in the session',
    );
    assert.ok((await texts('.branch .name')).includes('real answer'));
    await closeAll();
  });

  it('answer in the debug console, and step a session', async () => {
    const stops: P.StoppedEvent['body'][] = [];
    const tracking = vscode.debug.registerDebugAdapterTrackerFactory('rehearsal', {
      createDebugAdapterTracker: () => ({
        onDidSendMessage: (message) => {
          if (message.event === 'stopped') stops.push(message.body);
        },
      }),
    });
    const task = (await usableEnvironment(shop)).tasks[0]!.id;
    await vscode.debug.startDebugging(undefined, {
      type: 'rehearsal',
      request: 'launch',
      name: 'Execute',
      program: shop,
      task,
      observations: 'real',
      temperature: 0,
    });
    await until(() => stops.length > 0, 'the first stop', 150_000);
    const session = vscode.debug.activeDebugSession!;
    const evaluate = (expression: string, context: string) =>
      session.customRequest('evaluate', { expression, context, frameId: 1 });
    const call = 'get_order({"order_id": "#W4284542"})';
    const first = evaluate(`!${call}`, 'repl');
    await asked('Allow');
    assert.match((await first).result, /^real result: .*"status": "pending"/);
    assert.match((await evaluate(`?${call}`, 'repl')).result, /^(match|tolerable|differs)/);
    await assert.rejects(async () => evaluate(`!${call}`, 'watch'), /Only the debug console/);
    const { length } = stops;
    await session.customRequest('continue', { threadId: 1 });
    await allowing(() => stops[length], 'the end');
    await until(
      async () => (await texts('.counts li')).some((text) => /^real[1-9]/.test(text.replace(/\s/g, ''))),
      'observations from the real tools',
    );
    assert.deepEqual((await texts('.side vscode-radio[aria-checked="true"]'))[0], 'Real tools');
    await driver({ op: 'screenshot', name: 'real-session-dark' });
    tracking.dispose();
    await closeAll();
  });

  it('of VS Code itself are called where the executor names them', async () => {
    const file = path.join(folder, 'shop/vscode.rehearsal.json');
    const record = (args: object) => ({ tool: 'fixture_add', arguments: args, value: {} });
    const environment = {
      name: 'vscode',
      policy: '',
      tools: [{ name: 'fixture_add', description: 'Adds.', inputSchema: { type: 'object' } }],
      executor: { kind: 'vscode' },
      examples: [record({ a: 2, b: 3 }), record({ a: -1, b: 0 }), { ...record({}), tool: 'no_such_tool' }],
      tasks: [],
    };
    fs.writeFileSync(file, JSON.stringify(environment));
    const execute = (index: number) =>
      vscode.commands.executeCommand('rehearsal.executeCall', { file, record: index });
    try {
      const first = execute(0);
      assert.match(await asked('Allow'), /tools of VS Code/);
      await first;
      assert.match(shownText(), /real result[\s\S]*"sum": 5/);
      await execute(1);
      assert.match(shownText(), /Only counting numbers/);
      const unknown = execute(2);
      await asked('Allow');
      await unknown;
      await until(() => /has no tool "no_such_tool"/.test(shownText()), 'what there is');
      assert.match(shownText(), /fixture_add/);
    } finally {
      fs.rmSync(file);
      await closeAll();
    }
  });

  it('run tasks as tests, and compare them', async () => {
    const task = (await usableEnvironment(shop)).tasks[0]!.id;
    const sessions = path.join(folder, '.rehearsal/sessions');
    const before = fs.readdirSync(sessions).length;
    await allowingCommand('rehearsal.executeTasks', { file: shop, task });
    const files = fs.readdirSync(sessions).filter((name) => name.endsWith('.jsonl'));
    assert.ok(fs.readdirSync(sessions).length > before);
    const newest = fs.readFileSync(path.join(sessions, files.sort().at(-1)!), 'utf8');
    assert.match(newest, /"observations":"real"/);
    // All tools of the shop were allowed with that.
    await vscode.commands.executeCommand('rehearsal.compareTasks', { file: shop, task });
    await vscode.commands.executeCommand('workbench.panel.testResults.view.focus');
    await driver({ op: 'screenshot', name: 'real-tests-dark' });
  });
});

/** A saved session whose one message called every odd tool; the answers were rehearsed. */
async function savedSession(): Promise<string> {
  const environment = await usableEnvironment(odd);
  const call = (name: string) => `<tool_call>\n{"name": "${name}", "arguments": {}}\n</tool_call>`;
  const policy = memoryPolicy({
    act: [ODD.map(call).join('\n'), 'Done.'],
    rehearse: ODD.map((name) => `<execution_result>{"rehearsed": "${name}"}</execution_result>`),
  });
  const setup = { environment, task: environment.tasks[0]!, options: DEFAULT_OPTIONS, policy: policy.info };
  const stored = createSession(path.join(folder, '.rehearsal/sessions'), setup, { environmentFile: odd });
  await drive(stored.session, { policy, render: createRenderer(policy) }, toTheEnd);
  stored.session.move(0);
  stored.close();
  return stored.path;
}
