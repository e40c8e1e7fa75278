/** VS Code's workbench in the person's own browser, for machines that have no `code`. */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { ROOT } from '../lib/process.mjs';
import { hostDir, installHost, NativeBuildError } from '../vscode-host/install.mjs';
import { linkExtension, serveWorkbench } from '../vscode-host/serve.mjs';
import { EXAMPLES, WELCOME } from './editor.mjs';
import { writeLogin, writeSettings } from './profile.mjs';

/** Serves the workbench until Ctrl+C; says its address and password. */
export async function openBrowserWorkbench(log) {
  try {
    await installHost({ log });
  } catch (error) {
    const why =
      error instanceof NativeBuildError ? '' : 'The workbench for the browser could not be installed. ';
    throw new Error(
      `${why}${error.message}\n\nWhat works without it: npm start -- --headless steps a rehearsal in this terminal, ` +
        "and with desktop VS Code's `code` on the PATH, npm start opens that.",
    );
  }
  const dataDir = path.join(path.dirname(hostDir()), 'workbench');
  const extensionsDir = path.join(dataDir, 'extensions');
  const state = readState(dataDir);
  if (state.pid && alive(state.pid) && !(await free(state.port))) {
    tell(state, log);
    return log(`It is served by an earlier npm start (process ${state.pid}).`);
  }
  linkExtension(extensionsDir, ROOT, 'rehearsal-studio');
  // Where VS Code keeps manifests: after a pull, the first window would have the old package.json.
  fs.rmSync(path.join(dataDir, 'CachedProfilesData'), { recursive: true, force: true });
  writeSettings(dataDir);
  const password = state.password ?? randomBytes(12).toString('base64url');
  const port = state.port && (await free(state.port)) ? state.port : 0; // the same address, so that an open tab reconnects
  const args = ['--app-name', 'Rehearsal Studio', '--i18n', writeLogin(dataDir)];
  const served = await serveWorkbench({ dataDir, extensionsDir, password, port, args, env: WELCOME });
  const now = { pid: process.pid, port: served.port, password };
  fs.writeFileSync(stateFile(dataDir), JSON.stringify(now), { mode: 0o600 });
  tell(now, log);
  log('Ctrl+C ends the workbench; the server goes on (stop it with: node dist/cli.js serve --stop).');
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => void served.stop());
  await served.exited;
}

function tell({ port, password }, log) {
  log('VS Code is ready in your browser:');
  console.log(
    `\n    http://127.0.0.1:${port}/?folder=${encodeURIComponent(EXAMPLES)}\n    password: ${password}\n`,
  );
}

const stateFile = (dataDir) => path.join(dataDir, 'served.json');

function readState(dataDir) {
  try {
    return JSON.parse(fs.readFileSync(stateFile(dataDir), 'utf8'));
  } catch {
    return {};
  }
}

function alive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function free(port) {
  return new Promise((ok) => {
    const probe = net.createServer();
    probe.once('error', () => ok(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => ok(true)));
  });
}
