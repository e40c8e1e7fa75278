/**
 * Builds everything that runs: the extension, the command line, the server's Node part, the webviews and the
 * suites that run inside VS Code. One list of bundles; `dist/` is all that the package and the tests load.
 *
 * usage: node build.mjs [--watch] [--production] [--if-changed]
 *   --production  minified and without source maps, as it is packaged
 *   --if-changed  returns at once when no source changed since the last build of the same kind
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = path.dirname(fileURLToPath(import.meta.url));
const DIST = path.join(ROOT, 'dist');
const STAMP = path.join(DIST, '.stamp');

/** Scripts that write sources other bundles import (schemas, validators); run in this order before bundling. */
const GENERATORS = ['scripts/generate.ts'];

/** Everything a bundle is made from; a change in any of these makes the build stale. */
const SOURCES = [
  'src',
  'webview',
  'server/runner',
  'test/host',
  ...GENERATORS,
  'build.mjs',
  'package-lock.json',
];

const node = {
  platform: 'node',
  target: 'node20',
  mainFields: ['module', 'main'], // jsonc-parser's `main` is a UMD build that fails at run time when bundled
};

// An ES module that bundles CommonJS packages needs a `require` for Node's own modules.
const requireBanner = {
  js: "import { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);",
};

const extension = {
  ...node,
  format: 'cjs',
  external: ['vscode'],
  logOverride: { 'empty-import-meta': 'silent' }, // __dirname is used there
};
/** Programs for Node: ES modules in one file. */
export const program = { ...node, format: 'esm', banner: requireBanner };
const page = { platform: 'browser', target: 'chrome120', format: 'iife', loader: { '.svg': 'text' } };

export const BUNDLES = [
  { ...extension, entryPoints: { extension: 'src/extension.ts' }, outExtension: { '.js': '.cjs' } },
  { ...program, entryPoints: { cli: 'src/cli/main.ts' } },
  { ...program, entryPoints: { runner: 'server/runner/main.ts' } },
  { ...page, entryPoints: { 'webview/session': 'webview/session/main.ts' } },
  { ...page, entryPoints: { 'webview/compare': 'webview/compare/main.ts' } },
  { ...page, entryPoints: { 'webview/training': 'webview/training/main.ts' } },
  {
    ...extension,
    entryPoints: hostSuite(),
    external: ['vscode', 'mocha', 'playwright-core'],
    outExtension: { '.js': '.cjs' },
    testsOnly: true,
  },
];

function hostSuite() {
  const suite = path.join(ROOT, 'test/host/suite');
  const files = fs.readdirSync(suite).filter((f) => f.endsWith('.test.ts'));
  const entries = files.map((f) => [`test/host/${f.replace(/\.ts$/, '')}`, `test/host/suite/${f}`]);
  return Object.fromEntries([['test/host/run', 'test/host/run.ts'], ...entries]);
}

/** What esbuild is told for one of them. */
export function options(bundle, production) {
  const { testsOnly, ...rest } = bundle;
  return {
    absWorkingDir: ROOT,
    outdir: 'dist',
    bundle: true,
    logLevel: 'warning',
    sourcemap: production ? false : 'linked',
    minify: production && !testsOnly,
    keepNames: production && rest.platform === 'node', // names of error classes are shown in logs
    ...rest,
  };
}

function generate() {
  for (const script of GENERATORS) {
    const done = spawnSync(process.execPath, ['--import', 'tsx', script], {
      cwd: ROOT,
      stdio: ['ignore', 2, 2], // standard output belongs to whoever called, `npm start -- --headless --json` for one
    });
    if (done.status !== 0) throw new Error(`${script} failed`);
  }
}

function copyAssets() {
  const icons = path.join(ROOT, 'node_modules/@vscode/codicons/dist');
  fs.mkdirSync(path.join(DIST, 'webview'), { recursive: true });
  for (const f of ['codicon.css', 'codicon.ttf'])
    fs.copyFileSync(path.join(icons, f), path.join(DIST, 'webview', f));
  // Tool modules run in a process of their own, which has files of its own.
  fs.mkdirSync(path.join(DIST, 'tool-host'), { recursive: true });
  for (const f of ['host.mjs', 'worker.mjs'])
    fs.copyFileSync(path.join(ROOT, 'src/node/tools/module', f), path.join(DIST, 'tool-host', f));
}

/** A fingerprint of every source file's path, size and time of change. */
function fingerprint(production) {
  const hash = createHash('sha256').update(String(production));
  const add = (file) => {
    const at = path.join(ROOT, file);
    const stat = fs.statSync(at, { throwIfNoEntry: false });
    if (!stat) return;
    if (!stat.isDirectory()) hash.update(`${file}\0${stat.size}\0${stat.mtimeMs}\n`);
    else
      for (const f of fs.readdirSync(at).sort())
        if (f !== 'node_modules' && f !== 'shots') add(path.join(file, f));
  };
  for (const source of SOURCES) add(source);
  return hash.digest('hex');
}

/** True when `dist/` was built from the sources as they are now. */
export function upToDate(production = false) {
  return fs.existsSync(STAMP) && fs.readFileSync(STAMP, 'utf8') === fingerprint(production);
}

/** Generates, bundles and copies; throws when anything fails. With `watch` the bundles are rebuilt at each change. */
export async function build({ production = false, watch = false } = {}) {
  const esbuild = await import('esbuild');
  generate();
  // Taken before bundling, after generating: a file that changes meanwhile makes the next build run.
  const stamp = fingerprint(production);
  fs.rmSync(STAMP, { force: true });
  if (watch) {
    for (const bundle of BUNDLES)
      await (await esbuild.context(options({ ...bundle, logLevel: 'info' }, production))).watch();
    return copyAssets();
  }
  // All are tried, so that one mistake does not keep the others from being used.
  const made = await Promise.allSettled(BUNDLES.map((bundle) => esbuild.build(options(bundle, production))));
  copyAssets();
  const failed = BUNDLES.filter((_, i) => made[i].status === 'rejected').flatMap((b) =>
    Object.keys(b.entryPoints),
  );
  if (failed.length) throw new Error(`build: failed for ${failed.join(', ')}; see the errors above`);
  fs.writeFileSync(STAMP, stamp);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const production = process.argv.includes('--production');
  if (!(process.argv.includes('--if-changed') && upToDate(production))) {
    const started = Date.now();
    try {
      await build({ production, watch: process.argv.includes('--watch') });
      console.log(`build: dist/ ready in ${((Date.now() - started) / 1000).toFixed(1)} s`);
    } catch (error) {
      console.error(error.message); // esbuild has shown where
      process.exitCode = 1;
    }
  }
}
