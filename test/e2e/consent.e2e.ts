/** The consent to a real tool, in the workbench: what it says, and what its buttons do. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { openFile, shot, until } from '../harness/page';
import { openWorkbench, ROOT, type Theme, type Workbench } from '../harness/workbench';

const SHOTS = path.join(import.meta.dirname, 'shots');
const DIALOG = '.monaco-dialog-box';

describe('the consent to a real tool', function () {
  this.bail(true); // each goes on from the one before
  let workbench: Workbench;

  before(async () => {
    workbench = await openWorkbench({ workspace: path.join(ROOT, 'examples') });
  });
  after(() => workbench?.stop());

  /** Over the first recorded call of the shop. */
  const execute = () => workbench.page.locator('.codelens-decoration a:has-text("Execute")').first().click();
  const dialog = () => workbench.page.locator(DIALOG);

  it('says what would run, where and with which arguments, in every theme; Cancel runs nothing', async () => {
    const { page } = workbench;
    await openFile(page, 'shop/calls.jsonl');
    await page.locator('.codelens-decoration').first().waitFor({ timeout: 120_000 });
    await execute();
    await dialog().waitFor({ timeout: 60_000 });
    const said = await dialog().innerText();
    for (const part of [
      'Execute get_order for real?',
      'tools.mjs',
      'shop',
      '"order_id": "#W4284542"',
      'Allow',
    ])
      assert.ok(said.includes(part), `${part} in ${said}`);
    await shot(page, SHOTS, 'consent-dark');
    await dialog().getByRole('button', { name: 'Cancel' }).click();
    await dialog().waitFor({ state: 'detached' });
    for (const theme of ['light', 'hc'] satisfies Theme[]) {
      await workbench.setTheme(theme);
      await execute();
      await dialog().waitFor({ timeout: 60_000 });
      await shot(page, SHOTS, `consent-${theme}`);
      await dialog().getByRole('button', { name: 'Cancel' }).click();
      await dialog().waitFor({ state: 'detached' });
    }
    await workbench.setTheme('dark');
    assert.equal(await page.locator('.tab:has-text("get_order (real)")').count(), 0);
  });

  it('runs the call once allowed, and is not asked for again', async () => {
    const { page } = workbench;
    await execute();
    await dialog().getByRole('button', { name: 'Allow', exact: true }).click({ timeout: 60_000 });
    const tab = page.locator('.tab:has-text("get_order (real)")');
    await tab.first().waitFor({ timeout: 60_000 });
    // The editor writes its spaces so that no browser breaks lines at them.
    const lines = async () => (await page.locator('.view-lines').allInnerTexts()).join('\n');
    await until(async () => /real\sresult/.test(await lines()), 'the answer');
    await shot(page, SHOTS, 'executed-call-dark');
    await tab.first().click({ button: 'middle' }); // closes it
    await tab.first().waitFor({ state: 'hidden' });
    await execute();
    await tab.first().waitFor();
    assert.equal(await dialog().count(), 0);
  });
});
