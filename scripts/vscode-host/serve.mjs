/**
 * Starts an installed workbench on loopback. Used by `npm start` (for a person, with a password) and by the test
 * harness (for a browser that it drives).
 */
import { execFile, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { hostPaths } from './install.mjs';

const START_LIMIT_MS = 90_000;

/** Variables of a VS Code around us would make this one talk to that one. */
const foreign = (name) => /^(VSCODE_|ELECTRON_)/.test(name) && name !== 'VSCODE_HOST_DIR';

/**
 * @param {object} options
 * @param {string} options.dataDir      folder of its settings and state; made when missing
 * @param {string} options.extensionsDir
 * @param {string} [options.password]   without one, whoever reaches the port is let in: for tests only
 * @param {number} [options.port]       0, the default, takes a free one
 * @param {string[]} [options.args]     further arguments of code-server
 * @param {Record<string, string | undefined>} [options.env]
 * @returns {Promise<{port: number, pid: number, output: () => string, exited: Promise<number>, stop: () => Promise<void>}>}
 */
export async function serveWorkbench({ dataDir, extensionsDir, password, port = 0, args = [], env = {} }) {
  const host = hostPaths();
  for (const dir of [dataDir, extensionsDir]) fs.mkdirSync(dir, { recursive: true });
  const config = path.join(dataDir, 'config.yaml');
  const auth = password ? `auth: password\npassword: ${JSON.stringify(password)}\n` : 'auth: none\n';
  fs.writeFileSync(config, auth, { mode: 0o600 });
  const childEnv = {
    ...process.env,
    ...env,
    PATH: `${path.dirname(host.node)}${path.delimiter}${process.env.PATH}`,
  };
  for (const name of Object.keys(childEnv))
    if (foreign(name) || childEnv[name] === undefined) delete childEnv[name];
  const child = spawn(
    host.node,
    [
      ...[host.entry, '--config', config, '--bind-addr', `127.0.0.1:${port}`],
      ...['--user-data-dir', dataDir, '--extensions-dir', extensionsDir],
      ...['--disable-telemetry', '--disable-update-check', '--disable-getting-started-override'],
      ...['--ignore-last-opened', '--vscode-option', 'force-disable-user-env', ...args],
    ],
    { env: childEnv, detached: true, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let output = '';
  const exited = new Promise((ok) => child.once('exit', (code) => ok(code ?? 1)));
  const signal = (name) => {
    try {
      process.kill(-child.pid, name); // its own process group: the extension hosts it forked end with it
    } catch {
      // already gone
    }
  };
  const stop = async () => {
    signal('SIGTERM');
    const late = setTimeout(() => signal('SIGKILL'), 4000);
    await exited;
    clearTimeout(late);
    signal('SIGKILL');
  };
  const listening = new Promise((ok, bad) => {
    const read = (data) => {
      output = (output + data).slice(-200_000);
      const at = /listening on https?:\/\/127\.0\.0\.1:(\d+)/i.exec(output);
      if (at) ok(Number(at[1]));
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('error', bad);
    exited.then((code) => bad(new Error(`The workbench ended with ${code} before it listened.\n${output}`)));
    setTimeout(() => bad(new Error(`The workbench did not start.\n${output}`)), START_LIMIT_MS).unref();
  });
  try {
    return { port: await listening, pid: child.pid, output: () => output, exited, stop };
  } catch (error) {
    signal('SIGKILL');
    throw error;
  }
}

/** Makes the extension in `folder` look installed: VS Code scans the folder anew when its list is missing. */
export function linkExtension(extensionsDir, folder, name) {
  fs.mkdirSync(extensionsDir, { recursive: true });
  const link = path.join(extensionsDir, name);
  fs.rmSync(link, { force: true });
  fs.symlinkSync(folder, link, 'dir');
  fs.rmSync(path.join(extensionsDir, 'extensions.json'), { force: true });
}

/** Installs a packaged extension, the way a person's `code --install-extension` does. */
export async function installExtension({ dataDir, extensionsDir, vsix }) {
  const host = hostPaths();
  const where = [
    '--user-data-dir',
    dataDir,
    '--extensions-dir',
    extensionsDir,
    '--config',
    path.join(dataDir, 'config.yaml'),
  ];
  await promisify(execFile)(host.node, [host.entry, ...where, '--install-extension', vsix]);
}
