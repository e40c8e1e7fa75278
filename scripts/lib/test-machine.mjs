/** What the test tiers need beyond npm's packages, installed where it is missing. Each step says so first. */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { installHost } from '../vscode-host/install.mjs';
import { must, ROOT, which } from './process.mjs';
import { findPython } from './python.mjs';

const VENV = path.join(ROOT, '.venv');
const ENGINE = path.join(ROOT, 'server/engine');

/** Python of the repository's own virtual environment. */
export const venvPython = path.join(VENV, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python');

/** Makes `.venv` with the engine and its test requirements, again whenever those change. */
export async function ensureVenv(log) {
  const project = path.join(ENGINE, 'pyproject.toml');
  const wanted = createHash('sha256').update(fs.readFileSync(project)).digest('hex');
  const stamp = path.join(VENV, '.rehearsal-stamp');
  if (fs.existsSync(stamp) && fs.readFileSync(stamp, 'utf8') === wanted) return;
  const python = await findPython();
  if (python.problem) throw new Error(python.problem);
  log(
    `Python packages of the engine, with PyTorch (Python ${python.version}; some minutes the first time) …`,
  );
  const started = Date.now();
  if (!fs.existsSync(venvPython)) await must(python.command, ['-m', 'venv', VENV]);
  await must(venvPython, [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--disable-pip-version-check',
    '-e',
    `${ENGINE}[test]`,
  ]);
  fs.writeFileSync(stamp, wanted);
  log(`Python packages: done in ${Math.round((Date.now() - started) / 1000)} s`);
}

/** Chromium and fonts from the distribution, then the VS Code workbench. */
export async function ensureBrowserAndWorkbench(log) {
  await ensureChromium(log);
  await installHost({ log });
}

async function ensureChromium(log) {
  const names = ['chromium', 'chromium-browser', 'google-chrome'];
  if (process.env.CHROMIUM_PATH || names.some(which)) return;
  if (!which('apt-get'))
    throw new Error('The tests in VS Code need Chromium; install it, or name it by CHROMIUM_PATH.');
  log('Chromium and fonts from the distribution (apt) …');
  const sudo = process.getuid?.() === 0 || !which('sudo') ? [] : ['sudo', '-n'];
  const apt = (...args) => {
    const [command, ...rest] = [
      ...sudo,
      'env',
      'DEBIAN_FRONTEND=noninteractive',
      'apt-get',
      '-q',
      '-y',
      ...args,
    ];
    return must(command, rest);
  };
  await apt('update');
  await apt('install', '--no-install-recommends', 'chromium', 'fonts-dejavu-core', 'fonts-noto-color-emoji');
}
