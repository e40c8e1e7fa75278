import assert from 'node:assert/strict';
import fc from 'fast-check';
import { compareAnswers } from '../../../../src/core/fidelity/compare';
import { classOfText, outcomeClass } from '../../../../src/core/fidelity/errors';
import type { Answer, Rules, Tolerance } from '../../../../src/core/fidelity/types';
import type { Json } from '../../../../src/core/json';

const result = (value: Json): Answer => ({ outcome: 'result', value });
const error = (value: Json): Answer => ({ outcome: 'error', value });
const rules = (ignore: string[], ...tolerances: Tolerance[]): Rules => ({ ignore, tolerances });

/** What is not a plain match, as `kind path`. */
function differences(rehearsed: Json, real: Json, given?: Rules): string[] {
  const { fields } = compareAnswers(result(rehearsed), result(real), given);
  return fields.filter(({ kind }) => kind !== 'match').map(({ kind, path }) => `${kind} ${path}`);
}

function labelOf(rehearsed: Json, real: Json): string | undefined {
  const { fields, verdict } = compareAnswers(result({ x: rehearsed }), result({ x: real }));
  assert.equal(verdict, 'differs');
  return fields[0]!.label;
}

describe('a rehearsed answer beside the real one', () => {
  it('matches whatever the order of keys', () => {
    const { verdict, first, fields } = compareAnswers(
      result({ a: 1, b: { c: [] } }),
      result({ b: { c: [] }, a: 1 }),
    );
    assert.equal(verdict, 'match');
    assert.equal(first, null);
    assert.deepEqual(
      fields.map(({ path }) => path),
      ['$.b.c', '$.a'],
    );
  });

  it('differs, lacks and invents fields, each at its path', () => {
    const real = { status: 'shipped', items: [{ id: 'a', price: 2 }], total: null, 'a b': 1 };
    const rehearsed = { status: 'pending', items: [{ id: 'a', cost: 2 }], 'a b': '1' };
    assert.deepEqual(differences(rehearsed, real), [
      'differs $.status',
      'missing $.items[0].price',
      'extra $.items[0].cost',
      'missing $.total',
      "differs $['a b']",
    ]);
    const { first, fields } = compareAnswers(result(rehearsed), result(real));
    assert.equal(first?.path, '$.status');
    assert.equal(fields.find(({ path }) => path === '$.items[0].price')?.field, '$.items[*].price');
  });

  it('is aligned by the ends of lists where one item is gone or new', () => {
    assert.deepEqual(differences(['a', 'c'], ['a', 'b', 'c']), ['missing $[1]']);
    assert.deepEqual(differences(['a', 'b', 'c'], ['a', 'c']), ['extra $[1]']);
    assert.deepEqual(differences(['b', 'a'], ['a', 'b']), ['differs $[0]', 'differs $[1]']);
  });

  it('that is a result where the tool failed differs as a whole', () => {
    const compared = compareAnswers(result({ order: 1 }), error({ error: 'Order not found' }));
    assert.equal(compared.verdict, 'differs');
    assert.deepEqual(compared.outcome, { rehearsed: 'result', real: 'Order not found', same: false });
    assert.equal(compared.fields.length, 1);
    assert.equal(compared.first?.path, '$');
  });

  it('of keys that are no ordinary names is compared like any other', () => {
    const odd = JSON.parse('{"__proto__": 1, "constructor": 2, "": 3, "it\'s": 4}') as Json;
    const other = JSON.parse('{"__proto__": 5, "constructor": 2, "": 3, "it\'s": 4}') as Json;
    assert.deepEqual(differences(odd, odd), []);
    assert.deepEqual(differences(other, odd), ['differs $.__proto__']);
    assert.deepEqual(differences({}, { toString: 1 }), ['missing $.toString']);
  });
});

describe('what the author lets pass', () => {
  const real = {
    id: 'x1',
    total: 100,
    at: '2026-01-01T10:00:00Z',
    items: [
      { id: 1, n: 2 },
      { id: 2, n: 3 },
    ],
    note: null,
  };

  it('ignored fields may differ, be missing or be extra, and are shown as tolerable', () => {
    const { id: _, ...without } = real;
    const ignoring = rules(['$.id', '$..extra']);
    assert.deepEqual(differences({ ...real, id: 'y' }, real, ignoring), ['tolerable $.id']);
    assert.deepEqual(differences(without, real, ignoring), ['tolerable $.id']);
    assert.deepEqual(differences({ ...real, extra: 1 }, real, ignoring), ['tolerable $.extra']);
    assert.equal(compareAnswers(result(without), result(real), ignoring).verdict, 'tolerable');
    assert.deepEqual(differences({ ...real, id2: 1 }, real, ignoring), ['extra $.id2']);
    assert.deepEqual(
      differences(
        {
          ...real,
          items: [
            { id: 1, n: 9 },
            { id: 2, n: 3 },
          ],
        },
        real,
        rules(['$.items']),
      ),
      ['tolerable $.items[0].n'],
    );
    assert.deepEqual(
      differences(
        {
          ...real,
          items: [
            { id: 1, n: 9 },
            { id: 2, n: 9 },
          ],
        },
        real,
        rules(['$.items[?@.id == 2].n']),
      ),
      ['differs $.items[0].n', 'tolerable $.items[1].n'],
    );
  });

  it('numbers within an absolute or relative bound, also as text', () => {
    const near = (number: Tolerance['number'], value: Json) =>
      differences({ ...real, total: value }, real, rules([], { path: '$.total', number }));
    assert.deepEqual(near({ absolute: 0.5 }, 100.5), ['tolerable $.total']);
    assert.deepEqual(near({ absolute: 0.5 }, 100.51), ['differs $.total']);
    assert.deepEqual(near({ relative: 0.01 }, 99), ['tolerable $.total']);
    assert.deepEqual(near({ relative: 0.01 }, 98.9), ['differs $.total']);
    assert.deepEqual(near({ absolute: 0 }, '100.0'), ['tolerable $.total']);
    assert.deepEqual(near({ absolute: 1000 }, 'much'), ['differs $.total']);
    assert.deepEqual(near({ absolute: 1000 }, null), ['differs $.total']);
  });

  it('times within seconds, in any zone; local times only beside local times', () => {
    const near = (value: Json, other: Json = real.at) =>
      differences({ at: value }, { at: other }, rules([], { path: '$.at', time: { seconds: 60 } }));
    assert.deepEqual(near('2026-01-01T11:00:59+01:00'), ['tolerable $.at']);
    assert.deepEqual(near('2026-01-01T10:01:01Z'), ['differs $.at']);
    assert.deepEqual(near('Thu, 01 Jan 2026 10:00:30 GMT'), ['tolerable $.at']);
    assert.deepEqual(near(1767261600), ['tolerable $.at']);
    assert.deepEqual(near(1767261600123), ['tolerable $.at']);
    assert.deepEqual(near('2026-01-01 10:00:10'), ['differs $.at']);
    assert.deepEqual(near('2026-01-01 10:00:10', '2026-01-01T10:00'), ['tolerable $.at']);
    assert.deepEqual(near('soon'), ['differs $.at']);
  });

  it('lists as sets, and lists whose items have a key', () => {
    const turned = { ...real, items: [...real.items].reverse() };
    assert.deepEqual(differences(turned, real, rules([], { path: '$.items', list: 'set' })), []);
    assert.deepEqual(
      differences({ l: [3, 1, 4] }, { l: [1, 2, 3] }, rules([], { path: '$.l', list: 'set' })),
      ['missing $.l[1]', 'extra $.l[2]'],
    );
    assert.deepEqual(differences({ l: [1] }, { l: [1, 1] }, rules([], { path: '$.l', list: 'set' })), [
      'missing $.l[1]',
    ]);
    const keyed = rules([], { path: '$.items', list: { key: 'id' } });
    const changed = {
      ...real,
      items: [
        { id: 2, n: 4 },
        { id: 1, n: 2 },
        { id: 3, n: 0 },
      ],
    };
    assert.deepEqual(differences(changed, real, keyed), ['differs $.items[1].n', 'extra $.items[2]']);
    const both = rules(
      [],
      { path: '$.items', list: 'set' },
      { path: '$.items[*].n', number: { absolute: 1 } },
    );
    assert.deepEqual(
      differences(
        {
          ...real,
          items: [
            { id: 2, n: 4 },
            { id: 1, n: 2 },
          ],
        },
        real,
        both,
      ),
      ['tolerable $.items[1].n'],
    );
  });

  it('null for absent', () => {
    const { note: _, ...without } = real;
    assert.deepEqual(differences(without, real), ['missing $.note']);
    assert.deepEqual(differences(without, real, rules([], { path: '$.note', null: 'absent' })), [
      'tolerable $.note',
    ]);
    assert.deepEqual(differences(real, without, rules([], { path: '$.note', null: 'absent' })), [
      'tolerable $.note',
    ]);
  });

  it('a malformed path lets nothing pass', () => {
    assert.deepEqual(differences({ a: 1 }, { a: 2 }, rules(['$.a[', '$$'])), ['differs $.a']);
  });
});

describe('traps of real answers', () => {
  it('plain text instead of JSON stands for the one field that a policy can write', () => {
    assert.equal(
      compareAnswers(result({ result: 'yusuf_rossi_9620' }), result('yusuf_rossi_9620')).verdict,
      'match',
    );
    assert.equal(
      compareAnswers(error({ error: 'Order not found' }), error('Order not found')).verdict,
      'match',
    );
    assert.equal(
      compareAnswers(error({ error: 'Order not found' }), error({ detail: 'Order not found' })).verdict,
      'match',
    );
    assert.deepEqual(differences({ result: 'a' }, 'b'), ['differs $.result']);
  });

  it('numbers as text differ, and the label says how', () => {
    assert.equal(labelOf('10', 10), 'the same number, as text on one side');
    assert.equal(labelOf(10, '10.0'), 'the same number, as text on one side');
    assert.equal(labelOf('true', true), 'the same value, as text on one side');
  });

  it('absent against null differs, and the label says how', () => {
    assert.equal(labelOf('x', null), 'string, and null');
    const { fields } = compareAnswers(result({}), result({ note: null }));
    assert.deepEqual([fields[0]!.kind, fields[0]!.label], ['missing', 'absent, and null']);
  });

  it('an error in a successful result of MCP is an error of its class', () => {
    const text = 'MCP error -32602: Tool nope not found';
    assert.equal(outcomeClass(error([{ type: 'text', text }])), 'Tool nope not found');
    assert.equal(outcomeClass(error(text)), 'Tool nope not found');
  });

  it('JSON inside a text is looked into, however it is laid out', () => {
    const real = { content: '[\n  {\n    "name": "A"\n  }\n]' };
    assert.deepEqual(differences({ content: '[{"name":"A"}]' }, real), []);
    assert.deepEqual(differences({ content: '[{"name":"B"}]' }, real), ['differs $.content[0].name']);
    assert.deepEqual(differences({ content: '[{"name":"B"}]' }, real, rules(['$.content[*].name'])), [
      'tolerable $.content[0].name',
    ]);
    const twice = JSON.stringify(JSON.stringify({ a: JSON.stringify({ b: 1 }) }));
    assert.deepEqual(differences({ a: '{"b": 1}' }, twice), []);
    assert.deepEqual(differences({ a: '{"b": 2}' }, twice), ['differs $.a.b']);
    assert.equal(labelOf([{ name: 'A' }], real.content), 'JSON as text on one side');
  });

  it('floating-point dust is no difference; neighbouring ids are', () => {
    assert.deepEqual(differences({ total: 45.16 }, { total: 45.159999999999854 }), []);
    assert.deepEqual(differences({ total: 45.16 }, { total: 45.15 }), ['differs $.total']);
    assert.deepEqual(differences({ id: 6992792935 }, { id: 6992792936 }), ['differs $.id']);
    assert.deepEqual(differences({ at: 1767261600123 }, { at: 1767261600124 }), ['differs $.at']);
  });

  it('likeness of texts is a label and no verdict', () => {
    assert.equal(labelOf('See https://x.org/v1', 'See https://x.org/v2'), 'texts 95 % alike');
    assert.equal(labelOf('Oak  Street', 'Oak Street'), 'the same but for white space');
    assert.equal(labelOf('oak street', 'Oak Street'), 'the same but for letter case');
  });

  it('classes of errors leave out ids, paths, times and addresses', () => {
    const same = (...messages: string[]) => new Set(messages.map(classOfText)).size === 1;
    assert.ok(same('Error: Order #W1 not found', 'Order #W9876543 not found.'));
    assert.ok(
      same(
        'Access denied - path outside allowed directories: /etc/passwd',
        'Access denied - path outside allowed directories: C:\\x\\y',
      ),
    );
    assert.ok(same('Rate limited until 2026-01-01T10:00:00Z', 'Rate limited until 2026-03-04 11:12:13'));
    assert.ok(same('see https://docs.x.org/v1/errors', 'see https://docs.x.org/v2.3/errors#a'));
    assert.ok(!same('Order not found', 'User not found'));
    assert.equal(outcomeClass(error({ error: { code: 'NOT_FOUND', message: 'x' } })), 'NOT_FOUND');
    assert.equal(
      outcomeClass(error({ error_tool_call: { code: 'INVALID_PARAMETERS', message: 'x' } })),
      'INVALID_PARAMETERS',
    );
    assert.equal(outcomeClass(error({})), 'error');
    assert.equal(outcomeClass(error(null)), 'error');
  });
});

describe('any two answers', () => {
  const json = fc.jsonValue({ maxDepth: 4 }).map((value) => value as Json);

  it('are compared without an error, and equal ones match', () => {
    fc.assert(
      fc.property(json, json, (a, b) => {
        assert.equal(compareAnswers(result(a), result(a)).verdict, 'match');
        assert.equal(compareAnswers(error(a), error(a)).verdict, 'match');
        const there = compareAnswers(result(a), result(b));
        const back = compareAnswers(result(b), result(a));
        assert.equal(there.verdict, back.verdict);
        assert.equal(there.first === null, there.verdict !== 'differs');
      }),
    );
  });

  it('classes of errors come from any text', () => {
    fc.assert(fc.property(fc.string(), (text) => classOfText(text).length <= 80));
  });
});
