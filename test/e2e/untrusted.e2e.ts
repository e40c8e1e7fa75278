/** A window that nobody trusted: environments can be read, nothing of them runs, and trusting the folder changes that. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { stopServer } from '../../src/node/server/ensure';
import { heard, hearNotifications, openFile, runCommand, shot, until } from '../harness/page';
import { productEnvironment } from '../harness/product';
import { openWorkbench, ROOT, type Workbench } from '../harness/workbench';

const SHOTS = path.join(import.meta.dirname, 'shots');
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'rehearsal-untrusted-'));
const environment = productEnvironment(scratch);

describe('a window that is not trusted', function () {
  this.timeout(240_000);
  this.bail(true); // each goes on from the one before
  let workbench: Workbench;
  let page: Page;

  before(async () => {
    workbench = await openWorkbench({
      workspace: path.join(ROOT, 'examples'),
      env: environment,
      untrusted: true,
      beforeLoad: hearNotifications,
    });
    page = workbench.page;
  });
  afterEach(async function () {
    if (this.currentTest?.state === 'failed') await shot(page, SHOTS, 'untrusted-failed');
  });
  after(async () => {
    await workbench?.stop();
    await stopServer(environment.REHEARSAL_HOME!);
    fs.rmSync(scratch, { recursive: true, force: true });
  });

  it('shows an environment and its lenses, and runs no real tool', async () => {
    await openFile(page, 'shop.rehearsal.json');
    const execute = page.locator('.codelens-decoration a', { hasText: 'Execute' }).first();
    await execute.waitFor({ timeout: 60_000 });
    await execute.click();
    await until(
      async () => (await heard(page)).some((text) => /not trusted, so nothing runs/.test(text)),
      'why nothing runs',
    );
    await shot(page, SHOTS, 'untrusted');
    assert.equal(await page.locator('.monaco-dialog-box').count(), 0, 'no consent is asked for');
    assert.equal(fs.existsSync(path.join(workbench.workspace, '.rehearsal')), false);
    assert.equal(fs.existsSync(environment.REHEARSAL_HOME!), false, 'no server was started');
  });

  it('offers to trust the folder, and asks for the call once it is trusted', async () => {
    await runCommand(page, 'Notifications: Show Notifications'); // it may have faded by now
    await page
      .locator('.notifications-center .notification-list-item', { hasText: 'not trusted' })
      .getByText('Manage Workspace Trust')
      .click();
    await page.locator('.workspace-trust-editor').getByText('Trust', { exact: true }).first().click();
    await runCommand(page, 'View: Close Editor');
    await until(async () => {
      await page.locator('.codelens-decoration a', { hasText: 'Execute' }).first().click();
      return (await page.locator('.quick-input-widget:visible').count()) > 0;
    }, 'the question which arguments');
    await shot(page, SHOTS, 'untrusted-then-trusted');
  });
});
