/**
 * Writes the files that are made from sources: the JSON Schemas that editors use. Run by the build; the results
 * are committed, and a test holds them up to date.
 *
 * usage: node --import tsx scripts/generate.ts
 */
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { publishedSchema } from '../src/core/environment/schema';

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/** Generated files by their path in the repository. */
export function generatedFiles(): Record<string, string> {
  return {
    'media/schemas/environment.schema.json': `${JSON.stringify(publishedSchema(), null, 2)}\n`,
  };
}

/** Writes what differs, so that a build which changes nothing leaves the times of files alone. */
export function generate(): void {
  for (const [name, text] of Object.entries(generatedFiles())) {
    const file = path.join(ROOT, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    if (!fs.existsSync(file) || fs.readFileSync(file, 'utf8') !== text) fs.writeFileSync(file, text);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) generate();
