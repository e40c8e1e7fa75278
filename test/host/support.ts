/** What suites inside the extension host share. */
import * as vscode from 'vscode';
import type { DriverRequest } from '../harness/driver';

/** Asks the process that holds the browser for a click, a text, a picture; see `test/harness/driver.ts`. */
export async function driver<T = unknown>(request: DriverRequest): Promise<T> {
  const response = await fetch(process.env.HOST_DRIVER!, { method: 'POST', body: JSON.stringify(request) });
  const { value, error } = (await response.json()) as { value: T; error?: string };
  if (error) throw new Error(error);
  return value;
}

type Truthy<T> = Exclude<T, false | 0 | '' | null | undefined>;

/** Waits until `condition` gives a truthy value, and gives it. */
export async function until<T>(
  condition: () => T | Promise<T>,
  what: string,
  timeout = 20_000,
): Promise<Truthy<T>> {
  const end = Date.now() + timeout;
  for (;;) {
    const value = await condition();
    if (value) return value as Truthy<T>;
    if (Date.now() > end) throw new Error(`Waited in vain for ${what}`);
    await new Promise((ok) => setTimeout(ok, 30));
  }
}

/** Switches the colour theme and waits until the workbench shows it. */
export async function setTheme(theme: 'dark' | 'light' | 'hc'): Promise<void> {
  const id = { dark: 'Dark 2026', light: 'Light 2026', hc: 'Default High Contrast' }[theme];
  const settings = vscode.workspace.getConfiguration('workbench');
  await settings.update('colorTheme', id, vscode.ConfigurationTarget.Global);
  const shows = { dark: 'vs-dark', light: 'vs', hc: 'hc-black' }[theme];
  await until(() => driver({ op: 'count', selector: `.monaco-workbench.${shows}` }), `the theme ${id}`);
}
