/** A large answer as a file that an editor opens whole. */
import fs from 'node:fs/promises';
import path from 'node:path';
import type { Json } from '../../core/json';
import { sha256 } from './places';

/** Writes the raw output where there is some, else the value as JSON, and gives the path. The same answer, one file. */
export async function writeWhole(
  folder: string,
  { value, raw }: { value: Json; raw?: string },
): Promise<string> {
  const text = raw ?? (typeof value === 'string' ? value : JSON.stringify(value, null, 2));
  const isText = raw === undefined && typeof value === 'string';
  // Named by its content: nothing that a tool says becomes a path.
  const file = path.join(folder, `answer-${sha256(text).slice(0, 16)}.${isText ? 'txt' : 'json'}`);
  await fs.mkdir(folder, { recursive: true });
  await fs.writeFile(file, text, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  return file;
}
