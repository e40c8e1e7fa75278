/** Where the examples open: desktop VS Code, the VS Code that this remote terminal belongs to, or a browser. */
import path from 'node:path';
import { must, ROOT, which } from '../lib/process.mjs';

export const EXAMPLES = path.join(ROOT, 'examples');

/** Tells the extension to show its view and walkthrough, the first time in a profile. */
export const WELCOME = { REHEARSAL_WELCOME: '1' };

/** @returns {{kind: 'desktop' | 'remote', code: string} | {kind: 'browser'}} */
export function chooseEditor({ browser = false, env = process.env, find = which } = {}) {
  const code = find('code');
  if (browser || !code) return { kind: 'browser' };
  return { kind: env.VSCODE_IPC_HOOK_CLI ? 'remote' : 'desktop', code };
}

/** Opens a window of desktop VS Code that loads the extension from this folder. */
export async function openDesktop({ code }, log) {
  await must(code, [`--extensionDevelopmentPath=${ROOT}`, EXAMPLES], { env: WELCOME });
  log('VS Code opens examples/. Next: run "Rehearsal: Start Rehearsal Session" from its command palette.');
}

/** In a remote terminal `code` ignores development folders: the packaged extension is installed instead. */
export async function openRemote({ code }, log) {
  const { makePackage, packaged, vsixPath } = await import('../lib/package.mjs');
  if (!packaged()) {
    log('packaging the extension …');
    await makePackage();
  }
  await must(code, ['--install-extension', vsixPath(), '--force']);
  await must(code, [EXAMPLES]);
  log('The extension is installed in this VS Code, and examples/ opens in a window of it.');
}
