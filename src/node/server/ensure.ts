/** Finding the local server, or setting it up and starting it. One for each user, whoever asks first. */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { errors, NodeError } from '../errors';
import { findServer, type Health, isAlive, PROTOCOL, type RunningServer } from './discovery';
import { installFiles, type ServerFiles } from './files';
import { type Home, homeAt, makeHome, tokenAt } from './home';
import { withLock } from './lock';
import { ensurePython } from './python';

export interface EnsureOptions {
  /** Folder of the product: the extension's, or a checkout. Holds `dist/runner.js` and `server/`. */
  sourceDir: string;
  /** One line each for people: what is being done. */
  onProgress?: (line: string) => void;
  signal?: AbortSignal;
  /** Interpreter to use, or to make the virtual environment from. Default: REHEARSAL_PYTHON, then the PATH. */
  python?: string;
  /** Folder of the server. Default: REHEARSAL_HOME, then `~/.rehearsal-studio`. */
  home?: string;
  /** Node that runs the server. Default: the one that runs this (VS Code's own included). */
  node?: string;
  /** Models to serve instead of the embedded ones, `name=path`. Only looked at when a server is started. */
  models?: readonly string[];
  /** Further arguments of the engine. */
  engineArgs?: readonly string[];
  /** The server ends with this process, and its log goes to standard error. */
  foreground?: boolean;
}

export interface Server {
  url: string;
  token: string;
  /** Names of the models, the default first. */
  models: string[];
  pid: number;
  health: Health;
}

const POLL_MS = 100;
const QUIET = () => {};

/** Returns once the server answers with a model loaded. Throws `NodeError` that says what to do. */
export async function ensureServer(options: EnsureOptions): Promise<Server> {
  const home = homeAt(options.home);
  const progress = options.onProgress ?? QUIET;
  makeHome(home);
  const files = installFiles(options.sourceDir, home);
  const found = await usable(home, files);
  if (found) return ready(found, home, progress, options.signal);
  const work = async () => (await usable(home, files)) ?? (await startServer(home, files, options));
  const waiting = async () => {
    const server = await findServer(home.root);
    return server?.build === files.build ? server : null;
  };
  progress('Looking for the server …');
  const server = await withLock(home.lock, work, waiting, options.signal).catch((error: Error) => {
    throw error.name === 'AbortError' ? errors.cancelled('Starting the server') : error;
  });
  return ready(server, home, progress, options.signal);
}

/** The running server where it may be used; an idle one that is older or other is stopped. */
async function usable(home: Home, files: ServerFiles): Promise<RunningServer | null> {
  const server = await findServer(home.root);
  if (!server || server.build === files.build) return server;
  const idle = server.health.active === 0;
  const compatible = server.health.protocol === PROTOCOL;
  if (compatible && (!idle || isNewer(server.version, files.version))) return server;
  if (!idle) throw errors.otherVersion(server.version);
  await stopServer(home.root);
  return null;
}

function isNewer(a: string, b: string): boolean {
  return a !== b && a.localeCompare(b, undefined, { numeric: true }) > 0;
}

async function startServer(home: Home, files: ServerFiles, options: EnsureOptions): Promise<RunningServer> {
  const progress = options.onProgress ?? QUIET;
  const python = await ensurePython(files.engine, home, { ...options, onProgress: progress });
  const models = options.models?.length
    ? options.models
    : files.models.map(({ name, folder }) => `${name}=${folder}`);
  if (models.length === 0) throw errors.incomplete('the embedded model');
  tokenAt(home.token);
  const args = [files.runner, '--home', home.root, '--python', python, '--engine', files.engine];
  args.push('--version', files.version, '--build', files.build);
  for (const model of models) args.push('--model', model);
  for (const more of options.engineArgs ?? []) args.push(`--engine-arg=${more}`);
  if (options.foreground) args.push('--echo');
  progress('Starting the server …');
  const out = fs.openSync(home.startLog, 'w', 0o600);
  const child = spawn(options.node ?? process.execPath, args, {
    detached: !options.foreground,
    stdio: options.foreground ? ['ignore', 'inherit', 'inherit'] : ['ignore', out, out],
    cwd: home.root,
    // VS Code's own Node is Electron, which is Node where this is set.
    env: { ...process.env, ELECTRON_RUN_AS_NODE: '1' },
    windowsHide: true,
  });
  fs.closeSync(out);
  let failure: string | null = null;
  child.once('error', (error) => {
    failure = error.message;
  });
  child.once('exit', (code) => {
    failure ??= tail(home.startLog) || `it ended with code ${code}`;
  });
  if (!options.foreground) child.unref();
  while (true) {
    if (failure !== null) throw errors.startFailed(failure, home.log);
    const server = await findServer(home.root);
    if (server && server.pid === child.pid) return server;
    if (options.signal?.aborted) {
      child.kill();
      throw errors.cancelled('Starting the server');
    }
    await sleep(POLL_MS);
  }
}

/** Waits until a model is loaded, saying what is done meanwhile. */
async function ready(
  first: RunningServer,
  home: Home,
  progress: (line: string) => void,
  signal?: AbortSignal,
): Promise<Server> {
  let server: RunningServer | null = first;
  let said = '';
  while (true) {
    if (!server) throw errors.startFailed('it ended while its model was being loaded', home.log);
    const { state, message } = server.health.engine;
    if (state === 'ready') {
      const { url, token, pid, health } = server;
      return { url, token, pid, health, models: health.models };
    }
    if (state === 'failed') {
      await stopServer(home.root);
      throw errors.startFailed(message, home.log);
    }
    if (message && message !== said) {
      said = message;
      progress(message);
    }
    if (signal?.aborted) throw errors.cancelled('Starting the server');
    await sleep(POLL_MS);
    server = await findServer(home.root);
  }
}

/** Stops the server of this user. Returns whether one ran. */
export async function stopServer(root?: string): Promise<boolean> {
  const server = await findServer(root);
  if (!server) return false;
  await fetch(`${server.url}/stop`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.token}` },
    signal: AbortSignal.timeout(5000),
  }).catch(() => {});
  for (let waited = 0; isAlive(server.pid) && waited < 10_000; waited += POLL_MS) await sleep(POLL_MS);
  if (isAlive(server.pid)) process.kill(server.pid, 'SIGKILL');
  return true;
}

function tail(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8').trim().split('\n').pop() ?? '';
  } catch {
    return '';
  }
}

export { findServer, NodeError };
