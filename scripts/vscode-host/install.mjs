/**
 * Installs the VS Code workbench (npm's code-server) and the Node it wants into a cache folder outside the
 * repository. Nothing is downloaded but npm packages. Idempotent; each finished step leaves a stamp, so that an
 * interrupted installation goes on where it stopped. Plain Node without dependencies: it runs before `npm ci`.
 *
 * usage: node scripts/vscode-host/install.mjs [--dir DIR]   (default: $VSCODE_HOST_DIR or ~/.cache/rehearsal-studio/vscode-host)
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const MINIMUM_NODE = 24; // what code-server's compiled parts are built for

/** Extensions and packages of the workbench that need an account or a network, and that nothing here uses. */
const UNUSED = [
  'node_modules/@github',
  'node_modules/@microsoft/mxc-sdk',
  ...['copilot', 'github', 'github-authentication', 'microsoft-authentication'].map((e) => `extensions/${e}`),
  ...['mermaid-markdown-features', 'tunnel-forwarding', 'terminal-suggest'].map((e) => `extensions/${e}`),
];

/** The compiled parts that the workbench cannot start without; all others are optional and left out. */
const NATIVE = ['@vscode/spdlog', '@vscode/native-watchdog'];

/** Raised when a C++ part cannot be compiled here; the message names what is missing. */
export class NativeBuildError extends Error {}

export function hostDir() {
  return process.env.VSCODE_HOST_DIR ?? path.join(os.homedir(), '.cache/rehearsal-studio/vscode-host');
}

/** Where things lie in an installed host: `node` to run it with, `entry` the server, `vscode` its workbench. */
export function hostPaths(dir = hostDir()) {
  const server = path.join(dir, 'node_modules/code-server');
  const packaged = path.join(dir, `node_modules/node-${process.platform}-${process.arch}`);
  const own = path.join(packaged, 'bin/node');
  return {
    dir,
    node: fs.existsSync(own) ? own : process.execPath,
    nodeHome: fs.existsSync(own) ? packaged : path.dirname(path.dirname(process.execPath)),
    entry: path.join(server, 'out/node/entry.js'),
    vscode: path.join(server, 'lib/vscode'),
  };
}

/** True when the host of this very lock file is completely installed in `dir`. */
export function hostReady(dir = hostDir()) {
  return readStamp(dir).done === wanted();
}

/**
 * Installs what is missing. `log(line)` is told of each step before it starts.
 * @throws {NativeBuildError} when a compiler is missing or fails; any other Error when a package cannot be had.
 */
export async function installHost({ dir = hostDir(), log = console.log } = {}) {
  if (hostReady(dir)) return hostPaths(dir);
  fs.mkdirSync(dir, { recursive: true });
  const release = await lock(dir, log);
  try {
    if (hostReady(dir)) return hostPaths(dir); // another process finished it meanwhile
    if (readStamp(dir).version !== wanted()) writeStamp(dir, { version: wanted() });
    await step(dir, 'packages', log, 'workbench packages (240 MB, about a minute)', async () => {
      for (const f of ['package.json', 'package-lock.json'])
        fs.copyFileSync(path.join(HERE, f), path.join(dir, f));
      // Its install scripts compile modules that are not needed and refuse Node 20.
      await npm(['ci', '--ignore-scripts'], dir);
    });
    const at = hostPaths(dir);
    checkNode(at);
    const env = {
      PATH: `${path.dirname(at.node)}${path.delimiter}${process.env.PATH}`,
      npm_config_nodedir: at.nodeHome,
    };
    await step(dir, 'modules', log, "the workbench's own modules (220 MB, about a minute)", () =>
      npm(['install', '--omit=dev', '--ignore-scripts'], at.vscode, env),
    );
    await step(dir, 'native', log, 'two compiled modules (one to three minutes)', () => compile(at, env));
    for (const unused of UNUSED) fs.rmSync(path.join(at.vscode, unused), { recursive: true, force: true });
    await run(at.node, [at.entry, '--config', path.join(dir, 'config.yaml'), '--version'], dir);
    writeStamp(dir, { version: wanted(), done: wanted() });
    return at;
  } finally {
    release();
  }
}

function checkNode({ node }) {
  if (node !== process.execPath || Number(process.versions.node.split('.')[0]) >= MINIMUM_NODE) return;
  throw new NativeBuildError(
    `The browser workbench needs Node ${MINIMUM_NODE} on ${process.platform}-${process.arch} and this is ${process.version}.`,
  );
}

async function compile(at, env) {
  for (const tool of ['python3', 'make', 'g++']) {
    if (!onPath(tool))
      throw new NativeBuildError(`The workbench has two modules in C++, and ${tool} is not on the PATH.`);
  }
  try {
    await npm(['rebuild', '--foreground-scripts', ...NATIVE], at.vscode, {
      ...env,
      JOBS: '2',
      MAKEFLAGS: '-j2',
    });
  } catch (error) {
    throw new NativeBuildError(`The workbench's modules in C++ do not compile here: ${error.message}`);
  }
}

function onPath(tool) {
  return (process.env.PATH ?? '').split(path.delimiter).some((d) => d && fs.existsSync(path.join(d, tool)));
}

async function step(dir, name, log, what, work) {
  const stamp = readStamp(dir);
  if (stamp[name]) return;
  log(`${what} …`);
  const started = Date.now();
  await work();
  writeStamp(dir, { ...stamp, [name]: true });
  log(`${what.split(' (')[0]}: done in ${Math.round((Date.now() - started) / 1000)} s`);
}

function wanted() {
  const hash = createHash('sha256').update(`${process.platform}-${process.arch}`);
  return hash
    .update(fs.readFileSync(path.join(HERE, 'package-lock.json')))
    .digest('hex')
    .slice(0, 16);
}

function readStamp(dir) {
  try {
    return JSON.parse(fs.readFileSync(path.join(dir, 'stamp.json'), 'utf8'));
  } catch {
    return {};
  }
}

function writeStamp(dir, stamp) {
  const file = path.join(dir, 'stamp.json');
  fs.writeFileSync(`${file}.new`, JSON.stringify(stamp));
  fs.renameSync(`${file}.new`, file);
}

/** Two installations at once would spoil each other: the second waits, unless the first one's process is gone. */
async function lock(dir, log) {
  const file = path.join(dir, 'installing.pid');
  for (let waited = false; ; waited = true) {
    try {
      fs.writeFileSync(file, String(process.pid), { flag: 'wx' });
      return () => fs.rmSync(file, { force: true });
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    if (!alive(Number(fs.readFileSync(file, 'utf8')))) fs.rmSync(file, { force: true });
    else {
      if (!waited) log('another process is installing the workbench; waiting for it …');
      await new Promise((ok) => setTimeout(ok, 1000));
    }
  }
}

function alive(pid) {
  if (!pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function npm(args, cwd, env) {
  const quiet = ['--no-audit', '--no-fund', '--no-progress', '--loglevel=error'];
  return run('npm', [...args, ...quiet], cwd, env);
}

/** Runs a command quietly; the tail of its output becomes the error's message. */
function run(command, args, cwd, env = {}) {
  return new Promise((ok, bad) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      shell: process.platform === 'win32',
    });
    let output = '';
    const keep = (data) => {
      output = (output + data).slice(-4000);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.on('error', bad);
    child.on('close', (code) =>
      code === 0 ? ok() : bad(new Error(`${command} ${args[0]} ended with ${code}:\n${output.trim()}`)),
    );
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const flag = process.argv.indexOf('--dir');
  const dir = flag > 0 ? path.resolve(process.argv[flag + 1]) : hostDir();
  installHost({ dir }).then(
    (at) => console.log(`VS Code workbench ready in ${at.dir}`),
    (error) => {
      console.error(error.message);
      process.exitCode = 1;
    },
  );
}
