/**
 * Writes what is derived from the sources, before anything is bundled:
 * - `webview/common/validators.generated.js`: checks of the messages between host and webviews, compiled here
 *   because a webview's content security policy forbids `new Function`;
 * - `media/schemas/*.json`: the JSON Schemas of our files, from core's own definitions.
 * A file is written only when its content changes, so that a build without changes stays a no-op.
 */
import fs from 'node:fs';
import path from 'node:path';
import Ajv from 'ajv';
import standalone from 'ajv/dist/standalone';
import * as messages from '../webview/common/messages';

const ROOT = path.resolve(import.meta.dirname, '..');

function write(file: string, content: string): void {
  const at = path.join(ROOT, file);
  if (fs.existsSync(at) && fs.readFileSync(at, 'utf8') === content) return;
  fs.mkdirSync(path.dirname(at), { recursive: true });
  fs.writeFileSync(at, content);
  console.log(`generate: ${file}`);
}

/** One type guard for each union of messages: `ToSession` becomes `isToSession`. */
function validators(): void {
  const unions = { ToSession: messages.ToSession, FromSession: messages.FromSession };
  const names = Object.keys(unions);
  const ajv = new Ajv({ code: { source: true, esm: true }, schemas: Object.entries(unions).map(([$id, s]) => ({ ...s, $id })) });
  const code = standalone(ajv, Object.fromEntries(names.map((name) => [`is${name}`, name])));
  if (code.includes('require(')) throw new Error('The validators need a module at run time; a webview has none.');
  const types = names.map((name) => `export declare function is${name}(value: unknown): value is ${name};`);
  write('webview/common/validators.generated.js', `${code}\n`);
  write(
    'webview/common/validators.generated.d.ts',
    `import type { ${names.sort().join(', ')} } from './messages';\n\n${types.join('\n')}\n`,
  );
}

validators();
