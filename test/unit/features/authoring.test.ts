import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { CompletionItem, JSONSchema } from 'vscode-json-languageservice';
import { publishedSchema } from '../../../src/core/environment/schema';
import { JsonSupport } from '../../../src/features/authoring/json';
import { notCovered } from '../../../src/features/authoring/merge';

const support = new JsonSupport(publishedSchema() as JSONSchema);

async function complete(marked: string): Promise<CompletionItem[]> {
  const at = marked.indexOf('|');
  const { text, json } = support.parse('file:///a.rehearsal.json', 1, marked.replace('|', ''));
  return (await support.service.doComplete(text, text.positionAt(at), json))?.items ?? [];
}

async function problems(content: string): Promise<string[]> {
  const found = await support.validate(support.parse('file:///a.rehearsal.json', 1, content));
  return found.map(({ message }) => String(message));
}

describe('environment files as a language', () => {
  it('completes fields, kinds of checks and values', async () => {
    const fields = (await complete('{ | }')).map(({ label }) => label);
    assert.ok(fields.includes('tools') && fields.includes('tasks'), fields.join());
    const kinds = (await complete('{ "tasks": [{ "checks": [{ "kind": | }] }] }')).map(({ label }) => label);
    assert.ok(kinds.includes('"fromResult"'), kinds.join());
    const gates = (await complete('{ "gates": | }')).map(({ label }) => label);
    assert.deepEqual(gates.filter((label) => label.startsWith('"')).sort(), ['"check"', '"prompt"']);
  });

  it('allows comments and trailing commas', async () => {
    assert.deepEqual(await problems('{\n  // tools come later\n  "tools": [],\n}'), []);
  });

  it('says what the schema does not allow', async () => {
    assert.equal((await problems('{ "tools": [], "gates": "maybe" }')).length, 1);
  });

  it('takes the bundled schema whatever $schema says, and fetches nothing', async () => {
    const fetched: unknown[] = [];
    const original = globalThis.fetch;
    globalThis.fetch = (async (url: unknown) => {
      fetched.push(url);
      throw new Error('no network');
    }) as typeof fetch;
    try {
      const $schema = 'https://example.invalid/other.schema.json';
      const found = await problems(JSON.stringify({ $schema, tools: [], gates: 'maybe' }));
      assert.equal(found.length, 1, found.join('\n'));
      assert.match(found[0]!, /check/);
    } finally {
      globalThis.fetch = original;
    }
    assert.deepEqual(fetched, []);
  });

  it('answers to any text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), fc.json()), fc.nat(), async (content, at) => {
        const { text, json } = support.parse('file:///a.rehearsal.json', 1, content);
        const position = text.positionAt(at % (content.length + 1));
        await support.validate({ text, json });
        await support.service.doComplete(text, position, json);
        await support.service.doHover(text, position, json);
        support.service.findDocumentSymbols2(text, json);
        support.service.getFoldingRanges(text);
      }),
      { numRuns: 60 },
    );
  });
});

describe('problems of two readers', () => {
  it('are told once where they touch', () => {
    const mine = [{ offset: 10, length: 5 }];
    const others = [
      { offset: 0, length: 10 },
      { offset: 12, length: 1 },
      { offset: 15, length: 3 },
      { offset: 14, length: 0 },
    ];
    assert.deepEqual(notCovered(mine, others), [others[0], others[2]]);
  });
});
