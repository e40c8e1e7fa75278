/** The `.vsix`: everything bundled, so that it is packaged without `node_modules`. */
import fs from 'node:fs';
import path from 'node:path';
import { build, upToDate } from '../../build.mjs';
import { ROOT } from './process.mjs';

const NEWER = ['package.json', '.vscodeignore', 'README.md', 'CHANGELOG.md', 'examples', 'media', 'server'];

/** Where the package of this version goes. */
export function vsixPath() {
  const { name, version } = JSON.parse(fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
  return path.join(ROOT, `${name}-${version}.vsix`);
}

/** True when the package is newer than all that goes into it. */
export function packaged() {
  const made = fs.statSync(vsixPath(), { throwIfNoEntry: false })?.mtimeMs;
  return Boolean(made && upToDate(true) && NEWER.every((f) => newest(path.join(ROOT, f)) < made));
}

/** Builds for production and writes the package; gives its path and its size in bytes. */
export async function makePackage() {
  if (!upToDate(true)) await build({ production: true });
  const { createVSIX } = await import('@vscode/vsce');
  const file = vsixPath();
  // Links in the README stay as they are: the package names no repository.
  const options = { dependencies: false, allowMissingRepository: true, rewriteRelativeLinks: false };
  await createVSIX({ cwd: ROOT, packagePath: file, ...options });
  return { file, size: fs.statSync(file).size };
}

function newest(file) {
  const stat = fs.statSync(file, { throwIfNoEntry: false });
  if (!stat) return 0;
  if (!stat.isDirectory()) return stat.mtimeMs;
  const inside = fs
    .readdirSync(file)
    .filter((f) => !['__pycache__', '.rehearsal', 'node_modules'].includes(f));
  return Math.max(0, ...inside.map((f) => newest(path.join(file, f))));
}
