/**
 * The real server, runner and engine, on a tiny model with random weights; one for all tests of a run. Its
 * files are those of this checkout, its folder a temporary one.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { program } from '../../../build.mjs';
import { type EnsureOptions, ensureServer, type Server, stopServer } from '../../../src/node/server/ensure';

export const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../..');
const CACHE = path.join(ROOT, '.cache');

/** An interpreter with the engine's packages: REHEARSAL_PYTHON, or the repository's own environment. */
export const PYTHON =
  process.env.REHEARSAL_PYTHON ??
  path.join(ROOT, '.venv', process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python');

export async function python(args: string[], cwd = path.join(ROOT, 'server/engine')): Promise<string> {
  const env = { ...process.env, OMP_NUM_THREADS: '1' };
  return (await promisify(execFile)(PYTHON, args, { cwd, env })).stdout;
}

/** A Qwen3 of 64 dimensions with random weights. Made once, and again when its recipe changes. */
export async function tinyModel(): Promise<string> {
  const recipe = fs.readFileSync(path.join(ROOT, 'server/engine/rehearsal_engine/random_model.py'));
  const folder = path.join(CACHE, `tiny-${createHash('sha256').update(recipe).digest('hex').slice(0, 8)}`);
  if (!fs.existsSync(path.join(folder, 'tokenizer.json'))) {
    await python(['-m', 'rehearsal_engine.random_model', folder, '--tiny']);
  }
  return folder;
}

let product: Promise<string> | null = null;

/** A folder as the product is installed: runner and command line bundled now, and this checkout's engine. */
export function productFolder(): Promise<string> {
  product ??= (async () => {
    const folder = temporary('product');
    await build({
      ...program,
      absWorkingDir: ROOT,
      entryPoints: { runner: 'server/runner/main.ts', cli: 'src/cli/main.ts' },
      outdir: path.join(folder, 'dist'),
      bundle: true,
      logLevel: 'error',
    });
    fs.copyFileSync(path.join(ROOT, 'package.json'), path.join(folder, 'package.json'));
    fs.mkdirSync(path.join(folder, 'dist/tool-host'));
    for (const file of ['host.mjs', 'worker.mjs'])
      fs.copyFileSync(
        path.join(ROOT, 'src/node/tools/module', file),
        path.join(folder, 'dist/tool-host', file),
      );
    fs.mkdirSync(path.join(folder, 'server'));
    fs.symlinkSync(path.join(ROOT, 'server/engine'), path.join(folder, 'server/engine'), 'junction');
    return folder;
  })();
  return product;
}

export async function serverOptions(
  home: string,
  change: Partial<EnsureOptions> = {},
): Promise<EnsureOptions> {
  const models = [`tiny=${await tinyModel()}`];
  return {
    sourceDir: await productFolder(),
    home,
    python: PYTHON,
    models,
    engineArgs: ['--threads', '1'],
    ...change,
  };
}

let shared: Promise<Server & { home: string }> | null = null;

/** The server that tests share. Tests that stop or break one start their own. */
export function sharedServer(): Promise<Server & { home: string }> {
  shared ??= (async () => {
    const home = temporary('home');
    return { ...(await ensureServer(await serverOptions(home))), home };
  })();
  return shared;
}

const folders: string[] = [];

export function temporary(name: string): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), `rehearsal-${name}-`));
  folders.push(folder);
  return folder;
}

after(async function () {
  this.timeout(30_000);
  const server = await shared?.catch(() => null);
  if (server) await stopServer(server.home);
  for (const folder of folders) fs.rmSync(folder, { recursive: true, force: true });
});
