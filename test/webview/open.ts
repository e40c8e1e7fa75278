/**
 * Shows a bundle of the webviews in headless Chromium as VS Code would: its content security policy, its theme
 * variables, its API. Nothing is on a network: every request is answered from `dist/webview`.
 */
import fs from 'node:fs';
import path from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { FromSession, ToSession } from '../../webview/common/messages';
import { ROOT } from '../harness/workbench';
import themes from './themes.json' with { type: 'json' };

export type PanelTheme = keyof typeof themes;
export const PANEL_THEMES = Object.keys(themes) as PanelTheme[];

export interface PanelPage {
  page: Page;
  /** What the page wrote to its console as a warning or an error. */
  problems: string[];
  /** Gives the panel a message and waits until it has been drawn. */
  send(message: ToSession | unknown): Promise<void>;
  /** Another theme, as when a person chooses one while the panel is open. */
  setTheme(theme: PanelTheme): Promise<void>;
  /** What the panel sent, oldest first. */
  posted(): Promise<FromSession[]>;
  close(): Promise<void>;
}

export interface PanelOptions {
  /** Bundle of `dist/webview`; the session panel's where absent. */
  bundle?: 'session' | 'training' | 'compare';
  /** `data-` attributes of the body. */
  data?: Record<string, string>;
  /** What is there once the page has been drawn. */
  ready?: string;
  theme?: PanelTheme;
  width?: number;
  height?: number;
  context?: Parameters<Browser['newContext']>[0];
}

const ORIGIN = 'https://panel.test';
const NONCE = 'cGFuZWw';
const CLASSES: Record<PanelTheme, string> = {
  dark: 'vscode-dark',
  'dark-2026': 'vscode-dark',
  light: 'vscode-light',
  'light-modern': 'vscode-light',
  hc: 'vscode-high-contrast',
  'hc-light': 'vscode-high-contrast-light vscode-high-contrast',
};

export async function openPanel(browser: Browser, options: PanelOptions = {}): Promise<PanelPage> {
  const { theme = 'dark', width = 1036, height = 842 } = options;
  const context = await browser.newContext({ viewport: { width, height }, ...options.context });
  await serveBundle(context, html(theme, options));
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', (m) => ['warning', 'error'].includes(m.type()) && problems.push(m.text()));
  page.on('pageerror', (error) => problems.push(error.message));
  await page.goto(`${ORIGIN}/`, { timeout: 120_000 });
  await page.locator(options.ready ?? '.panel').waitFor({ timeout: 120_000 });
  const drawn = 'new Promise((ok) => requestAnimationFrame(() => requestAnimationFrame(ok)))';
  return {
    page,
    problems,
    async send(message) {
      // The panel's own listener was there before this one, so it has received the message when this one does.
      await page.evaluate(`new Promise((ok) => {
        window.addEventListener('message', ok, { once: true });
        window.postMessage(${JSON.stringify(message)}, '*');
      }).then(() => ${drawn})`);
    },
    async setTheme(next) {
      const change = `document.getElementById('theme').textContent = ${JSON.stringify(styleOf(next))};
        document.body.className = ${JSON.stringify(CLASSES[next])};`;
      await page.evaluate(change);
      await page.evaluate(drawn);
    },
    posted: () => page.evaluate('window.posted') as Promise<FromSession[]>,
    close: () => context.close(),
  };
}

async function serveBundle(context: BrowserContext, document: string): Promise<void> {
  await context.route(`${ORIGIN}/**`, (route) => {
    const name = new URL(route.request().url()).pathname;
    if (name === '/') return route.fulfill({ contentType: 'text/html', body: document });
    const file = path.join(ROOT, 'dist/webview', path.basename(name));
    return fs.existsSync(file) ? route.fulfill({ path: file }) : route.fulfill({ status: 404 });
  });
}

function styleOf(theme: PanelTheme): string {
  const variables = Object.entries({ ...FONTS, ...themes[theme] });
  return `html { ${variables.map(([name, value]) => `${name}: ${value};`).join(' ')} }`;
}

/** The page that the extension makes, with VS Code's variables written into it as VS Code does. */
function html(
  theme: PanelTheme,
  { bundle = 'session', data = { session: '/saved/session.jsonl' } }: PanelOptions,
): string {
  const attributes = Object.entries(data).map(([name, value]) => ` data-${name}="${value}"`);
  const csp = `default-src 'none'; script-src 'nonce-${NONCE}'; style-src ${ORIGIN} 'nonce-${NONCE}'; font-src ${ORIGIN}; img-src ${ORIGIN}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${csp}">
<meta property="csp-nonce" content="${NONCE}">
<title>Rehearsal</title>
<style nonce="${NONCE}">${DEFAULTS}</style>
<style nonce="${NONCE}" id="theme">${styleOf(theme)}</style>
<link rel="stylesheet" href="codicon.css">
<link rel="stylesheet" href="${bundle}.css">
</head>
<body class="${CLASSES[theme]}"${attributes.join('')} data-vscode-theme-kind="${CLASSES[theme].split(' ')[0]}">
<script nonce="${NONCE}">
window.posted = [];
let state;
window.acquireVsCodeApi = () => ({
  postMessage: (message) => window.posted.push(message),
  getState: () => state,
  setState: (next) => { state = next; },
});
</script>
<main id="app"></main>
<script nonce="${NONCE}" src="${bundle}.js"></script>
</body>
</html>`;
}

/** Those of VS Code's own rules for webviews that a page has to undo. */
const DEFAULTS = `@layer vscode-default {
  body { margin: 0; padding: 0 20px; background: transparent; color: var(--vscode-editor-foreground); }
  a, a code { color: var(--vscode-textLink-foreground); }
  a:focus { outline: 1px solid -webkit-focus-ring-color; outline-offset: -1px; }
  code { padding: 1px 3px; border-radius: 4px; background: #8883; color: #e9a; }
  kbd { padding: 1px 3px; border: 1px solid #888; border-radius: 3px; background: #8883; box-shadow: inset 0 -1px 0 #888; vertical-align: middle; }
}`;

const FONTS = {
  '--vscode-font-family': '"Segoe WPC", "Segoe UI", system-ui, "Ubuntu", "DejaVu Sans Condensed", sans-serif',
  '--vscode-font-size': '13px',
  '--vscode-font-weight': 'normal',
  '--vscode-editor-font-family': '"Cascadia Code", Menlo, Consolas, "DejaVu Sans Mono", monospace',
  '--vscode-editor-font-size': '14px',
};
