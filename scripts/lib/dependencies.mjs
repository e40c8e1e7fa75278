/** The npm packages in `node_modules`: are they the ones that the lock file names? */
import fs from 'node:fs';
import path from 'node:path';
import { must, ROOT } from './process.mjs';

/**
 * True when what is installed is what the lock file asks for. Compared by content, since times of files say
 * nothing after a clone or a checkout.
 */
function dependenciesInstalled() {
  const installed = packages('node_modules/.package-lock.json');
  const wanted = packages('package-lock.json');
  if (!installed || !wanted) return false;
  return Object.entries(wanted).every(([where, { version, optional }]) => {
    if (where === '') return true;
    return installed[where] ? installed[where].version === version : optional === true;
  });
}

/** Installs the packages when they are missing or other than the lock file says. */
export async function ensureDependencies(log) {
  if (dependenciesInstalled()) return;
  log('npm packages (350 MB on disk, about a minute) …');
  const started = Date.now();
  await must('npm', ['ci', '--no-audit', '--no-fund', '--no-progress', '--loglevel=error']);
  log(`npm packages: done in ${Math.round((Date.now() - started) / 1000)} s`);
}

function packages(file) {
  try {
    return JSON.parse(fs.readFileSync(path.join(ROOT, file), 'utf8')).packages;
  } catch {
    return undefined;
  }
}
