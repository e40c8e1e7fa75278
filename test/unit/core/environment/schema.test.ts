import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { getLanguageService, TextDocument } from 'vscode-json-languageservice';
import { generatedFiles } from '../../../../scripts/generate';
import type { FileCheck } from '../../../../src/core/environment/check-schema';
import { publishedSchema } from '../../../../src/core/environment/schema';
import type { Check } from '../../../../src/core/reward/types';

const root = path.resolve(import.meta.dirname, '../../../..');
const service = getLanguageService({});
const schema = publishedSchema();

async function ask(text: string) {
  const at = text.indexOf('|');
  const document = TextDocument.create('file:///x.rehearsal.json', 'rehearsal', 1, text.replace('|', ''));
  const parsed = service.parseJSONDocument(document);
  service.configure({
    schemas: [{ uri: 'x://environment', fileMatch: ['*.rehearsal.json'], schema }],
    allowComments: true,
  });
  const problems = await service.doValidation(
    document,
    parsed,
    { comments: 'ignore', trailingCommas: 'ignore' },
    schema,
  );
  const offers = at < 0 ? null : await service.doComplete(document, document.positionAt(at), parsed);
  const hover = at < 0 ? null : await service.doHover(document, document.positionAt(at), parsed);
  return {
    problems: problems.map((p) => p.message),
    offers: offers?.items.map((item) => item.label) ?? [],
    hover: JSON.stringify(hover),
  };
}

// Whatever can be evaluated can be written; the loader's types say the reverse.
const written = (check: Check): FileCheck => check;

describe('the published JSON Schema', () => {
  it('has the checks that are evaluated', () => assert.ok(written({ kind: 'maxCalls', max: 1 })));

  it('is committed as it is generated', () => {
    for (const [name, text] of Object.entries(generatedFiles())) {
      assert.equal(
        fs.readFileSync(path.join(root, name), 'utf8'),
        text,
        `run: node --import tsx scripts/generate.ts (${name})`,
      );
    }
  });

  it('accepts the examples', async () => {
    const files = fs.readdirSync(path.join(root, 'examples'), { recursive: true, encoding: 'utf8' });
    for (const file of files.filter((name) => name.endsWith('.rehearsal.json'))) {
      assert.deepEqual(
        (await ask(fs.readFileSync(path.join(root, 'examples', file), 'utf8'))).problems,
        [],
        file,
      );
    }
  });

  it('completes fields, kinds of checks and the fields of a kind', async () => {
    assert.ok((await ask('{ | }')).offers.includes('tools'));
    const kinds = await ask(
      '{"tools": [], "tasks": [{"id": "t", "instruction": "i", "checks": [{"kind": | }]}]}',
    );
    for (const kind of ['"calls"', '"forbidden"', '"answer"', '"fromResult"', '"maxCalls"'])
      assert.ok(kinds.offers.includes(kind), kind);
    const fields = await ask(
      '{"tools": [], "tasks": [{"id": "t", "instruction": "i", "checks": [{"kind": "answer", | }]}]}',
    );
    assert.ok(fields.offers.includes('contains') && fields.offers.includes('required'));
    assert.ok(!fields.offers.includes('expected'), 'fields of other kinds are not offered');
    const gates = await ask('{"tools": [], "gates": | }');
    assert.deepEqual(gates.offers.sort(), ['"check"', '"prompt"']);
  });

  it('names what is wrong in the words of the kind of check', async () => {
    const { problems } = await ask(
      '{"tools": [], "tasks": [{"id": "t", "instruction": "i", "checks": [{"kind": "calls", "expectd": []}]}]}',
    );
    assert.equal(problems.length, 2);
    assert.match(problems.join(), /Missing property "expected"/);
    assert.match(problems.join(), /expectd is not allowed/);
  });

  it('describes every field on hover', async () => {
    const missing: string[] = [];
    const walk = (node: unknown, name: string) => {
      if (typeof node !== 'object' || node === null) return;
      const { properties } = node as {
        properties?: Record<string, { description?: string; const?: string }>;
      };
      for (const [key, value] of Object.entries(properties ?? {})) {
        if (
          !name.includes('parameters') &&
          !name.includes('inputSchema') &&
          !('const' in value) &&
          !value.description
        )
          missing.push(`${name}.${key}`);
        walk(value, `${name}.${key}`);
      }
      const { items, allOf, then } = node as { items?: unknown; allOf?: unknown[]; then?: unknown };
      for (const inner of [items, then, ...(allOf ?? [])]) walk(inner, name);
    };
    walk(schema, '');
    assert.deepEqual(missing, []);
    assert.match((await ask('{"tools": [], "|maxTurns": 3}')).hover, /Limit of turns/);
  });
});
