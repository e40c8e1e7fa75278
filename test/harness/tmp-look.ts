import fs from 'node:fs';
import path from 'node:path';
import { notifications, openFile, runCommand, shot } from './page';
import { productEnvironment } from './product';
import { openWorkbench as untrusted } from './tmp-trust';
import { openWorkbench, ROOT } from './workbench';

const out = '/tmp/look-b';
fs.mkdirSync(out, { recursive: true });
let w = await openWorkbench({
  workspace: path.join(ROOT, 'examples/flights'),
  extension: 'linked',
  env: productEnvironment(out),
  theme: 'light',
});
let { page } = w;
const step = async (name: string, f: () => Promise<unknown>) => {
  try {
    await f();
    console.log('ok', name);
  } catch (e) {
    console.log('FAIL', name, (e as Error).message.slice(0, 400));
  }
  await shot(page, out, name);
};
await step('r1-run', async () => {
  await openFile(page, 'flights.rehearsal.json');
  await runCommand(page, 'Rehearsal: Run Tasks');
  await page
    .locator('.testing-run-glyph')
    .first()
    .waitFor({ timeout: 1000 })
    .catch(() => {});
  await runCommand(page, 'Rehearsal: Focus on Environments View');
  await page
    .locator('.pane:has(.title:text-is("Environments")) .monaco-list-row')
    .filter({ hasText: /[01]\/1/ })
    .nth(2)
    .waitFor({ timeout: 200000 });
});
await step('r2-reloaded', async () => {
  await page.waitForTimeout(2000);
  await w.reload();
  await runCommand(page, 'Rehearsal: Focus on Environments View');
  await page
    .locator('.pane:has(.title:text-is("Environments")) .monaco-list-row')
    .filter({ hasText: /[01]\/1/ })
    .nth(2)
    .waitFor({ timeout: 90000 });
  await page
    .locator('.testing-run-glyph, .codicon-testing-failed-icon, .codicon-testing-passed-icon')
    .first()
    .waitFor({ timeout: 20000 })
    .catch((e) => console.log('no glyph'));
  await runCommand(page, 'Test: Focus on Test Explorer View').catch(() => {});
});
await step('r3-goto', async () => {
  await page.keyboard.press('Escape');
  await runCommand(page, 'Test: Go to Next Test Failure');
  await page.waitForTimeout(3000);
});
await w.stop();
w = await untrusted({
  workspace: path.join(ROOT, 'examples/flights'),
  extension: 'linked',
  env: productEnvironment(out),
});
page = w.page;
await step('u1-untrusted', async () => {
  await openFile(page, 'flights.rehearsal.json');
  await page.waitForTimeout(5000);
  await runCommand(page, 'Rehearsal: Focus on Environments View');
  await page.waitForTimeout(3000);
});
console.log(await notifications(page).catch(() => []));
await w.stop();
process.exit(0);
