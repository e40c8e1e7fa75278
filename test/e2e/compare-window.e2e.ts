/** Comparing in the real workbench: from the palette, with the consent that a person gives, and after a reload. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Frame, Page } from 'playwright-core';
import type { ComparisonRun } from '../../src/core/fidelity/comparison';
import { comparisonsFolder, listComparisons, readComparison } from '../../src/node/fidelity/file';
import { stopServer } from '../../src/node/server/ensure';
import { pick, runCommand, shot, until, webviewWith } from '../harness/page';
import { productEnvironment } from '../harness/product';
import { openWorkbench, ROOT, type Workbench } from '../harness/workbench';

const SHOTS = path.join(import.meta.dirname, 'shots');
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'rehearsal-compare-'));
const environment = productEnvironment(scratch);

describe('comparing in the workbench', function () {
  this.timeout(300_000);
  this.bail(true); // each goes on from the one before
  let workbench: Workbench;
  let page: Page;

  before(async () => {
    workbench = await openWorkbench({ workspace: path.join(ROOT, 'examples'), env: environment });
    page = workbench.page;
  });
  afterEach(async function () {
    if (this.currentTest?.state === 'failed') await shot(page, SHOTS, 'compare-window-failed');
  });
  after(async () => {
    await workbench?.stop();
    await stopServer(environment.REHEARSAL_HOME);
    fs.rmSync(scratch, { recursive: true, force: true });
  });

  const saved = () => listComparisons(comparisonsFolder(workbench.workspace));
  const comparePage = (): Promise<Frame> => webviewWith(page, '.page .figures', 180_000);
  const rows = async (frame: Frame) =>
    frame.locator('.row').evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')));

  it('holds recorded calls against their answers, without a question beyond which', async () => {
    await runCommand(page, 'Rehearsal: Compare With Real Tools');
    await pick(page, 'shop');
    await pick(page, /^All recorded calls(?!, executed)/);
    const frame = await comparePage();
    const [one] = await until(() => saved().length > 0 && saved(), 'the comparison');
    await until(async () => (await readComparison(one!.file)).complete, 'its end', 180_000);
    await until(async () => (await rows(frame)).length === 7, 'the calls');
    await until(async () => (await frame.locator('.progress[hidden]').count()) === 1, 'the end in the page');
    await shot(page, SHOTS, 'compare-window');
  });

  it('is there after the window was opened again, with the same calls', async () => {
    const frame = await comparePage();
    await frame.locator('.row').nth(4).click();
    await until(async () => (await frame.locator('.about').innerText()).includes('Call 5 of 7'), 'the call');
    const before = [
      await rows(frame),
      await frame.locator('.figure .big').allInnerTexts(),
      await frame.locator('.about').innerText(),
    ];
    await workbench.reload();
    const again = await comparePage();
    await until(async () => (await rows(again)).length === 7, 'the calls');
    await until(
      async () => (await again.locator('.about').innerText()) === before[2],
      'the call that was looked at',
    );
    assert.deepEqual(
      [await rows(again), await again.locator('.figure .big').allInnerTexts()],
      before.slice(0, 2),
    );
  });

  it('executes a task after one question, which names what would run', async () => {
    await runCommand(page, 'Rehearsal: Compare With Real Tools');
    await pick(page, 'shop');
    await pick(page, 'order-without-hash');
    const dialog = page.locator('.monaco-dialog-box');
    await dialog.waitFor({ timeout: 60_000 });
    const text = await dialog.innerText();
    for (const part of [/tools\.mjs/, /cancel_order/, /change_address/]) assert.match(text, part);
    await shot(page, SHOTS, 'compare-consent');
    await dialog.locator('.monaco-button', { hasText: /^Allow$/ }).click();
    const task = await until(
      () => saved().find(({ head }) => head.request.kind === 'tasks'),
      'the comparison',
      120_000,
    );
    const { runs } = await until(
      async () => {
        const read = await readComparison(task.file);
        return read.complete && read;
      },
      'its end',
      180_000,
    );
    assert.ok(runs[0]!.pairs.length + runs[0]!.uncompared.length > 0);
    assert.ok(runs[0]!.pairs.every(({ recorded }) => !recorded));
    assert.equal(await dialog.count(), 0, 'nobody is asked twice');
  });

  it('asks another model for the calls of that task, and executes nothing again', async () => {
    const task = saved().find(({ head }) => head.request.kind === 'tasks')!;
    const { pairs } = (await readComparison(task.file)).runs[0]!;
    assert.ok(pairs.length > 0);
    const frame = await webviewWith(page, '.page .figures');
    await frame.locator('vscode-button[aria-disabled="false"]', { hasText: 'Add Model' }).click();
    await pick(page, 'nano-novice');
    const [first, second] = await until(
      async () => {
        const { runs, complete } = await readComparison(task.file);
        return complete && runs.length === 2 && runs;
      },
      'the other model',
      180_000,
    );
    const callsOf = ({ pairs: all }: ComparisonRun) => all.map(({ index, real }) => ({ index, real }));
    assert.deepEqual(callsOf(second!), callsOf(first!));
    assert.ok(second!.pairs.every(({ durationMs }) => durationMs === null));
    await until(
      async () => (await frame.locator('th', { hasText: 'nano-novice' }).count()) > 0,
      'its column',
    );
    await shot(page, SHOTS, 'compare-two-models');
  });

  // Nobody has rehearsed them as tests here: every result is one of the real tools.
  it('keeps what the real tools said of tasks, as tests, through a reload', async () => {
    await runCommand(page, 'Rehearsal: Run Tasks and Compare With Real Tools');
    await pick(page, 'shop/shop.rehearsal.json');
    const rows = page.locator('.test-explorer .monaco-list-row');
    const verdicts = async () => {
      const shop = rows.filter({ hasText: 'shop.rehearsal.json' });
      if ((await shop.getAttribute('aria-expanded')) === 'false')
        await shop.locator('.monaco-tl-twistie').click();
      const labels = await page
        .locator('.test-explorer .monaco-list-row[aria-level="2"]')
        .evaluateAll((all) => all.map((row) => row.getAttribute('aria-label') ?? ''));
      const told = labels.map((label) => /\((Passed|Failed|Errored)\)/.exec(label)?.[1]);
      return told.length >= 6 && told.every(Boolean) && told;
    };
    await runCommand(page, 'Testing: Focus on Test Explorer View');
    const before = await until(verdicts, 'all tasks to end', 180_000);
    await shot(page, SHOTS, 'compare-tests');
    await workbench.reload();
    await runCommand(page, 'Testing: Focus on Test Explorer View');
    assert.deepEqual(await until(verdicts, 'the results after the reload'), before);
  });
});
