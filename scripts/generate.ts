/**
 * Writes what is derived from the sources, before anything is bundled:
 * - `media/schemas/*.json`: the JSON Schemas that editors use, from core's own definitions. Committed; a test
 *   holds them up to date.
 * - `docs/settings.md`: from the settings in package.json. Committed, and held up to date by the same test.
 * - `webview/common/validators.generated.*`: checks of the messages between host and webviews, compiled here
 *   because a webview's content security policy forbids `new Function`. Not committed.
 *
 * usage: node --import tsx scripts/generate.ts
 */
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import Ajv from 'ajv';
import standalone from 'ajv/dist/standalone';
import { publishedSchema } from '../src/core/environment/schema';
import * as comparisons from '../src/core/fidelity/view.types';
import * as views from '../src/core/rehearsal/view.types';
import * as runs from '../src/core/training/run.types';
import { publishedTrainingSchema } from '../src/core/training/schema';
import * as compare from '../webview/common/compare';
import * as messages from '../webview/common/messages';
import * as training from '../webview/common/training';
import { type SettingsSection, settingsPage } from './settings-page';

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/** Generated files by their path in the repository. */
export function generatedFiles(): Record<string, string> {
  return {
    'media/schemas/environment.schema.json': `${JSON.stringify(publishedSchema(), null, 2)}\n`,
    'media/schemas/training.schema.json': `${JSON.stringify(publishedTrainingSchema(), null, 2)}\n`,
    'docs/settings.md': settingsPage(manifest().contributes.configuration),
    ...validators('messages', 'validators', { ...views, ...messages }, ['ToSession', 'FromSession']),
    ...validators('compare', 'compare-validators', { ...comparisons, ...compare }, [
      'ToCompare',
      'FromCompare',
    ]),
    ...validators('training', 'training-validators', { ...runs, ...training }, [
      'ToTraining',
      'FromTraining',
    ]),
  };
}

function manifest(): { contributes: { configuration: SettingsSection[] } } {
  return JSON.parse(fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
}

/** Writes what differs, so that a build which changes nothing leaves the times of files alone. */
export function generate(): void {
  for (const [name, text] of Object.entries(generatedFiles())) {
    const file = path.join(ROOT, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    if (!fs.existsSync(file) || fs.readFileSync(file, 'utf8') !== text) fs.writeFileSync(file, text);
  }
}

/**
 * One type guard for each union of messages: `ToSession` becomes `isToSession`.
 * @param module of `webview/common` that has the unions
 * @param file to write, beside it
 * @param definitions schemas that the unions are made of
 */
function validators(
  module: string,
  file: string,
  definitions: Record<string, object>,
  unions: readonly string[],
): Record<string, string> {
  const names = [...unions].sort();
  const parts = Object.entries(definitions);
  const shared = new Map<unknown, string>(parts.map(([name, schema]) => [schema, name]));
  const schemas = parts.map(([$id, schema]) => ({
    ...(withReferences(schema, shared, true) as object),
    $id,
  }));
  const ajv = new Ajv({ code: { source: true, esm: true }, messages: false, inlineRefs: false, schemas });
  const code = standalone(ajv, Object.fromEntries(names.map((name) => [`is${name}`, name])));
  if (code.includes('require('))
    throw new Error('The validators need a module at run time; a webview has none.');
  const types = names.map((name) => `export declare function is${name}(value: unknown): value is ${name};`);
  const imports = `import type { ${names.join(', ')} } from './${module}';`;
  return {
    [`webview/common/${file}.generated.js`]: `${code}\n`,
    [`webview/common/${file}.generated.d.ts`]: `${imports}\n\n${types.join('\n')}\n`,
  };
}

/** The schema with each shared part as a reference, so that its check is written once and not at each use. */
function withReferences(schema: unknown, shared: Map<unknown, string>, top = false): unknown {
  const name = shared.get(schema);
  if (name && !top) return { $ref: name };
  if (Array.isArray(schema)) return schema.map((part) => withReferences(part, shared));
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, withReferences(part, shared)]));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) generate();
