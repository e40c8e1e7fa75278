/** Which files a module is made of: a change in any of them is another module. */
import fs from 'node:fs';
import path from 'node:path';
import { sha256 } from '../places';

export interface Sources {
  hash: string;
  /** Size and time of change of each file, to see cheaply whether one changed. */
  stamp: string;
  files: string[];
}

const IMPORT = /(?:\bfrom\s*|\bimport\s*\(?\s*)["'](\.{1,2}\/[^"']+)["']/g;

/** The file and everything that it imports by a relative name. Throws where the file cannot be read. */
export function readSources(file: string): Sources {
  const texts = new Map<string, Buffer>();
  const open = [file];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (texts.has(at)) continue;
    let text: Buffer;
    try {
      text = fs.readFileSync(at);
    } catch (error) {
      if (at === file) throw error;
      continue; // the module itself fails where it needs it
    }
    texts.set(at, text);
    for (const [, name] of text.toString('utf8').matchAll(IMPORT))
      open.push(path.resolve(path.dirname(at), name!));
  }
  const files = [...texts.keys()].sort();
  return {
    files,
    hash: sha256(...files.flatMap((at) => [path.relative(path.dirname(file), at), texts.get(at)!])),
    stamp: stampOf(files),
  };
}

export function stampOf(files: readonly string[]): string {
  return files
    .map((file) => {
      const stat = fs.statSync(file, { throwIfNoEntry: false });
      return stat ? `${stat.size} ${stat.mtimeMs}` : 'gone';
    })
    .join();
}
