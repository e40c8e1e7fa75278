import assert from 'node:assert/strict';
import { argumentsOf, createGates, type Gates } from '../../../../src/core/environment/gates';
import type { Tool } from '../../../../src/core/environment/types';
import type { Json, JsonObject } from '../../../../src/core/json';

const tool = (name: string, parameters: JsonObject): Tool => ({
  name,
  description: '',
  parameters,
  readOnly: true,
});

const tools = [
  tool('book', {
    type: 'object',
    properties: {
      id: { type: 'string' },
      seats: { type: 'integer', minimum: 1 },
      cabin: { enum: ['economy', 'business'] },
      tags: { type: 'array', items: { type: 'string' } },
      note: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    },
    required: ['id'],
    additionalProperties: false,
  }),
  tool('list', { type: 'object', properties: { page: { type: 'integer' } } }),
  tool('tree', {
    type: 'object',
    properties: { q: { $ref: '#/$defs/Q' } },
    $defs: { Q: { type: 'object', properties: { n: { type: 'integer' }, child: { $ref: '#/$defs/Q' } } } },
  }),
  tool('dangling', { type: 'object', properties: { q: { $ref: '#/$defs/Nowhere' } } }),
];
const gates = createGates(tools);
const checkOf = (of: Gates, name: string, args: Json) =>
  of.check({ kind: 'call', call: { name, arguments: args, argumentsText: JSON.stringify(args) } });
const check = (name: string, args: Json) => checkOf(gates, name, args);

describe('gates', () => {
  it('let a call through that its tool takes', () => {
    assert.equal(check('book', { id: 'A', seats: 2, cabin: 'economy', tags: [], note: null }), null);
  });

  it('answer a format error with its reason', () => {
    const failure = gates.check({ kind: 'format_error', reason: 'name missing', text: '{}' });
    assert.equal(failure?.code, 'INVALID_TOOL_CALL_FORMAT');
    assert.match(failure!.message, /name missing/);
  });

  it('answer an unknown tool by asking for one of those provided', () => {
    const failure = check('bok', {});
    assert.equal(failure?.code, 'TOOL_NOT_AVAILABLE');
    assert.match(failure!.message, /"bok".*tools provided/);
    assert.equal(check('toString', {})?.code, 'TOOL_NOT_AVAILABLE');
  });

  it('list what is wrong with arguments, each with its path', () => {
    const failure = check('book', { seats: '2', cabin: 'first', tags: ['a', 1], note: 3, extra: true });
    assert.equal(failure?.code, 'INVALID_PARAMETERS');
    const found = Object.fromEntries(
      (failure!.details as { path: string; message: string }[]).map((d) => [d.message, d.path]),
    );
    assert.deepEqual(found, {
      'required field "id" is missing': '/',
      'unknown field "extra"': '/',
      'must be integer, is string: send the value itself, not its text': '/seats',
      'must be one of ["economy","business"]': '/cabin',
      'must be string, is number': '/tags/1',
      'must be string or null, is number': '/note',
    });
  });

  it('report a list sent as JSON text at that argument, and never touch a declared string', () => {
    const failure = check('book', { id: '["keep me"]', tags: '["a","b"]' });
    assert.deepEqual(failure?.details, [
      { path: '/tags', message: 'must be array, is string: send the value itself, not its text' },
    ]);
  });

  it('refuse arguments that are no object, also JSON in a string', () => {
    for (const args of [null, 3, 'x', ['a'], '{"id":"A"}'] as Json[]) {
      assert.equal(check('book', args)?.code, 'INVALID_PARAMETERS', JSON.stringify(args));
    }
    assert.match(JSON.stringify(check('book', '{"id":"A"}')), /not its text/);
  });

  it('take an empty text as no arguments where none are required', () => {
    assert.equal(check('list', ''), null);
    assert.equal(check('list', ' \n'), null);
    assert.deepEqual(argumentsOf(tools[1]!, { arguments: '' }), {});
    assert.equal(check('book', '')?.code, 'INVALID_PARAMETERS');
    assert.equal(argumentsOf(tools[0]!, { arguments: '' }), '');
  });

  it('refuse numbers that are not finite, which ajv takes', () => {
    assert.match(JSON.stringify(check('list', { page: Number.POSITIVE_INFINITY })), /not finite/);
    assert.match(JSON.stringify(check('list', { page: Number.NaN })), /not finite/);
  });

  it('follow recursive references', () => {
    assert.equal(check('tree', { q: { n: 1, child: { n: 2 } } }), null);
    assert.match(
      JSON.stringify(check('tree', { q: { child: { child: { n: 'x' } } } })),
      /\/q\/child\/child\/n/,
    );
  });

  it('follow references of a schema to itself', () => {
    const own = createGates([
      tool('node', { type: 'object', properties: { n: { type: 'integer' }, next: { $ref: '#' } } }),
    ]);
    const of = (args: Json) => checkOf(own, 'node', args);
    assert.deepEqual([...own.problems], []);
    assert.equal(of({ n: 1, next: { n: 2, next: { n: 3 } } }), null);
    assert.match(JSON.stringify(of({ next: { next: { n: 'x' } } })), /\/next\/next\/n/);
  });

  it('refuse calls of a tool whose schema never comes to an end', () => {
    const endless = createGates([tool('endless', { $ref: '#' })]);
    assert.match(JSON.stringify(checkOf(endless, 'endless', {})), /cannot be held against its schema/);
  });

  it('let no schema take the name of a dialect or of another tool', () => {
    const body = (n: number) => ({
      type: 'object',
      properties: { q: { $ref: '#/$defs/q' } },
      $defs: { q: { minimum: n } },
    });
    const names: Json[] = [
      'http://json-schema.org/draft-07/schema#',
      'https://json-schema.org/draft/2020-12/schema',
      'x',
      'x',
      '',
      5,
      {},
    ];
    const many = createGates(names.map(($id, n) => tool(`t${n}`, { $id, ...body(n) })));
    assert.deepEqual([...many.problems], []);
    for (const n of names.keys()) {
      const ask = (q: number) => checkOf(many, `t${n}`, { q });
      assert.equal(ask(n), null);
      assert.equal(ask(n - 1)?.code, 'INVALID_PARAMETERS');
    }
  });

  it('refuse calls of a tool whose schema does not compile, and of that tool only', () => {
    assert.match(check('dangling', {})!.message, /schema of dangling does not compile/);
    assert.deepEqual([...gates.problems.keys()], ['dangling']);
    assert.equal(check('list', {}), null);
  });

  it('choose the dialect by $schema, today’s where there is none, and the older where only it compiles', () => {
    const tuple = { type: 'array', items: [{ type: 'number' }, { type: 'string' }] };
    const prefix = { type: 'array', prefixItems: [{ type: 'number' }] };
    const some = createGates([
      tool('older', { type: 'object', properties: { t: tuple } }),
      tool('named', {
        $schema: 'http://json-schema.org/draft-07/schema#',
        type: 'object',
        properties: { t: tuple },
      }),
      tool('today', { type: 'object', properties: { t: prefix } }),
      tool('unknown', { $schema: 'https://example.org/own', type: 'object', properties: { t: prefix } }),
      tool('draft4', {
        type: 'object',
        id: 'x',
        properties: { t: { type: 'number', minimum: 0, exclusiveMinimum: true } },
      }),
      tool('pattern', { type: 'object', properties: { t: { type: 'string', pattern: '^[\\w-\\.]+$' } } }),
    ]);
    const run = (name: string, t: Json) =>
      some.check({ kind: 'call', call: { name, arguments: { t }, argumentsText: '' } });
    for (const name of ['older', 'named']) {
      assert.equal(run(name, [1, 'a']), null, name);
      assert.equal(run(name, ['a', 'a'])?.code, 'INVALID_PARAMETERS', name);
    }
    for (const name of ['today', 'unknown']) assert.equal(run(name, ['a'])?.code, 'INVALID_PARAMETERS', name);
    assert.equal(run('pattern', 'a-b.c'), null);
    assert.deepEqual([...some.problems.keys()], ['draft4']);
  });

  it('know properties called required, type or __proto__', () => {
    const odd = createGates([
      tool('odd', {
        type: 'object',
        properties: { required: { type: 'boolean' }, type: { type: 'string' }, 'a b.c': { type: 'integer' } },
      }),
    ]);
    const args = JSON.parse('{"required": true, "type": "dict", "a b.c": 1, "__proto__": {"x": 1}}');
    const call = { name: 'odd', arguments: args, argumentsText: '' };
    assert.equal(odd.check({ kind: 'call', call }), null);
    assert.equal(odd.problems.size, 0);
  });
});
