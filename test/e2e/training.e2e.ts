/**
 * A training run as a person makes it: launched from the page over its file, watched, opened in the debugger, read
 * after a reload of the window, on the real server and engine with the small model. The tests go on from one another.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Frame, Locator, Page } from 'playwright-core';
import type { Metrics, RolloutRecord, RunStatus } from '../../src/core/training/run.types';
import { readDiscovery } from '../../src/node/server/discovery';
import { stopServer } from '../../src/node/server/ensure';
import { homeAt } from '../../src/node/server/home';
import {
  heard,
  hearNotifications,
  notifications,
  openFile,
  pick,
  runCommand,
  shot,
  until,
  webviewWith,
} from '../harness/page';
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
/** Id of the branch. */
let branch: string;

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
    weights: 'lora',
    learningRate: 1e-3,
    steps: 3,
    tasksPerStep: 2,
    groupSize: 4,
    evaluation: { every: 2 },
    checkpoints: { every: 1 },
  };
  const text = JSON.stringify(file, null, 2).replace('"steps": 3', '// a minute is enough\n  "steps": 9');
  fs.writeFileSync(path.join(folder, 'quick.training.json'), text);
}

/** What the loop writes where a reward is pleased, which takes more steps than a test has: see please.test.ts. */
function warnOfPleasing(): void {
  const message = '`status` is `delivered` in 40 of 40 rehearsals; 28 records say `pending`.';
  const status = statusOf(branch);
  const warnings = [...status.warnings, { step: status.step, code: 'pleasing', message }];
  const file = path.join(runFolder(branch), 'status.json');
  fs.writeFileSync(`${file}.test`, JSON.stringify({ ...status, warnings }));
  fs.renameSync(`${file}.test`, file);
}

/** Types the path into the dialog that asks where to save, once it has written its own suggestion. */
async function saveAs(target: string, suggestion: RegExp): Promise<void> {
  const dialog = page.locator('.quick-input-widget:visible');
  const input = dialog.locator('input[type="text"]').first();
  await dialog.getByText('OK', { exact: true }).waitFor();
  await until(async () => suggestion.test(await input.inputValue()), `the suggestion ${suggestion}`);
  await until(async () => {
    if ((await input.inputValue()) !== target) await input.fill(target);
    await page.waitForTimeout(500);
    return (await input.inputValue()) === target;
  }, 'the path');
  await input.press('Enter');
  await dialog.waitFor({ state: 'hidden' });
}

const withCheckpoint = (step: number, what: 'use' | 'branch' | 'export') =>
  run.locator(`select[data-at="${step}"]`).selectOption(what);

/** Right-clicks and chooses. A menu takes no press in its first tenth of a second, so it is pressed until it is gone. */
async function chooseFromMenu(element: Locator, label: string): Promise<void> {
  await element.click({ button: 'right' });
  const item = page.locator('.monaco-menu .action-item').filter({ hasText: label });
  await item.waitFor();
  await until(async () => {
    await item.click({ timeout: 1000 }).catch(() => {}); // it goes as it is pressed
    return (await item.count()) === 0;
  }, `the menu to close after ${label}`);
}

/** Waits for a tooltip; a row that is drawn anew meanwhile has to be pointed at again. */
async function hoverOver(element: Locator, says: string): Promise<void> {
  const tooltip = page.locator('.monaco-hover').filter({ hasText: says });
  await until(async () => {
    await page.mouse.move(700, 3);
    await element.hover();
    return tooltip.waitFor({ timeout: 3000 }).then(
      () => true,
      () => false,
    );
  }, `the tooltip ${says}`);
  await page.mouse.move(700, 3);
  await tooltip.waitFor({ state: 'hidden' });
}

/** Waits for a notification; gives what the pattern found. */
const said = (what: RegExp) =>
  until(
    async () => (await heard(page)).map((one) => what.exec(one)).find((found) => found),
    `${what}`,
    RUN_MS,
  );
async function inState(state: string): Promise<void> {
  const ended = run.locator(`.page:is([data-state="${state}"], [data-state="failed"])`);
  await ended.waitFor({ timeout: RUN_MS });
  assert.equal(await ended.getAttribute('data-state'), state, await text('.runhead'));
}
const stepsDone = async () => Number(/(\d+) of 4/.exec(await text('.facts'))![1]);

/** Waits until a setting has a value in the page over the file. */
const shows = (setting: string, value: string) =>
  until(
    async () => (await run.getByLabel(setting, { exact: true }).inputValue()) === value,
    `${setting} to be ${value}`,
  );
const row = (of: RegExp) => page.locator('.monaco-list-row').filter({ hasText: of });
const dialog = () => page.locator('.monaco-dialog-box');
const runFolder = (id: string) => path.join(homeAt(environment.REHEARSAL_HOME).runs, id);
const statusOf = (id: string): RunStatus =>
  JSON.parse(fs.readFileSync(path.join(runFolder(id), 'status.json'), 'utf8'));
const clearNotifications = () => runCommand(page, 'Notifications: Clear All Notifications');

const text = (selector: string) => run.locator(selector).first().innerText({ timeout: 60_000 });

describe('a training run, as a person makes it', function () {
  this.bail(true); // each goes on from the one before

  before(async function () {
    this.timeout(240_000);
    workbench = await openWorkbench({
      workspace: path.join(ROOT, 'examples'),
      env: environment,
      viewport: { width: 1600, height: 1100 },
      beforeLoad: hearNotifications,
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
    await shows('Steps', '9');
    await run.getByLabel('Steps', { exact: true }).fill('4');
    await page.keyboard.press('Enter');
    await page.locator('.tab.active.dirty').waitFor();
    await page.keyboard.press('Control+S');
    const file = path.join(workbench.workspace, 'shop/quick.training.json');
    const saved = await until(
      () => /"steps": 4,/.test(fs.readFileSync(file, 'utf8')) && fs.readFileSync(file, 'utf8'),
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
    await shows('Group size', '4');
  });

  it('is estimated by a step that is measured', async function () {
    this.timeout(RUN_MS);
    await run.getByRole('button', { name: 'Estimate' }).click();
    await run.locator('.cost dl, .cost .fail').waitFor({ timeout: RUN_MS });
    assert.match(
      await text('.cost'),
      /Time[\s\S]*A step\s+[\d.]+ s[\s\S]*Tokens a step\s+[\d,]+[\s\S]*Memory\s+\d+.*[MG]iB/,
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

  it('is stopped with what it learned, and goes on from there', async function () {
    this.timeout(RUN_MS);
    await run.locator('select[data-at="1"]').waitFor({ timeout: RUN_MS });
    await run.getByRole('button', { name: /^Stop: keeps/ }).click();
    await inState('stopped');
    await said(/The run quick was stopped/);
    const stopped = await stepsDone();
    assert.ok(stopped >= 1 && stopped < 4, `stopped at step ${stopped}`);
    await run.locator(`select[data-at="${stopped}"]`).waitFor();
    await looks('training-stopped');
    await run.getByRole('button', { name: 'Resume' }).click();
    await run.locator('.page:not([data-state="stopped"])').waitFor({ timeout: RUN_MS });
    assert.ok((await stepsDone()) >= stopped, 'no step is lost');
  });

  it('outlives its server: the page says that it is gone, and goes on with the next', async function () {
    this.timeout(RUN_MS);
    process.kill(readDiscovery(homeAt(environment.REHEARSAL_HOME))!.pid, 'SIGKILL');
    const bar = run.locator('.errorbar');
    await bar
      .filter({ hasText: /The connection to the server was lost\. What is shown is the last/ })
      .waitFor({ timeout: RUN_MS });
    await looks('training-server-gone');
    await bar.getByRole('button', { name: 'Start Server' }).click();
    await bar.waitFor({ state: 'hidden', timeout: RUN_MS });
  });

  it('is told of at its end, with real success and every step', async function () {
    this.timeout(RUN_MS);
    await inState('done');
    await said(/The run quick is done/);
    assert.equal(await run.locator('.warnings').count(), 1);
    assert.match(await text('.facts'), /4 of 4/);
    assert.match(await text('.checkpoints'), /real success/);
    assert.match(await text('[data-chart="gap"] figcaption'), /success on the real tools/);
    await until(async () => /Rollouts of step 4/.test(await text('.step h2')), 'the last rollouts');
    await until(async () => (await run.locator('.rollout').count()) === 8, 'all of them');
    assert.equal(await run.locator('.group:not(.heads)').count(), 2);
    await clearNotifications();
  });

  it('shows its rollouts, their outputs and what each was worth', async () => {
    await run.locator('.rollout').first().click();
    await run.locator('.detail .output.act').first().waitFor({ timeout: 60_000 });
    await run.locator('.detail .output > summary').first().click();
    await until(async () => (await run.locator('.detail .t').count()) > 3, 'its tokens');
    assert.match(await text('.detail'), /Baseline of the role in this group|could not be scored/);
    await looks('training-run', ['light', 'hc', 'dark']);
  });

  it('stands in the view with its checkpoints', async () => {
    await runCommand(page, 'Rehearsal: Focus on Training View');
    await row(/quick.*done/).waitFor({ timeout: 60_000 });
    await row(/quick.*done/)
      .locator('.monaco-tl-twistie')
      .click();
    await row(/step \d.*best/)
      .first()
      .waitFor();
    await looks('training-tree');
  });

  it('exports its rollouts, a JSON object a line', async () => {
    const target = path.join(scratch, 'rollouts.jsonl');
    await run.getByRole('button', { name: 'Export Rollouts…' }).click();
    await saveAs(target, /\.rollouts\.jsonl$/);
    await said(/The rollouts of \S+ are in .*rollouts\.jsonl/);
    const rows = fs.readFileSync(target, 'utf8').trimEnd().split('\n');
    assert.equal(rows.length, 4 * 8);
    for (const line of rows) {
      const { outputs } = JSON.parse(line) as RolloutRecord;
      for (const { role, ids, logprobs, advantage } of outputs) {
        assert.match(role, /^(act|rehearse)$/);
        assert.equal(logprobs.length, ids.length);
        assert.ok(ids.length > 0 && (advantage === null || Number.isFinite(advantage)));
      }
    }
  });

  for (const [form, files] of [
    ['PEFT adapter', ['adapter_config.json', 'adapter_model.safetensors']],
    ['Merged Hugging Face folder', ['config.json', 'model.safetensors', 'tokenizer.json']],
  ] as const)
    it(`exports a checkpoint: ${form}`, async () => {
      const target = path.join(scratch, form);
      await withCheckpoint(4, 'export');
      await pick(page, form);
      await saveAs(target, /-step-4$/);
      await said(new RegExp(`The checkpoint is in .*${form}`));
      for (const file of files) assert.ok(fs.statSync(path.join(target, file)).size > 0, file);
      await clearNotifications();
    });

  it('has a branch, a run of its own that says where it comes from', async function () {
    this.timeout(RUN_MS);
    await withCheckpoint(4, 'branch');
    await page.locator('.tab.active').filter({ hasText: 'quick-from-4.training.json' }).waitFor();
    run = await webviewWith(page, '.page.file');
    await shows('Steps', '4'); // as the run had it
    await run.getByLabel('Steps', { exact: true }).fill('400'); // it will not end by itself
    await page.keyboard.press('Enter');
    await page.locator('.tab.active.dirty').waitFor();
    await page.keyboard.press('Control+S');
    await page.locator('.tab.active:not(.dirty)').waitFor();
    await run.getByText(/^400 steps of/).waitFor();
    await run.getByRole('button', { name: 'Launch' }).click();
    run = await webviewWith(page, '.page.run', RUN_MS);
    await run.locator('h1').filter({ hasText: 'quick-from-4' }).waitFor({ timeout: RUN_MS });
    branch = /\((.+)\)/.exec((await run.locator('h1').getAttribute('title'))!)![1]!;
    assert.deepEqual(statusOf(branch).parent, { run: 'quick-1', step: 4 });
    assert.match(await text('.facts'), /nano-novice, from step 4 of quick-1/);
    await run.locator('select[data-at="1"]').waitFor({ timeout: RUN_MS });
    const models = statusOf(branch).checkpoints.map(({ model }) => model);
    assert.deepEqual(models.slice(0, 2), ['quick-1/step-4', `${branch}/step-1`]);
    const rows = fs.readFileSync(path.join(runFolder(branch), 'metrics.jsonl'), 'utf8').split('\n');
    const first = JSON.parse(rows[0]!) as Metrics;
    assert.deepEqual([first.step, first.rollouts, first.evaluation?.realSuccess?.n], [0, 0, 4]);
    await looks('training-branch');
  });

  it('is stopped by Keep Best where it pleases, and new sessions use its best checkpoint', async function () {
    this.timeout(RUN_MS);
    await run.getByRole('button', { name: /^Stop: keeps/ }).click();
    await inState('stopped');
    await until(() => !fs.existsSync(path.join(runFolder(branch), 'lock')), 'the server to put it away');
    warnOfPleasing();
    await run.getByRole('button', { name: 'Resume' }).click();
    const keep = run.getByRole('button', { name: /^Keep best: use the checkpoint of step \d+, and stop/ });
    await keep.waitFor({ timeout: RUN_MS });
    assert.match(
      await text('.warnbar'),
      /status is delivered in 40 of 40 rehearsals; 28 records say pending/,
    );
    await looks('training-keep-best');
    await keep.click();
    const [, model, step] = await said(
      /New sessions use (\S+), the checkpoint of step (\d+) of quick-from-4/,
    );
    await inState('stopped');
    assert.equal(model, step === '0' ? 'quick-1/step-4' : `${branch}/step-${step}`);
    const before = statusOf(branch).checkpoints.filter((one) => one.success && one.step <= Number(step));
    const best = before.at(-1)!;
    assert.equal(best.step, Number(step));
    assert.ok(before.every(({ success }) => success!.value <= best.success!.value));
    await page.locator('.statusbar-item').filter({ hasText: model }).first().waitFor();
    await clearNotifications();
    await hoverOver(row(/quick-from-4/), 'Branched from step 4 of quick-1');
  });

  it('is deleted with its folder after a question, and not at all by Cancel', async () => {
    for (const answer of ['Cancel', 'Delete']) {
      await chooseFromMenu(row(/quick-from-4/), 'Delete Run');
      assert.match(await dialog().innerText(), /Delete the run quick-from-4\?[\s\S]*cannot be undone/);
      await looks('training-delete');
      await dialog().getByRole('button', { name: answer, exact: true }).click();
      await dialog().waitFor({ state: 'hidden' });
      if (answer === 'Delete') continue;
      assert.ok(fs.existsSync(runFolder(branch)), 'nothing is deleted unasked');
      await row(/quick-from-4/).waitFor();
    }
    await row(/quick-from-4/).waitFor({ state: 'hidden' });
    await page.locator('.tab').filter({ hasText: 'Run: quick-from-4' }).waitFor({ state: 'hidden' });
    const left = () => fs.readdirSync(path.dirname(runFolder(branch)));
    await until(() => left().every((name) => !name.includes(branch)), 'the folder to be gone');
    assert.ok(left().includes('quick-1'));
    await row(/quick.*done/).click();
    run = await webviewWith(page, '.page.run');
    await run
      .locator('h1')
      .filter({ hasText: /^quick$/ })
      .waitFor();
  });

  it('gives a checkpoint to new sessions', async () => {
    await withCheckpoint(4, 'use');
    await said(/New sessions use \S+, the checkpoint of step 4 of quick\./);
    await page.locator('.statusbar-item').filter({ hasText: 'quick-1/step-4' }).first().waitFor();
  });

  it('is there again after a reload of the window', async () => {
    await workbench.reload();
    run = await webviewWith(page, '.page.run', 120_000);
    await run.locator('.page[data-state="done"]').waitFor({ timeout: 120_000 });
    assert.match(await text('.facts'), /4 of 4/);
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
    const before = await session.stopped(/^Stopped/); // at the turn, not at the end where the file is
    assert.match(await session.panel.locator('.strip').innerText(), /nano-novice|quick-1\/step-\d/);
    const stepped = await session.step('turn');
    assert.notEqual(stepped.behind, before.behind);
    await looks('training-debug');
  });
});
