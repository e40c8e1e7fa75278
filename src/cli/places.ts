/** Where the terminal keeps sessions: in the folder that the editor would use for the same file. */
import fs from 'node:fs';
import path from 'node:path';
import { sessionsFolder } from '../node/sessions/file';

/** The nearest folder above with sessions; else the working folder where it holds the file, else the file's own. */
export function workspaceOf(file: string): string {
  const own = path.dirname(path.resolve(file));
  for (let folder = own; ; folder = path.dirname(folder)) {
    if (fs.existsSync(path.join(folder, '.rehearsal'))) return folder;
    if (folder === path.dirname(folder)) break;
  }
  const inside = path.relative(process.cwd(), own);
  return inside.startsWith('..') || path.isAbsolute(inside) ? own : process.cwd();
}

export function sessionsOf(file: string, given: string | undefined): string {
  return given ?? sessionsFolder(workspaceOf(file));
}
