/** Names of runs. They come from files and requests, and become folders: nothing else may. */
import path from 'node:path';
import { runErrors } from './errors';

const ID = /^[a-z0-9](?:[a-z0-9-]{0,78}[a-z0-9])?$/;

export function isRunId(text: string): boolean {
  return ID.test(text);
}

/** Folder of a run. Throws where the id is none, so that no id ever becomes a path unchecked. */
export function runFolder(root: string, id: string): string {
  if (!isRunId(id)) throw runErrors.unknown(id);
  return path.join(root, id);
}

/** What a name becomes in an id: lower case letters, digits and hyphens. */
export function slug(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 60)
    .replace(/^-+|-+$/g, '');
  return plain || 'run';
}
