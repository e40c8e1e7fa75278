/** Environments on disk. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { type Loaded, loadEnvironment, type Place } from '../core/environment/load';
import type { Environment } from '../core/environment/types';
import { errors } from './errors';

export interface EnvironmentFile extends Loaded {
  /** Absolute. */
  file: string;
  /** Texts of the file and of those it names, by name relative to it; '' is the file itself. */
  texts: Map<string, string>;
}

const DECODER = new TextDecoder('utf-8', { fatal: true });

/** Reads an environment and the files it names. Throws `NodeError` only where the file itself cannot be read. */
export async function readEnvironment(file: string): Promise<EnvironmentFile> {
  const at = path.resolve(file);
  const texts = new Map<string, string>();
  try {
    texts.set('', await readText(at));
  } catch (error) {
    throw errors.unreadable(file, whyOf(error));
  }
  const read = async (relative: string) => {
    const text = await readText(path.resolve(path.dirname(at), relative));
    texts.set(relative, text);
    return text;
  };
  return { file: at, texts, ...(await loadEnvironment(texts.get('')!, { path: at, read })) };
}

/** The environment, or a `NodeError` with what is wrong, where it has errors. */
export async function usableEnvironment(file: string): Promise<Environment> {
  const { environment, diagnostics } = await readEnvironment(file);
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

/** Far more than people write; a file that is larger is not what it was taken for. */
const MOST_BYTES = 64 << 20;

/** Text of a regular file of moderate size; rejects with the reason. */
export async function readText(file: string): Promise<string> {
  // Without waiting for whoever should write into a pipe.
  const handle = await fs.open(file, fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0));
  let data: Buffer;
  try {
    const stat = await handle.stat();
    if (stat.isDirectory()) throw Object.assign(new Error('it is a folder'), { code: 'EISDIR' });
    if (!stat.isFile()) throw new Error('it is no regular file');
    if (stat.size > MOST_BYTES) throw new Error(`it is larger than ${MOST_BYTES >> 20} MiB`);
    data = await handle.readFile();
  } finally {
    await handle.close();
  }
  try {
    return DECODER.decode(data);
  } catch {
    throw new Error('it is not UTF-8 text');
  }
}

/** Why a file cannot be read, as part of a sentence. */
export function whyOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'EISDIR') return 'it is a folder';
  if (code === 'EACCES') return 'you have no right to read it';
  return message;
}
