/**
 * The server runs from a copy in the user's folder, never from where the product is installed: VS Code deletes
 * that folder when it updates an extension. Copies are named by version and content, and are never changed.
 */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { errors } from '../errors';
import type { Home } from './home';

export interface ServerFiles {
  version: string;
  /** Fingerprint of the content. */
  build: string;
  /** Folder of the copy. */
  folder: string;
  runner: string;
  engine: string;
  /** Folders of the embedded models by name, the default first. */
  models: { name: string; folder: string }[];
}

const RUNNER = 'dist/runner.js';
/** By its name a module, since no package.json stands above the copy. */
const RUNNER_COPY = 'runner.mjs';
/** The process of tool modules, which the runner looks for beside itself. */
const TOOL_HOST = 'dist/tool-host';
const ENGINE = 'server/engine';
const MODELS = 'server/nano/models';
const DEFAULT_MODEL = 'nano';

/** Copies the server's files of `source` (the extension's folder or a checkout) where that is not done yet. */
export function installFiles(source: string, home: Home): ServerFiles {
  const list = filesOf(source);
  const version = (
    JSON.parse(fs.readFileSync(path.join(source, 'package.json'), 'utf8')) as { version: string }
  ).version;
  const build = fingerprint(source, list);
  const folder = path.join(home.servers, `${version}-${build}`);
  if (!fs.existsSync(folder)) copy(source, list, folder);
  return {
    version,
    build,
    folder,
    runner: path.join(folder, RUNNER_COPY),
    engine: path.join(folder, ENGINE),
    models: modelsIn(path.join(folder, MODELS)),
  };
}

function filesOf(source: string): string[] {
  for (const needed of [
    RUNNER,
    TOOL_HOST,
    `${ENGINE}/pyproject.toml`,
    `${ENGINE}/rehearsal_engine`,
    'package.json',
  ]) {
    if (!fs.existsSync(path.join(source, needed))) throw errors.incomplete(path.join(source, needed));
  }
  const models = modelsIn(path.join(source, MODELS)).map(({ name }) => `${MODELS}/${name}`);
  return [RUNNER, TOOL_HOST, `${ENGINE}/pyproject.toml`, `${ENGINE}/rehearsal_engine`, ...models].flatMap(
    (item) => walk(source, item),
  );
}

/** Files below a path, sorted, without what Python and editors leave behind. */
function walk(source: string, item: string): string[] {
  const at = path.join(source, item);
  if (!fs.statSync(at).isDirectory()) return [item];
  return fs
    .readdirSync(at)
    .filter((name) => !name.startsWith('.') && name !== '__pycache__' && !name.endsWith('.pyc'))
    .sort()
    .flatMap((name) => walk(source, `${item}/${name}`));
}

function fingerprint(source: string, list: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of list) {
    const content = fs.readFileSync(path.join(source, file));
    hash.update(`${file}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex').slice(0, 12);
}

/** Into a folder beside, and then under its name at once: a copy that was cut short is never used. */
function copy(source: string, list: readonly string[], folder: string): void {
  const partial = `${folder}.${process.pid}.partial`;
  fs.rmSync(partial, { recursive: true, force: true });
  for (const file of list) {
    const to = path.join(partial, placeOf(file));
    fs.mkdirSync(path.dirname(to), { recursive: true });
    fs.copyFileSync(path.join(source, file), to);
  }
  try {
    fs.renameSync(partial, folder);
  } catch (error) {
    fs.rmSync(partial, { recursive: true, force: true });
    if (!fs.existsSync(folder)) throw error;
  }
}

function placeOf(file: string): string {
  if (file === RUNNER) return RUNNER_COPY;
  return file.startsWith(`${TOOL_HOST}/`) ? file.slice('dist/'.length) : file;
}

function modelsIn(folder: string): { name: string; folder: string }[] {
  if (!fs.existsSync(folder)) return [];
  return fs
    .readdirSync(folder)
    .filter((name) => fs.existsSync(path.join(folder, name, 'config.json')))
    .sort((a, b) => Number(b === DEFAULT_MODEL) - Number(a === DEFAULT_MODEL) || a.localeCompare(b))
    .map((name) => ({ name, folder: path.join(folder, name) }));
}
