/** Environments on disk. */
import path from 'node:path';
import { type Loaded, loadEnvironment, type Place } from '../core/environment/load';
import type { Environment } from '../core/environment/types';
import { errors } from './errors';
import { readText } from './text-file';
import { stateBeside } from './tools/places';

export interface EnvironmentFile extends Loaded {
  /** Absolute. */
  file: string;
  /** Texts of the file and of those it names, by name relative to it; '' is the file itself. */
  texts: Map<string, string>;
}

/** Reads an environment and the files it names. Throws `NodeError` only where the file itself cannot be read. */
export async function readEnvironment(file: string): Promise<EnvironmentFile> {
  const at = path.resolve(file);
  const texts = new Map<string, string>();
  try {
    texts.set('', await readText(at));
  } catch (error) {
    throw errors.unreadable(file, error);
  }
  const read = async (relative: string) => {
    const text = await readText(path.resolve(path.dirname(at), relative));
    texts.set(relative, text);
    return text;
  };
  const state = (name: string) => stateBeside(path.dirname(at), name);
  return { file: at, texts, ...(await loadEnvironment(texts.get('')!, { path: at, read, state })) };
}

/** The environment, or a `NodeError` with what is wrong, where it has errors. */
export async function usableEnvironment(file: string): Promise<Environment> {
  return usable(file, await readEnvironment(file));
}

/** The same of a file that was read. */
export function usable(file: string, { environment, diagnostics }: EnvironmentFile): Environment {
  if (environment) return environment;
  throw errors.brokenEnvironment(
    file,
    diagnostics.filter(({ severity }) => severity === 'error').map(({ message }) => message),
  );
}

/** Line and column of a place, both from 1. */
export function positionOf(
  { texts }: Pick<EnvironmentFile, 'texts'>,
  { file = '', offset }: Place,
): { line: number; column: number } {
  const before = (texts.get(file) ?? '').slice(0, offset);
  const line = before.split('\n').length;
  return { line, column: offset - (before.lastIndexOf('\n') + 1) + 1 };
}
