/** Files of an executor: beside the environment, never above it. */
import { createHash } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { isObject, type Json } from '../../core/json';
import { parseStrict } from '../../core/json-text';
import { executorErrors } from './failures';

/** Absolute path of a file named relative to the environment's folder; links out of the folder count as out. */
export async function fileBeside(folder: string, name: string): Promise<string> {
  const file = path.resolve(folder, name);
  const inside = (base: string, at: string) => at === base || at.startsWith(base + path.sep);
  if (path.isAbsolute(name) || !inside(path.resolve(folder), file)) {
    throw executorErrors.broken(`${JSON.stringify(name)} is not beside the environment file`);
  }
  const real = await fs.realpath(file).catch(() => null);
  if (real === null) throw executorErrors.broken(`there is no ${name} beside the environment file`);
  if (!inside(await fs.realpath(folder), real)) {
    throw executorErrors.broken(`${JSON.stringify(name)} leads out of the folder of the environment file`);
  }
  return file;
}

/**
 * Initial state of a session: the task's, else the executor's. A text that ends in .json is a file; anything else
 * is the state itself.
 */
export async function initialState(
  folder: string,
  task: Json | undefined,
  own: Json | undefined,
): Promise<Json> {
  const given = task === undefined ? own : task;
  if (typeof given !== 'string' || !/\.json$/i.test(given)) return given ?? {};
  const parsed = parseStrict(await fs.readFile(await fileBeside(folder, given), 'utf8'));
  if (!parsed.ok) throw executorErrors.broken(`${given} is ${parsed.reason}`);
  return parsed.value;
}

export function sha256(...parts: (string | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part).update('\0');
  return hash.digest('hex');
}

/** The arguments of a call as an object; models may send anything. */
export function argumentsObject(value: Json): { [name: string]: Json } | null {
  return isObject(value) ? value : null;
}
