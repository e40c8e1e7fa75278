/** Running other programs from scripts, plainly. */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');

/** Windows finds `npm` and `code` only as scripts of its shell. */
const shell = process.platform === 'win32';

/** Runs a command whose output goes to the terminal; gives its exit code. */
export function run(command, args, { cwd = ROOT, env = {}, stdio = 'inherit' } = {}) {
  return new Promise((ok, bad) => {
    const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio, shell });
    child.on('error', bad);
    child.on('close', (code, signal) => ok(signal ? 128 : (code ?? 1)));
  });
}

/** Runs a command and gives its output; `echo` also prints it as it comes. Never throws for an exit code. */
export function capture(command, args, { cwd = ROOT, env = {}, echo = false } = {}) {
  return new Promise((ok) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      shell,
    });
    let output = '';
    const read = (data) => {
      output += data;
      if (echo) process.stdout.write(data);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.on('error', (error) => ok({ code: 127, output: error.message }));
    child.on('close', (code) => ok({ code: code ?? 128, output }));
  });
}

/** Runs a command quietly; its output is shown only when it fails. */
export async function must(command, args, options) {
  const { code, output } = await capture(command, args, options);
  if (code !== 0)
    throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${output.slice(-4000).trim()}`);
  return output;
}

/** The first place on the PATH that has `program`, or undefined. */
export function which(program) {
  const names = shell ? [`${program}.cmd`, `${program}.exe`] : [program];
  for (const dir of (process.env.PATH ?? '').split(path.delimiter)) {
    for (const name of names) if (dir && fs.existsSync(path.join(dir, name))) return path.join(dir, name);
  }
  return undefined;
}
