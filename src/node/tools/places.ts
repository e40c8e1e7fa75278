/** Files of an executor: beside the environment, never above it. */
import { createHash } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { isStateFile } from '../../core/environment/states';
import { isObject, type Json } from '../../core/json';
import { parseStrict } from '../../core/json-text';
import { readText, UnusableFile, whyOf } from '../text-file';
import { executorErrors } from './failures';

/** Absolute path of a file named relative to the environment's folder; links out of the folder count as out. */
export async function fileBeside(folder: string, name: string): Promise<string> {
  return usable(beside(folder, name));
}

/**
 * Initial state of a session: the task's, else the executor's. A text that ends in .json is a file; anything else
 * is the state itself.
 */
export async function initialState(
  folder: string,
  task: Json | undefined,
  executors: Json | undefined,
): Promise<Json> {
  const given = task === undefined ? executors : task;
  return isStateFile(given) ? usable(stateBeside(folder, given)) : (given ?? {});
}

/** The state in a file. Rejects with an `UnusableFile`, whose message is a clause that names the file. */
export async function stateBeside(folder: string, name: string): Promise<Json> {
  const file = await beside(folder, name);
  const text = await readText(file).catch((error) => {
    const next = error instanceof UnusableFile ? error.next : 'Check the file.';
    throw new UnusableFile(`${name} cannot be read: ${whyOf(error)}`, next);
  });
  const parsed = parseStrict(text);
  if (!parsed.ok) throw new UnusableFile(`${name} is ${parsed.reason}`, 'Correct the file.');
  return parsed.value;
}

const BESIDE = 'Put it beside the environment file or into a folder there, and name it so.';

async function beside(folder: string, name: string): Promise<string> {
  const file = path.resolve(folder, name);
  const inside = (base: string, at: string) => at === base || at.startsWith(base + path.sep);
  if (path.isAbsolute(name) || !inside(path.resolve(folder), file)) {
    throw new UnusableFile(`${JSON.stringify(name)} is not beside the environment file`, BESIDE);
  }
  const real = await fs.realpath(file).catch(() => null);
  if (real === null) {
    const next = 'Create the file, or correct its name.';
    throw new UnusableFile(`there is no ${name} beside the environment file`, next);
  }
  if (!inside(await fs.realpath(folder), real)) {
    const why = `${JSON.stringify(name)} leads out of the folder of the environment file`;
    throw new UnusableFile(why, BESIDE);
  }
  return file;
}

/** What a person reads where an executor needs the file. */
async function usable<T>(wanted: Promise<T>): Promise<T> {
  return wanted.catch((error) => {
    throw error instanceof UnusableFile ? executorErrors.broken(error.message) : error;
  });
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
