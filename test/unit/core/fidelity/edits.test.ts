import assert from 'node:assert/strict';
import fc from 'fast-check';
import { loadEnvironment } from '../../../../src/core/environment/load';
import type { Example } from '../../../../src/core/environment/types';
import { addIgnored, editRecords, recordsIn, replacementOf } from '../../../../src/core/fidelity/edits';
import type { Json } from '../../../../src/core/json';

const record = (id: number, more: Partial<Example> = {}): Example => ({
  tool: 'get',
  arguments: { id },
  outcome: 'result',
  value: { id },
  afterWrite: false,
  part: 'train',
  ...more,
});
const line = (id: number) => `{"tool": "get", "arguments": {"id": ${id}}, "value": {"id": ${id}}}`;
const TOOLS = '"tools": [{"name": "get", "description": "d", "inputSchema": {"type": "object"}}]';

/** An environment with this text, and where its records are. */
async function loaded(text: string, lines?: string) {
  const result = await loadEnvironment(text, { path: 'e.rehearsal.json', read: async () => lines ?? '' });
  assert.deepEqual(
    result.diagnostics.filter(({ severity }) => severity === 'error'),
    [],
    text,
  );
  return {
    examples: result.environment!.examples,
    ignore: result.environment!.ignore,
    places: result.locations.examples,
  };
}

describe('records written into an author’s text', () => {
  it('set a verdict in a line, and leave comments and the other lines alone', async () => {
    const text = `// by hand\n${line(1)}\n\n${line(2)}`;
    const { places } = await loaded(`{${TOOLS}, "examples": "c.jsonl"}`, text);
    const after = editRecords(text, 'lines', {
      changed: [{ at: places[0]!, fields: { verdict: 'tolerable', note: 'rounded "up"' } }],
      added: [],
    });
    assert.equal(
      after,
      `// by hand\n${line(1).slice(0, -1)}, "verdict": "tolerable", "note": "rounded \\"up\\""}\n\n${line(2)}`,
    );
    const again = await loaded(`{${TOOLS}, "examples": "c.jsonl"}`, after);
    const taken = editRecords(after, 'lines', {
      changed: [{ at: again.places[0]!, fields: { verdict: undefined, note: undefined } }],
      added: [record(3)],
    });
    assert.ok(taken.startsWith(`// by hand\n${line(1)}\n\n${line(2)}\n{"tool": "get"`));
    assert.ok(taken.endsWith('}\n'));
  });

  it('stand in a list as the others do', async () => {
    const rows = (...items: string[]) =>
      `{\n  ${TOOLS},\n  // few\n  "examples": [\n${items.join('\n')}\n  ], // end\n}`;
    const text = rows(`    ${line(1)}, // one`, `    ${line(2)}, // two`);
    const after = editRecords(text, ['examples'], { changed: [], added: [record(3)] });
    assert.equal(
      after,
      rows(
        `    ${line(1)}, // one`,
        `    ${line(2)},`,
        '    {"tool": "get", "arguments": {"id": 3}, "outcome": "result", "value": {"id": 3}, "afterWrite": false, "part": "train"}, // two',
      ),
    );
    assert.equal((await loaded(after)).examples.length, 3);
    const tall = `{\n  ${TOOLS},\n  "examples": [\n    {\n      "tool": "get",\n      "arguments": {},\n      "value": 1\n    }\n  ]\n}`;
    const { places } = await loaded(tall);
    const changed = editRecords(tall, ['examples'], {
      changed: [{ at: places[0]!, fields: { verdict: 'match' } }],
      added: [record(4)],
    });
    assert.match(changed, /"value": 1,\n {6}"verdict": "match"\n {4}\},\n {4}\{\n {6}"tool": "get"/);
  });

  it('make the list where there is none', async () => {
    for (const text of [`{${TOOLS}}`, `{\n\t${TOOLS}, // the tools\n}`, `{${TOOLS}, "examples": []}`]) {
      const after = editRecords(text, ['examples'], { changed: [], added: [record(1), record(2)] });
      assert.deepEqual((await loaded(after)).examples, [record(1), record(2)], after);
      assert.equal(after.includes('// the tools'), text.includes('// the tools'));
    }
  });

  it('find the list of a file, whatever is around it', () => {
    assert.equal(recordsIn('', 'a.jsonl'), 'lines');
    assert.deepEqual(recordsIn('[]', 'a.json'), []);
    assert.deepEqual(recordsIn('{"examples": []}', 'a.json'), ['examples']);
    assert.equal(recordsIn('{"x": 1}', 'a.json'), null);
  });

  it('ignore a field once', async () => {
    const text = `{\n  ${TOOLS},\n  "ignore": ["$.id"] // ids\n}`;
    const after = addIgnored(text, ['$.id', "$['a b'][*].c", "$['a b'][*].c"]);
    assert.equal(after, text.replace('"$.id"', `"$.id", "$['a b'][*].c"`));
    assert.equal(addIgnored(after, ['$.id']), after);
    assert.deepEqual((await loaded(addIgnored(`{${TOOLS}}`, ['$.x']))).ignore, ['$.x']);
  });

  it('are read back whatever they hold, and change nothing else', async () => {
    const value = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>;
    const gap = fc.constantFrom('', ' ', '\n', '\r\n  ', ' /* x */ ', '\n  // y\n  ');
    const records = fc.array(value, { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(
        records,
        value,
        value,
        gap,
        gap,
        fc.boolean(),
        async (old, first, second, a, b, trailing) => {
          const items = old.map(
            (one) => `{"tool": "get", "arguments": {},${a}"value": ${JSON.stringify(one)}}`,
          );
          const end = trailing && items.length ? ',' : '';
          const text = `{${TOOLS}, "examples": [${b}${items.join(`,${a}`)}${end}${b}]${a}}`;
          const before = await loaded(text);
          const change = before.places
            .slice(0, 1)
            .map((at) => ({ at, fields: { verdict: 'match' as const, rehearsed: second } }));
          const after = editRecords(text, ['examples'], {
            changed: change,
            added: [record(1, { value: first })],
          });
          const { examples } = await loaded(after);
          const expected = before.examples.map((one, i) =>
            i === 0 ? { ...one, verdict: 'match' as const, rehearsed: second } : one,
          );
          // Through JSON: it knows no −0 and no undefined.
          const plain = (all: unknown) => JSON.parse(JSON.stringify(all)) as unknown;
          assert.deepEqual(plain(examples), plain([...expected, record(1, { value: first })]));
          const { offset, length, text: put } = replacementOf(text, after);
          assert.equal(text.slice(0, offset) + put + text.slice(offset + length), after);
        },
      ),
    );
  });
});
