/** The arrows of CONTRIBUTING.md: which folder may import which. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

const root = path.resolve(import.meta.dirname, '../..');

/** Folder → what it may import: folders of ours, and packages by name (`*` for any but vscode). */
const ARROWS: Record<string, { folders: string[]; packages: string[] }> = {
  'src/core': {
    folders: ['src/core'],
    packages: [
      'ajv',
      'ajv-formats',
      'jsonc-parser',
      '@sinclair/typebox',
      'json-p3',
      '@eslint-community/regexpp',
    ],
  },
  'src/node': { folders: ['src/node', 'src/core'], packages: ['*'] },
  'src/cli': { folders: ['src/cli', 'src/node', 'src/core'], packages: ['*'] },
  'server/runner': { folders: ['server/runner', 'src/node', 'src/core'], packages: ['*'] },
  'server/nano': { folders: ['server/nano', 'src/core', 'src/node'], packages: ['*'] },
  'src/features': {
    folders: ['src/features', 'src/node', 'src/core', 'webview/common'],
    packages: ['*', 'vscode'],
  },
  webview: {
    folders: ['webview', 'src/core'],
    packages: ['@vscode/webview-ui-toolkit', '@sinclair/typebox', '@microsoft/fast-element', 'uplot'],
  },
};

function filesIn(folder: string): string[] {
  return readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => path.join(folder, file));
}

function importsOf(file: string): string[] {
  const found = ts.preProcessFile(readFileSync(path.join(root, file), 'utf8'), true, true);
  return found.importedFiles.map((entry) => entry.fileName);
}

function packageOf(specifier: string): string {
  const parts = specifier.split('/');
  return specifier.startsWith('@') ? parts.slice(0, 2).join('/') : parts[0]!;
}

function allowed(file: string, specifier: string, rule: (typeof ARROWS)[string]): boolean {
  if (specifier.startsWith('.')) {
    const target = path.normalize(path.join(path.dirname(file), specifier));
    return rule.folders.some((folder) => target.startsWith(`${folder}/`)) || target === 'package.json';
  }
  const name = packageOf(specifier);
  return rule.packages.includes(name) || (name !== 'vscode' && rule.packages.includes('*'));
}

describe('arrows between folders', () => {
  for (const [folder, rule] of Object.entries(ARROWS)) {
    it(`${folder} imports only what it may`, () => {
      const files = filesIn(folder);
      assert.ok(files.length > 0, `${folder} has files`);
      const wrong = files.flatMap((file) =>
        importsOf(file)
          .filter((specifier) => !allowed(file, specifier, rule))
          .map((specifier) => `${file} imports ${specifier}`),
      );
      assert.deepEqual(wrong, []);
    });
  }
});
