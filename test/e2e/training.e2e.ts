/**
 * A training run as a person makes it: launched from the page over its file, watched, opened in the debugger, read
 * after a reload of the window, on the real server and engine with the small model. The tests go on from one another.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Frame, Page } from 'playwright-core';
import { stopServer } from '../../src/node/server/ensure';
import { notifications, openFile, runCommand, shot, until, webviewWith } from '../harness/page';
import { productEnvironment } from '../harness/product';
import { openWorkbench, ROOT, type Theme, type Workbench } from '../harness/workbench';
import { SessionPage } from './session';

const SHOTS = path.join(import.meta.dirname, 'shots');
const RUN_MS = 600_000;
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'rehearsal-e2e-training-'));
const environment = productEnvironment(scratch);

let workbench: Workbench;
let page: Page;
let run: Frame;

async function looks(name: string, themes: Theme[] = ['dark']): Promise<void> {
  for (const theme of themes) {
    if (themes.length > 1) await workbench.setTheme(theme);
    await page.mouse.move(700, 3);
    await page.waitForTimeout(300);
    await shot(page, SHOTS, `${name}-${theme}`);
  }
}

/** A few of the shop's own tasks, so that a run takes a minute. */
function writeFile(): void {
  const folder = path.join(workbench.workspace, 'shop');
  const tasks = (part: string, count: number) =>
    fs
      .readFileSync(path.join(folder, 'training', `${part}.jsonl`), 'utf8')
      .split('\n')
      .slice(0, count)
      .map((line) => JSON.parse(line));
  const file = {
    environment: 'shop.rehearsal.json',
    tasks: { train: tasks('train', 4), validation: tasks('validation', 4) },
    examples: 'training/calls.jsonl',
    model: 'nano-novice',
    steps: 3,
    tasksPerStep: 2,
    groupSize: 4,
    evaluation: { every: 3 },
  };
  const text = JSON.stringify(file, null, 2).replace('"steps": 3', '// a minute is enough\n  "steps": 9');
  fs.writeFileSync(path.join(folder, 'quick.training.json'), text);
}

const text = (selector: string) => run.locator(selector).first().innerText({ timeout: 60_000 });

describe('a training run, as a person makes it', () => {
  before(async function () {
    this.timeout(240_000);
    workbench = await openWorkbench({
      workspace: path.join(ROOT, 'examples'),
      env: environment,
      viewport: { width: 1600, height: 1100 },
    });
    page = workbench.page;
    writeFile();
  });

  after(async () => {
    await workbench?.stop();
    await stopServer(environment.REHEARSAL_HOME);
    fs.rmSync(scratch, { recursive: true, force: true });
  });

  afterEach(async function () {
    if (this.currentTest?.state !== 'failed') return;
    await shot(page, SHOTS, 'training-failed');
    console.error('notifications:', await notifications(page));
  });

  it('begins at the page over its file, which is the text itself', async () => {
    await openFile(page, 'quick.training.json');
    await page
      .locator('.codelens-decoration a')
      .filter({ hasText: 'Launch Training' })
      .click({ timeout: 60_000 });
    run = await webviewWith(page, '.page.file');
    assert.equal(await run.getByLabel('Steps', { exact: true }).inputValue(), '9');
    await run.getByLabel('Steps', { exact: true }).fill('3');
    await page.keyboard.press('Enter');
    await page.locator('.tab.active.dirty').waitFor();
    await page.keyboard.press('Control+S');
    const file = path.join(workbench.workspace, 'shop/quick.training.json');
    const saved = await until(
      () => /"steps": 3,/.test(fs.readFileSync(file, 'utf8')) && fs.readFileSync(file, 'utf8'),
      'the file',
    );
    assert.match(saved, /\/\/ a minute is enough/, 'comments stay');
    await looks('training-file', ['light', 'hc', 'dark']);
  });

  it('tells what is wrong at the field, and does not launch', async () => {
    await run.getByLabel('Group size', { exact: true }).fill('1');
    await page.keyboard.press('Enter');
    await run.locator('[data-path="groupSize"] .problem.fail').waitFor({ timeout: 60_000 });
    assert.equal(await run.locator('vscode-button.primary').getAttribute('aria-disabled'), 'true');
    await page.keyboard.press('Control+Z');
    await until(
      async () => (await run.getByLabel('Group size', { exact: true }).inputValue()) === '4',
      'undo',
    );
  });

  it('is launched after one question for all real tools', async function () {
    this.timeout(RUN_MS);
    await run.getByRole('button', { name: 'Launch' }).click();
    await page
      .locator('.monaco-dialog-box')
      .getByRole('button', { name: 'Allow', exact: true })
      .click({ timeout: 60_000 });
    run = await webviewWith(page, '.page.run', RUN_MS);
    await run
      .locator('.state')
      .filter({ hasText: /running|done/ })
      .waitFor({ timeout: RUN_MS });
    await page.locator('.statusbar-item').filter({ hasText: 'quick' }).waitFor({ timeout: RUN_MS });
  });

  it('is told of at its end, with real success and every step', async function () {
    this.timeout(RUN_MS);
    await run.locator('.page[data-state="done"]').waitFor({ timeout: RUN_MS });
    await until(
      async () => (await notifications(page)).some((one) => /The run quick is done/.test(one)),
      'the notification',
      60_000,
    );
    assert.equal(await run.locator('.warnings').count(), 1);
    assert.match(await text('.facts'), /3 of 3/);
    assert.match(await text('.checkpoints'), /real success/);
    assert.match(await text('[data-chart="gap"] figcaption'), /success on the real tools/);
    assert.match(await text('.step h2'), /Rollouts of step 3/);
    assert.equal(await run.locator('.group:not(.heads)').count(), 2);
    assert.equal(await run.locator('.rollout').count(), 8);
    await page
      .locator(
        '.notifications-toasts .codicon-notifications-clear-all, .notification-toast .codicon-notifications-clear',
      )
      .first()
      .click()
      .catch(() => {});
  });

  it('shows its rollouts, their outputs and what each was worth', async () => {
    await run.locator('.rollout').first().click();
    await run.locator('.detail .output.act').first().waitFor({ timeout: 60_000 });
    await run.locator('.detail .output > summary').first().click();
    assert.ok((await run.locator('.detail .t').count()) > 3);
    assert.match(await text('.detail'), /Baseline of the role in this group|could not be scored/);
    await looks('training-run', ['light', 'hc', 'dark']);
  });

  it('stands in the view with its checkpoints', async () => {
    await runCommand(page, 'Rehearsal: Focus on Training View');
    const row = page.locator('.monaco-list-row').filter({ hasText: /quick.*done/ });
    await row.waitFor({ timeout: 60_000 });
    await row.locator('.monaco-tl-twistie').click();
    await page
      .locator('.monaco-list-row')
      .filter({ hasText: /step \d.*best/ })
      .first()
      .waitFor({ timeout: 20_000 });
    await looks('training-tree');
  });

  it('is there again after a reload of the window', async () => {
    await workbench.reload();
    run = await webviewWith(page, '.page.run', 120_000);
    await run.locator('.page[data-state="done"]').waitFor({ timeout: 120_000 });
    assert.match(await text('.facts'), /3 of 3/);
    await run.locator('.rollout').first().waitFor({ timeout: 60_000 });
  });

  it('opens a rollout in the debugger with the weights it names, and steps on from there', async () => {
    await run.locator('.rollout').first().click();
    const open = run.getByRole('button', { name: /^Open in the debugger/ });
    await open.waitFor({ timeout: 60_000 });
    assert.match(
      await text('.detail .foot:last-child'),
      /With the weights that sampled it|With checkpoint \d, the nearest/,
    );
    await open.click();
    const session = await SessionPage.of(page);
    const before = await session.stopped();
    assert.match(await session.panel.locator('.strip').innerText(), /nano-novice|quick-1\/step-\d/);
    const stepped = await session.step('turn');
    assert.notEqual(stepped.behind, before.behind);
    await looks('training-debug');
  });
});
