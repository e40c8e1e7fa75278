import assert from 'node:assert/strict';
import { loadEnvironment } from '../../../../src/core/environment/load';
import type { Json } from '../../../../src/core/json';

const tools = [
  {
    name: 'get',
    parameters: {
      type: 'object',
      properties: { id: { type: 'string' }, mode: { type: 'string', enum: ['all', 'one'] } },
      required: ['id'],
    },
  },
  { name: 'open', parameters: { type: 'object', properties: {}, additionalProperties: true } },
];

/** Codes and messages for a task with these checks, or for these examples. */
async function lint(checks: Json[], examples: Json[] = []) {
  const text = JSON.stringify({ tools, examples, tasks: [{ id: 't', instruction: 'Go.', checks }] }, null, 1);
  const { environment, diagnostics } = await loadEnvironment(text, { path: 'x', read: async () => '' });
  assert.equal(environment!.tasks.length, 1, 'lint drops nothing');
  return diagnostics.map((d) => ({
    code: d.code,
    severity: d.severity,
    message: d.message,
    next: d.next ?? '',
    marked: text.slice(d.offset, d.offset + d.length),
  }));
}
const calls = (...expected: Json[]) => ({ kind: 'calls', expected });
const good = calls({ tool: 'get', arguments: { id: 'A' } });

describe('linting a task', () => {
  it('is content with a sound one', async () => {
    const matchers = { id: { $regex: '^#W\\d+$' }, mode: { $oneOf: [{ $absent: true }, 'all'] } };
    assert.deepEqual(
      await lint([
        good,
        calls({ tool: 'get', arguments: matchers }),
        calls({ tool: 'open', arguments: { x: 1 } }),
      ]),
      [],
    );
  });

  it('names a tool that is not there and those that are', async () => {
    const [first, ...rest] = await lint([good, { kind: 'forbidden', calls: [{ tool: 'cancel' }] }]);
    assert.deepEqual(
      [first?.code, first?.severity, first?.marked, rest.length],
      ['unknown-tool', 'error', '"cancel"', 0],
    );
    assert.equal(first!.next, 'Tools are: get, open.');
    const [from] = await lint([good, { kind: 'fromResult', tool: 'nope', path: '$.x' }]);
    assert.equal(from?.code, 'unknown-tool');
  });

  it('names what a judged check depends on and is not there, or comes round to it', async () => {
    const judge = (more: object) => ({ kind: 'judge', question: 'Good?', passCondition: 'Yes.', ...more });
    assert.deepEqual(await lint([{ ...good, id: 'calls' }, judge({ dependsOn: ['calls'] })]), []);
    const [unknown] = await lint([{ ...good, id: 'calls' }, judge({ dependsOn: ['call'] })]);
    assert.deepEqual(
      [unknown?.code, unknown?.marked, unknown?.next],
      ['unknown-check', '"call"', 'Ids are: calls.'],
    );
    const circle = await lint([judge({ id: 'a', dependsOn: ['b'] }), judge({ id: 'b', dependsOn: ['a'] })]);
    assert.deepEqual(
      circle.map(({ code }) => code),
      ['circular-check', 'circular-check'],
    );
    const [twice] = await lint([{ ...good, id: 'x' }, judge({ id: 'x' })]);
    assert.deepEqual([twice?.code, twice?.marked], ['duplicate-check', '"x"']);
  });

  it('names an argument that the tool does not have', async () => {
    const [first] = await lint([calls({ tool: 'get', arguments: { id: 'A', ident: 'A' } })]);
    assert.deepEqual([first?.code, first?.marked], ['unknown-argument', '"ident"']);
    assert.match(first!.next, /id, mode/);
  });

  it('names an expected value that the schema refuses, and keeps the check', async () => {
    const [first] = await lint([calls({ tool: 'get', arguments: { id: 'A', mode: 'openai' } })]);
    assert.deepEqual(
      [first?.code, first?.severity, first?.marked],
      ['expected-value', 'warning', '"openai"'],
    );
    assert.deepEqual(
      await lint([calls({ tool: 'get', arguments: { mode: 'all' } })]),
      [],
      'others may be given',
    );
  });

  it('names matchers and patterns that cannot work', async () => {
    for (const matcher of [
      { $regex: '(' },
      { $regx: 'a' },
      { $oneOf: [] },
      { $number: { about: 3 } },
      { $any: true, $absent: true },
      { deep: [{ $text: 'x' }] },
    ]) {
      const found = await lint([calls({ tool: 'open', arguments: { x: matcher as unknown as Json } })]);
      assert.deepEqual(
        found.map((d) => d.code),
        ['matcher'],
        JSON.stringify(matcher),
      );
    }
    assert.deepEqual(
      (await lint([{ kind: 'answer', pattern: '(' }])).map((d) => [d.code, d.marked]),
      [['pattern', '"("']],
    );
    assert.deepEqual(
      (await lint([{ kind: 'answer', pattern: '(a+)+$' }])).map((d) => d.code),
      ['slow-pattern'],
    );
    assert.deepEqual(await lint([{ kind: 'answer', pattern: '(\\d{1,3},)*\\d+ (dollars|euros)?' }]), []);
    assert.deepEqual(
      (await lint([good, { kind: 'answer', schema: { type: 'dict' } }])).map((d) => d.code),
      ['answer-schema'],
    );
    assert.deepEqual(
      (await lint([good, { kind: 'fromResult', tool: 'get', path: '$.[' }])).map((d) => d.code),
      ['path'],
    );
  });

  it('names a task that no check can fail', async () => {
    for (const checks of [
      [],
      [{ ...good, weight: 0 }],
      [{ kind: 'answer' }],
      [{ kind: 'answer', contains: ' ' }],
      [{ kind: 'calls', expected: [], others: 'any' }],
    ]) {
      const found = await lint(checks as Json[]);
      assert.deepEqual(
        found.map((d) => d.code),
        ['cannot-fail'],
        JSON.stringify(checks),
      );
      assert.equal(found[0]!.marked, '"checks"');
    }
    assert.deepEqual(await lint([{ ...good, weight: 0, required: true }]), []);
  });

  it('names a task that can be pleased', async () => {
    const fromResult = { kind: 'fromResult', tool: 'get', path: '$.price' };
    assert.deepEqual(
      (await lint([fromResult])).map((d) => d.code),
      ['can-be-pleased'],
    );
    assert.deepEqual(await lint([fromResult, good]), []);
  });
});

describe('linting recorded calls', () => {
  const record = { tool: 'get', arguments: { id: 'A' }, value: { x: 1 } };

  it('names one that contradicts its schema, but not a recorded error', async () => {
    const [first] = await lint([good], [{ ...record, arguments: { id: 7 } }]);
    assert.deepEqual(
      [first?.code, first?.message],
      ['example-schema', 'This recorded call contradicts the schema of get: id must be string, is number.'],
    );
    assert.deepEqual(await lint([good], [{ ...record, arguments: {}, value: { error: 'id missing' } }]), []);
  });

  it('names an unknown tool and answers that contradict one another', async () => {
    assert.deepEqual(
      (await lint([good], [{ ...record, tool: 'gone' }])).map((d) => [d.code, d.marked]),
      [['unknown-tool', '"gone"']],
    );
    assert.deepEqual(
      (await lint([good], [record, { ...record, value: { x: 2 } }])).map((d) => d.code),
      ['contradicting-examples'],
    );
    assert.deepEqual(await lint([good], [record, { ...record, value: { x: 2 }, afterWrite: true }]), []);
  });
});
