/** What a person does in the workbench, as functions over a Playwright page. */
import fs from 'node:fs';
import path from 'node:path';
import type { Frame, Locator, Page } from 'playwright-core';

/** Generous: a busy machine is no failure. */
const WAIT_MS = 60_000;

/** Opens the command palette with `text` typed and gives the row whose label contains it. */
export async function palette(page: Page, text: string): Promise<Locator> {
  return withPalette(page, text, async (row) => row);
}

/** Runs a command from the palette by (a part of) its label. */
export async function runCommand(page: Page, label: string): Promise<void> {
  await withPalette(page, label, (row) => row.click({ timeout: 3000 }));
}

/**
 * The list is not refreshed when an extension registers late, and a view that takes the focus closes it: the
 * palette is closed and opened until the command is there and can be used.
 */
async function withPalette<T>(page: Page, text: string, use: (row: Locator) => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      await page.keyboard.press('F1');
      const input = page.locator('.quick-input-widget input').first();
      await input.waitFor({ state: 'visible', timeout: 10_000 });
      await input.fill(`>${text}`, { timeout: 3000 });
      const row = page.locator('.quick-input-list .monaco-list-row').filter({ hasText: text }).first();
      await row.waitFor({ timeout: 4000 });
      return await use(row);
    } catch (error) {
      if (attempt >= 10) throw error;
      await page.keyboard.press('Escape');
    }
  }
}

/** Chooses the row with `text` in the quick pick that is open. */
export async function pick(page: Page, text: string | RegExp, timeout = WAIT_MS): Promise<void> {
  await page
    .locator('.quick-input-list .monaco-list-row')
    .filter({ hasText: text })
    .first()
    .click({ timeout });
}

/** Opens a file of the workspace through quick open. */
export async function openFile(page: Page, name: string): Promise<void> {
  await page.keyboard.press('Control+P');
  const input = page.locator('.quick-input-widget input').first();
  await input.waitFor({ state: 'visible', timeout: WAIT_MS });
  await input.fill(name);
  await pick(page, path.basename(name));
  await page
    .locator('.tab.active')
    .filter({ hasText: path.basename(name) })
    .first()
    .waitFor({ timeout: WAIT_MS });
}

/** Opens the shop's environment, and waits until the extension has a play button for it: F5 starts it from then on. */
export async function openEnvironment(page: Page): Promise<void> {
  await openFile(page, 'shop.rehearsal.json');
  await page.locator('.editor-actions [aria-label*="Start Rehearsal Session"]').first().waitFor();
  await page.locator('.editor-instance .monaco-editor.focused').first().waitFor();
}

/** The webview that contains `selector`, however many are open. */
export async function webviewWith(page: Page, selector: string, timeout = WAIT_MS): Promise<Frame> {
  const end = Date.now() + timeout;
  for (;;) {
    for (const frame of page.frames()) {
      if (frame.name() !== 'active-frame' && !frame.url().includes('fake.html')) continue;
      if (
        (await frame
          .locator(selector)
          .count()
          .catch(() => 0)) > 0
      )
        return frame;
    }
    if (Date.now() > end)
      throw new Error(
        `No webview shows ${selector} (frames: ${page
          .frames()
          .map((f) => f.url())
          .join(', ')})`,
      );
    await page.waitForTimeout(100);
  }
}

/** Saves a picture of the whole window as `<dir>/<name>.png`. */
export async function shot(page: Page, dir: string, name: string): Promise<void> {
  fs.mkdirSync(dir, { recursive: true });
  await page.screenshot({ path: path.join(dir, `${name}.png`) });
}

/** Text of the notifications that are shown. */
export async function notifications(page: Page): Promise<string[]> {
  return page.locator('.notification-list-item-message').allInnerTexts();
}

/** Notes what notifications say as they come, since each is shown for some seconds only; for `beforeLoad`. */
export async function hearNotifications(page: Page): Promise<void> {
  await page.addInitScript(`
    window.heard = new Set();
    new MutationObserver(() => {
      for (const one of document.querySelectorAll('.notification-list-item-message'))
        if (one.textContent) window.heard.add(one.textContent);
    }).observe(document, { childList: true, subtree: true, characterData: true });`);
}

/** Every notification since the window was loaded, whether it is still shown or not; needs `hearNotifications`. */
export async function heard(page: Page): Promise<string[]> {
  return (await page.evaluate('[...window.heard]')) as string[];
}

type Truthy<T> = Exclude<T, false | 0 | '' | null | undefined>;

/** Waits until `condition` gives a truthy value, and gives it. */
export async function until<T>(
  condition: () => T | Promise<T>,
  what: string,
  timeout = WAIT_MS,
): Promise<Truthy<T>> {
  const end = Date.now() + timeout;
  for (;;) {
    const value = await condition();
    if (value) return value as Truthy<T>;
    if (Date.now() > end) throw new Error(`Waited in vain for ${what}`);
    await new Promise((ok) => setTimeout(ok, 50));
  }
}
