/** What the checks against real servers share: an environment of their own, a server, a log without this machine's paths. */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { capture, must, ROOT } from './process.mjs';

/** Where what a check installs stays for the next time. */
export function cacheFolder(name) {
  const base = process.env.XDG_CACHE_HOME ?? path.join(os.homedir(), '.cache');
  const folder = path.join(base, 'rehearsal-studio/checks', name);
  fs.mkdirSync(folder, { recursive: true });
  return folder;
}

/** Runs `steps` once: `venv` is the Python of an environment in `folder`. */
export async function installOnce(folder, python, log, steps) {
  const venv = path.join(folder, 'venv/bin/python');
  const stamp = path.join(folder, 'installed');
  if (fs.existsSync(stamp)) return venv;
  log(`installing into ${path.basename(folder)} of the cache folder; this takes minutes …`);
  if (!fs.existsSync(venv)) await must(python, ['-m', 'venv', path.join(folder, 'venv')]);
  await steps(venv, (...args) => must(venv, ['-m', 'pip', 'install', '--quiet', ...args]));
  fs.writeFileSync(stamp, new Date().toISOString());
  return venv;
}

/** Requirements of a wheel in `folder`, as lines for pip: those of `extras`, without the packages in `without`. */
export async function requirements(venv, folder, { extras = [], without = [], instead = {} } = {}) {
  const program = `
import email, json, sys, zipfile
from pathlib import Path
from packaging.requirements import Requirement
folder, extras, without, instead = json.loads(sys.argv[1])
wheel = next(Path(folder).glob("*.whl"))
files = zipfile.ZipFile(wheel)
name = next(n for n in files.namelist() if n.endswith(".dist-info/METADATA"))
for line in email.message_from_bytes(files.read(name)).get_all("Requires-Dist"):
    found = Requirement(line)
    wanted = not found.marker or any(found.marker.evaluate({"extra": e}) for e in ["", *extras])
    if wanted and found.name.lower() not in without:
        found.marker = None
        print(instead.get(found.name.lower(), found))
`;
  const { code, output } = await capture(venv, [
    '-c',
    program,
    JSON.stringify([folder, extras, without, instead]),
  ]);
  if (code !== 0) throw new Error(output);
  return output.trim().split('\n');
}

/** Starts a server and waits until `ready` answers with 200. `stop` ends it and what it started. */
export async function startServer(command, args, { env, cwd, logFile, ready, seconds = 900 }) {
  const out = fs.openSync(logFile, 'w');
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', out, out],
    detached: true,
  });
  let ended = false;
  child.once('close', () => {
    ended = true;
  });
  const stop = async () => {
    if (ended) return;
    process.kill(-child.pid, 'SIGTERM');
    for (let i = 0; i < 40 && !ended; i++) await pause(250);
    if (!ended) process.kill(-child.pid, 'SIGKILL');
  };
  const started = Date.now();
  for (;;) {
    if (ended)
      throw new Error(`${path.basename(command)} ended: ${fs.readFileSync(logFile, 'utf8').slice(-3000)}`);
    if (Date.now() - started > seconds * 1000) {
      await stop();
      throw new Error(`${path.basename(command)} was not ready after ${seconds} s; its log: ${logFile}`);
    }
    try {
      if ((await fetch(ready)).ok) return { stop, seconds: Math.round((Date.now() - started) / 1000) };
    } catch {
      // not yet
    }
    await pause(500);
  }
}

/** Our engine with learning, from this checkout. */
export async function startEngine(python, models, runs, ...more) {
  const port = await freePort();
  const named = Object.entries(models).flatMap(([name, folder]) => ['--model', `${name}=${folder}`]);
  const args = ['-m', 'rehearsal_engine', ...named, '--device', 'cpu', '--port', String(port)];
  const baseUrl = `http://127.0.0.1:${port}`;
  const server = await startServer(python, [...args, '--checkpoints', runs, ...more], {
    cwd: path.join(ROOT, 'server/engine'),
    logFile: `${runs}.log`,
    ready: `${baseUrl}/health`,
  });
  return { baseUrl, stop: server.stop };
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** A port that was free a moment ago. */
export async function freePort() {
  const { createServer } = await import('node:net');
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** What a check says, on the terminal and in `docs/checks/NAME.md`. */
export class Report {
  lines = [];
  failed = 0;

  constructor(name, title, versions) {
    this.file = path.join(ROOT, 'docs/checks', `${name}.md`);
    this.head = [
      `# ${title}`,
      '',
      `The output of \`npm run check:${name}\`, run by hand on ${new Date().toISOString().slice(0, 10)}.`,
      '',
      ...Object.entries(versions).map(([what, version]) => `- ${what} ${version}`),
      `- ${os.cpus().length} cores, ${Math.round(os.totalmem() / 2 ** 30)} GiB, ${os.platform()}`,
      '',
      '```',
    ];
    for (const line of this.head.slice(4, -1)) console.log(line);
  }

  say(line) {
    console.log(line);
    this.lines.push(line);
  }

  check(what, holds, figure = '') {
    if (!holds) this.failed++;
    this.say(`${holds ? 'ok    ' : 'FAILED'} ${what}${figure === '' ? '' : `: ${figure}`}`);
  }

  /** Writes the page; gives the exit code. */
  end() {
    this.say(this.failed ? `${this.failed} failed` : 'all hold');
    fs.mkdirSync(path.dirname(this.file), { recursive: true });
    fs.writeFileSync(this.file, `${[...this.head, ...this.lines, '```'].join('\n')}\n`);
    return this.failed ? 1 : 0;
  }
}
