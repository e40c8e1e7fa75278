import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { hostReady } from '../../scripts/vscode-host/install.mjs';
import {
  installExtension,
  linkExtension,
  type ServedWorkbench,
  serveWorkbench,
} from '../../scripts/vscode-host/serve.mjs';
import { pick, runCommand } from './page';

export const ROOT = path.resolve(import.meta.dirname, '../..');

/** The colour themes that every screen is looked at in. */
export const THEMES = {
  dark: { id: 'Dark 2026', label: 'Dark 2026', shows: 'vs-dark' },
  light: { id: 'Light 2026', label: 'Light 2026', shows: 'vs' },
  hc: { id: 'Default High Contrast', label: 'Dark High Contrast', shows: 'hc-black' },
} as const;
export type Theme = keyof typeof THEMES;

/** Settings that keep the workbench still: no tips, no network, no dialogs. */
const QUIET = {
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
  'workbench.enableExperiments': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.welcomePage.walkthroughs.openOnInstall': false,
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'extensions.autoUpdate': false,
  'extensions.autoCheckUpdates': false,
  'extensions.ignoreRecommendations': true,
  'remote.autoForwardPorts': false,
  'security.workspace.trust.enabled': false,
  'git.enabled': false,
  'git.openRepositoryInParentFolders': 'never',
  'npm.autoDetect': 'off',
  'typescript.disableAutomaticTypeAcquisition': true,
  'chat.disableAIFeatures': true,
  'window.menuBarVisibility': 'compact',
  'window.confirmBeforeClose': 'never',
  'editor.minimap.enabled': false,
  'debug.toolBarLocation': 'floating',
  'files.autoSave': 'off',
};

export interface WorkbenchOptions {
  /** Folder to open; it is copied first, so that a run never changes the repository. */
  workspace: string;
  theme?: Theme;
  settings?: Record<string, unknown>;
  env?: Record<string, string | undefined>;
  viewport?: { width: number; height: number };
  /**
   * `linked`: as if installed, notifications show; `development`: the way that `extensionTestsPath` needs;
   * or the path of a `.vsix` to install.
   */
  extension?: 'linked' | 'development' | (string & {});
  /** Folders of further extensions. */
  others?: string[];
  /** Whether the workspace is one that nobody trusted yet, as VS Code opens a folder for the first time. */
  untrusted?: boolean;
  /** Module whose `run()` the extension host calls; needs `extension: 'development'`. */
  tests?: string;
  /** Called with the page before it loads anything. */
  beforeLoad?(page: Page): Promise<void>;
}

export interface Workbench {
  page: Page;
  /** The copied workspace folder. */
  workspace: string;
  server: ServedWorkbench;
  /** What the page wrote to its console as an error. */
  errors: string[];
  setTheme(theme: Theme): Promise<void>;
  /** Loads the page again: what a person does who closes the window and opens it once more. */
  reload(): Promise<void>;
  stop(): Promise<void>;
}

function missingParts(): string | undefined {
  if (!hostReady()) return 'the VS Code workbench is not installed (node scripts/vscode-host/install.mjs)';
  if (!chromiumPath()) return 'Chromium is not installed (apt-get install chromium)';
  return undefined;
}

function chromiumPath(): string | undefined {
  const places = [
    process.env.CHROMIUM_PATH,
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
    '/usr/bin/google-chrome',
  ];
  return places.find((p) => p && fs.existsSync(p));
}

/** Starts a workbench with the extension in it and a headless browser that shows it. */
export async function openWorkbench(options: WorkbenchOptions): Promise<Workbench> {
  const missing = missingParts();
  if (missing) throw new Error(missing);
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'rehearsal-workbench-'));
  const workspace = path.join(dir, 'work', path.basename(options.workspace));
  fs.cpSync(options.workspace, workspace, { recursive: true });
  const at = { data: path.join(dir, 'data'), extensions: path.join(dir, 'extensions') };
  const settingsFile = path.join(at.data, 'User/settings.json');
  const settings = {
    ...QUIET,
    'workbench.colorTheme': THEMES[options.theme ?? 'dark'].id,
    ...(options.untrusted && {
      'security.workspace.trust.enabled': true,
      'security.workspace.trust.startupPrompt': 'never',
    }),
    ...options.settings,
  };
  fs.mkdirSync(path.dirname(settingsFile), { recursive: true });
  fs.writeFileSync(settingsFile, JSON.stringify(settings, null, 2));

  const extension = options.extension ?? 'linked';
  const development = extension === 'development';
  const args = options.untrusted ? [] : ['--disable-workspace-trust'];
  if (development) args.push('--vscode-option', 'enable-smoke-test-driver');
  else if (extension === 'linked') linkExtension(at.extensions, ROOT, 'rehearsal-studio');
  else await installExtension({ dataDir: at.data, extensionsDir: at.extensions, vsix: extension });
  for (const other of options.others ?? []) linkExtension(at.extensions, other, path.basename(other));
  const env = { ...homeIn(dir), ...options.env };
  let server: ServedWorkbench | undefined;
  let browser: Browser | undefined;
  const stop = async () => {
    await browser?.close();
    await server?.stop();
    fs.rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    // Whichever of them fails, the other one is ended too.
    const [served, launched] = await Promise.allSettled([
      serveWorkbench({ dataDir: at.data, extensionsDir: at.extensions, args, env }),
      launchBrowser(),
    ]);
    if (served.status === 'fulfilled') server = served.value;
    if (launched.status === 'fulfilled') browser = launched.value;
    if (served.status === 'rejected') throw served.reason;
    if (launched.status === 'rejected') throw launched.reason;
    [server, browser] = [served.value, launched.value];
    const context = await browser.newContext({ viewport: options.viewport ?? { width: 1440, height: 900 } });
    const page = await context.newPage();
    const errors: string[] = [];
    page.on('console', (m) => m.type() === 'error' && errors.push(m.text()));
    page.on('pageerror', (e) => errors.push(e.message));
    await options.beforeLoad?.(page);
    const url = address(server.port, workspace, development, options.tests);
    // A theme of an extension is applied once extensions are registered: commands exist from then on.
    const ready = () =>
      page.locator('.monaco-workbench[class*="vscode-theme-"]').waitFor({ timeout: 120_000 });
    await page.goto(url, { timeout: 120_000, waitUntil: 'domcontentloaded' });
    await ready();
    // By VS Code's own command, which saves what is open; a page that is just left may not get to that.
    const reload = async () => {
      const left = page.waitForEvent('domcontentloaded', { timeout: 120_000 });
      await runCommand(page, 'Developer: Reload Window');
      await left;
      await ready();
    };
    const setTheme = async (theme: Theme) => {
      const { label, shows } = THEMES[theme];
      // The list of themes closes when something else takes the focus; then it is opened again.
      for (let attempt = 0; ; attempt++) {
        try {
          await runCommand(page, 'Preferences: Color Theme');
          await page.locator('.quick-input-widget input').first().fill(label, { timeout: 3000 });
          await pick(page, label, 3000);
          return await page.locator(`.monaco-workbench.${shows}`).waitFor({ timeout: 10_000 });
        } catch (error) {
          if (attempt === 5) throw error;
          await page.keyboard.press('Escape');
        }
      }
    };
    return { page, workspace, server, errors, setTheme, reload, stop };
  } catch (error) {
    if (server) console.error(server.output().slice(-3000));
    await stop();
    throw error;
  }
}

/** A home of its own, so that a run neither sees nor leaves anything in the person's. */
function homeIn(dir: string): Record<string, string> {
  const names = [
    'HOME',
    'TMPDIR',
    'XDG_RUNTIME_DIR',
    'XDG_CONFIG_HOME',
    'XDG_DATA_HOME',
    'XDG_CACHE_HOME',
    'XDG_STATE_HOME',
  ];
  return Object.fromEntries(names.map((n) => [n, dir]));
}

function address(port: number, folder: string, development: boolean, tests?: string): string {
  const host = `localhost:${port}`;
  const uri = (p: string) => `vscode-remote://${host}${p}`;
  const payload = [];
  if (development) payload.push(['extensionDevelopmentPath', uri(ROOT)]);
  if (tests) payload.push(['extensionTestsPath', uri(tests)]);
  const query = new URLSearchParams({ folder });
  if (payload.length) query.set('payload', JSON.stringify(payload));
  return `http://${host}/?${query}`;
}

export async function launchBrowser(): Promise<Browser> {
  const flags = [
    'no-sandbox',
    'disable-gpu',
    'disable-quic',
    'no-first-run',
    'disable-background-networking',
  ];
  flags.push('disable-component-update', 'disable-sync', 'disable-dev-shm-usage');
  const executablePath = chromiumPath();
  return chromium.launch({
    ...(executablePath && { executablePath }),
    headless: true,
    args: flags.map((f) => `--${f}`),
  });
}
