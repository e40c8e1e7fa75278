/**
 * Data that the project tests against and does not contain. Where the folder is absent, its tests are skipped and
 * say so. `REHEARSAL_SHARED` names it; else it is looked for beside the repository.
 */
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const SHARED = process.env.REHEARSAL_SHARED ?? path.join(ROOT, '../shared');

/** Text of a file under the shared folder; skips the running test where there is none. */
export function sharedText(context: Mocha.Context, name: string): string {
  const file = path.join(SHARED, name);
  if (!fs.existsSync(file)) {
    context.test!.title += ` (skipped: there is no ${name}; set REHEARSAL_SHARED)`;
    context.skip();
  }
  return fs.readFileSync(file, 'utf8');
}

export function sharedLines(context: Mocha.Context, name: string): unknown[] {
  const lines = sharedText(context, name).split('\n');
  return lines.filter((line) => line.trim()).map((line) => JSON.parse(line));
}
