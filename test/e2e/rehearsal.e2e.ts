/**
 * What a person does in the first hour, in the real workbench, on the real engine with the embedded model. The
 * tests go on from one another, as a person does. Screenshots of every stage are in `test/e2e/shots`.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { connectPolicy } from '../../src/node/policies/connect';
import { findServer } from '../../src/node/server/discovery';
import { stopServer } from '../../src/node/server/ensure';
import { notifications, openEnvironment, openFile, pick, runCommand, shot, until } from '../harness/page';
import { productEnvironment } from '../harness/product';
import { openWorkbench, ROOT, type Theme, type Workbench } from '../harness/workbench';
import { SessionPage, type Standing } from './session';
import { findTurning } from './stories';

const SHOTS = path.join(import.meta.dirname, 'shots');
const THEMES: Theme[] = ['light', 'hc', 'dark'];
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'rehearsal-e2e-'));
const environment = productEnvironment(scratch);
const home = environment.REHEARSAL_HOME;

let workbench: Workbench;
let page: Page;
let session: SessionPage;

const environmentFile = (name: string) => path.join(workbench.workspace, name, `${name}.rehearsal.json`);

/** Text of the tokens that the debugger has taken, without what is stored ahead. */
const taken = ({ tokens, behind }: Standing) => tokens.slice(0, behind);

async function looks(name: string, themes: Theme[] = ['dark']): Promise<void> {
  for (const theme of themes) {
    if (themes.length > 1) await workbench.setTheme(theme);
    await page.mouse.move(700, 3); // no tooltip over the picture
    await page.waitForTimeout(300);
    await shot(page, SHOTS, `${name}-${theme}`);
  }
}

/** A counter of the engine, over the runner. */
async function counter(name: string): Promise<number> {
  const { url, token } = (await findServer(home))!;
  const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
  return Number(new RegExp(`^rehearsal_${name} (\\S+)$`, 'm').exec(await answer.text())![1]);
}

/** Waits until no token comes any more: a request that was broken off may be computing its last one. */
async function atRest(): Promise<number> {
  let before = -1;
  return until(async () => {
    const now = await counter('generated_tokens_total');
    const rests = now === before;
    before = now;
    await page.waitForTimeout(100);
    return rests && now;
  }, 'the engine to be at rest');
}

async function startSession(environmentName: string, task: string): Promise<void> {
  await runCommand(page, 'Rehearsal: Start Rehearsal Session');
  await pick(page, environmentName);
  await pick(page, task);
  session = await SessionPage.of(page);
  await session.stopped(/at the start/);
}

async function endSession(): Promise<void> {
  await page.keyboard.press('Shift+F5');
  await page.locator('.debug-toolbar').waitFor({ state: 'hidden', timeout: 20_000 });
  await runCommand(page, 'View: Close All Editors');
  await until(() => page.frames().every((f) => !f.url().includes('fake.html')), 'the panel to close');
}

/** Continues where the session is not at an end already, as after choosing an end token. */
async function toEnd(): Promise<Standing> {
  const now = await session.stopped();
  return now.reason.startsWith('Ended') ? now : session.step('continue');
}

async function assertVerdict(success: boolean, { reason }: Standing): Promise<void> {
  assert.match(reason, /^Ended/);
  const verdict = await session.panel.locator('.checks .top').innerText();
  assert[success ? 'doesNotMatch' : 'match'](verdict, /no success/);
}

describe('a rehearsal, as a person does it', function () {
  this.bail(true); // each goes on from the one before

  before(async function () {
    this.timeout(240_000);
    workbench = await openWorkbench({
      workspace: path.join(ROOT, 'examples'),
      env: environment,
      viewport: { width: 1600, height: 1000 },
    });
    page = workbench.page;
  });

  after(async () => {
    await workbench?.stop();
    await stopServer(home);
    fs.rmSync(scratch, { recursive: true, force: true });
  });

  afterEach(async function () {
    if (this.currentTest?.state !== 'failed') return;
    await shot(page, SHOTS, 'failed');
    console.error('notifications:', await notifications(page));
  });

  it('starts from the palette, asking for environment and task, on a server that it starts itself', async () => {
    await runCommand(page, 'Rehearsal: Start Rehearsal Session');
    await page.locator('.quick-input-list .monaco-list-row').filter({ hasText: 'flights' }).waitFor();
    await looks('start-environment');
    await pick(page, 'shop');
    await page
      .locator('.quick-input-list .monaco-list-row')
      .filter({ hasText: 'order-without-hash' })
      .waitFor();
    await looks('start-task');
    await pick(page, 'order-without-hash');
    session = await SessionPage.of(page);
    const { tokens, branches } = await session.stopped(/at the start/, 120_000);
    assert.deepEqual([tokens.length, branches], [0, 1]);
    await page.locator('.debug-toolbar').waitFor();
    await page.locator('.tab').filter({ hasText: 'order-without-hash.rehearsal-log' }).waitFor();
    await runCommand(page, 'View: Show Run and Debug');
    await looks('session-start', THEMES);
  });

  it('steps a token, an output and a turn, and back, by keys and by buttons, at one position', async () => {
    const one = await session.key('F11');
    assert.equal(one.behind, 1);
    await session.assertSamePosition();
    await session.step('token');
    const three = await session.step('token');
    assert.equal(three.behind, 3);
    await session.assertSamePosition();
    await looks('token', THEMES);
    const back = await session.step('back');
    assert.equal(back.behind, 2);
    assert.equal(back.tokens.length, 3, 'the token that was stepped back over is kept');
    await session.assertSamePosition();
    const sampled = await atRest();
    assert.deepEqual(await session.key('F11').then(taken), taken(three));
    assert.equal(await counter('generated_tokens_total'), sampled, 'a stored token is not sampled again');
    const output = await session.key('F10');
    assert.match(output.reason, /turn 1/);
    assert.ok(output.behind > 3);
    await looks('output');
    const turn = await session.step('turn');
    assert.ok(turn.behind >= output.behind);
    await looks('turn');
  });

  it('goes to the end on Continue, with a reason for each check', async () => {
    const end = await session.step('continue');
    assert.match(end.reason, /^Ended: /);
    const checks = session.panel.locator('.checks .check');
    assert.equal(await checks.count(), 3);
    for (const check of await checks.all())
      assert.match(await check.innerText(), /holds|fails|left out|unscored/);
    assert.match(await session.panel.locator('.checks').innerText(), /Reward\s+\d/);
    await looks('end', THEMES);
  });

  it('samples the task again on Restart, and keeps the branch before', async () => {
    const before = await session.standing();
    const restarted = await session.step('restart');
    assert.equal(restarted.behind, 0);
    const again = await session.step('continue');
    assert.equal(again.branches, before.branches + 1);
    assert.match(again.reason, /^Ended: /);
  });

  it('stops between two tokens on Pause, and the server stops too', async () => {
    // A short rehearsal may have ended before the button is reached; then it is begun again.
    for (let attempt = 0; ; attempt++) {
      await session.step('restart');
      const paused = await session.continueAndPause();
      if (paused.reason.startsWith('Ended') && attempt < 8) continue;
      assert.match(paused.reason, /^Paused/);
      const computed = await counter('computed_tokens_total');
      await page.waitForTimeout(700);
      const later = await counter('computed_tokens_total');
      assert.ok(later - computed < 4, `the engine goes on: ${later - computed} tokens`); // but for its last one
      assert.deepEqual(await session.standing(), paused);
      return;
    }
  });

  it('only the debug console samples: a watch never does', async () => {
    // The id is not on record, so the answer has to be rehearsed.
    const call = 'get_order({"order_id": "W4284542"})';
    const before = await session.standing();
    await runCommand(page, 'Focus on Debug Console View');
    await page.locator('.repl-input-wrapper .monaco-editor.focused').waitFor();
    await page.keyboard.type(call);
    await page.keyboard.press('Enter');
    await page
      .locator('.repl .monaco-list-row')
      .filter({ hasText: /^\s*rehearsed/ })
      .first()
      .waitFor();
    await looks('console');
    const sampled = await atRest();
    const watch = page.locator('.pane:has(.title:text-is("Watch"))');
    await watch.locator('.pane-header').hover();
    await watch.locator('[aria-label="Add Expression"]').first().click();
    const expression = watch.locator('.monaco-inputbox input, .monaco-inputbox textarea').first();
    await expression.fill(call);
    await expression.press('Enter');
    const shown = page.locator('.debug-watch .monaco-list-row').filter({ hasText: 'Only the debug console' });
    await shown.first().waitFor();
    assert.equal(await counter('generated_tokens_total'), sampled);
    assert.deepEqual(taken(await session.standing()), taken(before), 'the session itself is as it was');
    await watch.locator('.pane-header').hover();
    await watch.locator('[aria-label="Remove All Expressions"]').first().click();
    await endSession();
  });

  it('stops at a tool that is a function breakpoint, and at a rehearsed error', async () => {
    await startSession('shop', 'order-without-hash');
    const breakpoints = page.locator('.pane:has(.title:text-is("Breakpoints"))');
    await breakpoints.locator('.pane-header').hover();
    await breakpoints.locator('[aria-label="Add Function Breakpoint"]').first().click();
    const name = breakpoints.locator('.monaco-inputbox input, .monaco-inputbox textarea').first();
    await name.fill('get_order');
    await name.press('Enter');
    const set = breakpoints.locator('.monaco-list-row').filter({ hasText: 'get_order' });
    await set.locator('.codicon-debug-breakpoint-function').waitFor(); // the debugger has taken it
    const atTool = await session.step('continue');
    assert.match(atTool.reason, /turn 1/);
    assert.ok(atTool.tokens.includes('get_order'));
    await looks('function-breakpoint');
    await breakpoints.locator('.pane-header').hover();
    await breakpoints.locator('[aria-label="Remove All Breakpoints"]').first().click();
    await set.waitFor({ state: 'hidden' });
    const filter = breakpoints.locator('.monaco-list-row').filter({ hasText: 'Rehearsed Error' });
    await filter.locator('.monaco-checkbox').first().click();
    // Without its # the order is not found: the tool's error is rehearsed.
    await session.choose(1, atTool.tokens.indexOf('#'), 'W');
    const atError = await session.step('continue');
    assert.match(atError.reason, /^Stopped at turn 1/);
    assert.match(await session.panel.locator('.turn').first().innerText(), /error: /);
    await looks('rehearsed-error', THEMES);
    await filter.locator('.monaco-checkbox').first().click();
    const again = session.panel.getByRole('button', { name: /^Rehearse again/i });
    await again.click();
    await until(async () => (await session.standing()).branches === 3, 'the branch of the other rehearsal');
    await session.stopped();
    await endSession();
  });

  for (const [name, task, preferred] of [
    ['shop', 'order-without-hash', 'W'],
    ['flights', 'basic-economy', '<tool_call>'],
  ] as const) {
    it(`tells both sides of the story ${task}: one alternative, and Continue alone`, async function () {
      this.timeout(400_000);
      const { url, token } = (await findServer(home))!;
      const policy = await connectPolicy({ baseUrl: url, apiKey: token });
      const turning = await findTurning(policy, environmentFile(name), task, preferred);
      assert.ok(turning, 'no alternative of the first five turns this rehearsal');
      const { straight, turn, place } = turning;
      await startSession(name, task);
      await assertVerdict(straight, await session.step('continue'));
      await looks(`story-${task}-${straight ? 'right' : 'wrong'}`, THEMES);
      await session.choose(turn, place, turning.other);
      await looks(`story-${task}-chosen`);
      await assertVerdict(!straight, await toEnd());
      await looks(`story-${task}-${straight ? 'wrong' : 'right'}`, THEMES);
      // Both branches are kept: choosing the token that stood there first leads back to the first.
      await session.choose(turn, place, turning.back);
      const back = await toEnd();
      await assertVerdict(straight, back);
      assert.equal(back.branches, 2);
      await session.panel.locator('.branches .branch').nth(1).click();
      await until(
        async () => (await session.standing()).tokens.join() !== back.tokens.join(),
        'the other branch',
      );
      await assertVerdict(!straight, await toEnd());
      if (name === 'flights') await endSession();
    });
    if (name === 'shop')
      it('keeps every token when the window is closed and opened again, and goes on from there', async () => {
        const before = await session.standing();
        await workbench.reload();
        session = await SessionPage.of(page);
        const after = await until(async () => {
          const now = await session.standing();
          return now.tokens.length === before.tokens.length && now;
        }, 'the tokens of before');
        assert.deepEqual(after.tokens, before.tokens);
        assert.equal(after.branches, before.branches);
        await looks('reopened');
        await session.step('back');
        const again = await session.step('restart');
        assert.equal(again.behind, 0);
        const stepped = await session.step('token');
        assert.equal(stepped.behind, 1);
        await endSession();
      });
  }

  it('starts by F5, by the play button of the editor and from the Environments tree', async () => {
    await openEnvironment(page);
    await page.keyboard.press('F5');
    await pick(page, 'product-price');
    session = await SessionPage.of(page);
    await session.stopped(/at the start/);
    await endSession();
    await openFile(page, 'shop.rehearsal.json');
    await looks('environment-file', THEMES);
    await page.locator('.editor-actions [aria-label*="Start Rehearsal Session"]').first().click();
    await pick(page, 'product-price');
    session = await SessionPage.of(page);
    await session.stopped(/at the start/);
    await endSession();
    await page.locator('.activitybar [aria-label^="Rehearsal"]').first().click();
    const tree = page.locator('.pane').filter({ hasText: 'Environments' });
    await tree.locator('.monaco-list-row').filter({ hasText: 'shop' }).first().waitFor();
    await looks('trees', THEMES);
  });

  it('runs tasks as tests, with the same results as the command line, that survive a reload', async function () {
    this.timeout(400_000);
    await openFile(page, 'shop.rehearsal.json');
    await runCommand(page, 'Testing: Focus on Test Explorer View');
    const rows = page.locator('.test-explorer .monaco-list-row');
    const expand = async () => {
      const shop = rows.filter({ hasText: 'shop.rehearsal.json' });
      if ((await shop.getAttribute('aria-expanded')) === 'false')
        await shop.locator('.monaco-tl-twistie').click();
    };
    const inner = page.locator('.test-explorer .monaco-list-row[aria-level="2"]');
    const results = async () => {
      await expand();
      const tasks = await inner.evaluateAll((all) =>
        all.map((row) => `${row.textContent} ${row.getAttribute('aria-label')}`),
      );
      return tasks.length >= 6 && tasks.every((label) => /passed|failed|errored/i.test(label)) && tasks;
    };
    // What is not found yet is not run.
    await until(async () => {
      await expand();
      return (await inner.count()) >= 6;
    }, 'the tasks');
    await page.locator('.tab.active').first().click();
    await runCommand(page, 'Test: Run Tests in Current File');
    await runCommand(page, 'Testing: Focus on Test Explorer View');
    const labels = await until(results, 'all tasks to end', 300_000);
    await looks('tests', THEMES);
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [
        path.join(ROOT, 'dist/cli.js'),
        'run',
        environmentFile('shop'),
        '--json',
        '--sessions',
        path.join(scratch, 'cli'),
      ],
      { env: { ...process.env, ...environment }, maxBuffer: 1 << 26 },
    ).catch((error: { stdout: string }) => error);
    const inTerminal = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .filter(({ type }) => type === 'rollout');
    assert.ok(inTerminal.length > 4);
    for (const { task, success } of inTerminal) {
      const label = labels.find((l) => l.includes(task)) ?? '';
      assert.match(
        label,
        success ? /passed/i : /failed/i,
        `${task} in the Test Explorer: ${labels.join(' | ')}`,
      );
    }
    await workbench.reload();
    await runCommand(page, 'Testing: Focus on Test Explorer View');
    const verdicts = (all: string[]) => all.map((label) => /\((Passed|Failed|Errored)\)/.exec(label)?.[1]);
    assert.deepEqual(verdicts(await until(results, 'the results after a reload')), verdicts(labels));
  });

  it('never lets an error of its own reach the console', () => {
    // VS Code has complaints of its own here: sign-in that does not exist, extensions that were left out.
    const own = workbench.errors.filter((e) =>
      /rehearsal|Content Security Policy|TypeError|ReferenceError/i.test(e),
    );
    assert.deepEqual(own, []);
  });
});
