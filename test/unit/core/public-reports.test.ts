import assert from 'node:assert/strict';
import { parseAct } from '../../../src/core/conversation/parse';
import { createGates } from '../../../src/core/environment/gates';
import { loadEnvironment } from '../../../src/core/environment/load';
import type { Json, JsonObject } from '../../../src/core/json';
import { sharedText } from '../shared-data';

/** Problems that people reported of other tools, with the input of each report. */
describe('public reports', () => {
  function inputOf(context: Mocha.Context, id: string): Record<string, never> {
    const { probes } = JSON.parse(sharedText(context, 'data/toolcalls/public_reports.json'));
    return probes.find((probe: { id: string }) => probe.id === id).input;
  }
  const gate = (parameters: JsonObject, args: Json) =>
    createGates([{ name: 'f', description: '', parameters, readOnly: true }]).check({
      kind: 'call',
      call: { name: 'f', arguments: args, argumentsText: '' },
    });

  it('a call drafted in reasoning is made once', function () {
    const parse = parseAct(inputOf(this, 'think-draft').assistant!, 'hermes');
    assert.equal(parse.items.length, 1);
    assert.match(parse.notes.join(), /mentioned, not executed/);
  });

  it('a closing tag inside a string ends nothing', function () {
    const [item] = parseAct(inputOf(this, 'close-tag-in-string').assistant!, 'hermes').items;
    assert.ok(item?.kind === 'call');
    assert.deepEqual(item.call.arguments, { body: 'close it with </tool_call> please' });
  });

  it('arguments of a tool without parameters may be empty', function () {
    const call = inputOf(this, 'empty-args').tool_call as unknown as { function: { arguments: string } };
    assert.equal(gate({ type: 'object', properties: {} }, call.function.arguments), null);
  });

  it('arguments encoded twice are told as such', function () {
    const call = inputOf(this, 'double-encoded-args').tool_call as unknown as {
      function: { arguments: string };
    };
    const failure = gate({ type: 'object' }, JSON.parse(call.function.arguments));
    assert.match(JSON.stringify(failure?.details), /must be an object, is a string: send the object itself/);
  });

  it('references into $defs hold, and a dangling one is one tool’s problem', async function () {
    const { inputSchema } = inputOf(this, 'ref-defs') as unknown as { inputSchema: JsonObject };
    const dangling = { ...inputSchema, $defs: {} };
    const text = JSON.stringify({
      tools: [
        { name: 'a', inputSchema },
        { name: 'b', inputSchema: dangling },
      ],
    });
    const { environment, diagnostics } = await loadEnvironment(text, { path: 'x', read: async () => '' });
    assert.deepEqual(
      environment!.tools.map((tool) => [tool.name, tool.problem !== undefined]),
      [
        ['a', false],
        ['b', true],
      ],
    );
    assert.deepEqual(environment!.tools[0]!.parameters, inputSchema, 'kept as it was written');
    assert.equal(diagnostics.length, 1);
    assert.match(JSON.stringify(gate(inputSchema, { q: { child: { n: 'x' } } })), /\/q\/child\/n/);
  });

  it('a list sent as text is told where it is, and a declared string is left alone', function () {
    const { schema, arguments: args } = inputOf(this, 'stringified-array') as unknown as {
      schema: JsonObject;
      arguments: Json;
    };
    const details = gate(schema, args)?.details as { path: string }[];
    assert.deepEqual(
      details.map(({ path }) => path),
      ['/tags'],
    );
  });

  it('broken arguments are never repaired', function () {
    const broken = inputOf(this, 'json-repair-guess').arguments as unknown as string;
    const text = `<tool_call>\n{"name": "f", "arguments": ${broken}}\n</tool_call>`;
    const [item] = parseAct(text, 'hermes').items;
    assert.ok(item?.kind === 'format_error');
    assert.match(item.reason, /not JSON/);
    assert.ok(item.text.includes(broken), 'the raw text is kept');
  });

  it('an expected value outside the enum is a diagnostic, and the check still runs', async function () {
    const { schema_enum, gold } = inputOf(this, 'gold-data-errors') as unknown as {
      schema_enum: string[];
      gold: string;
    };
    const tools = [
      { name: 'f', parameters: { type: 'object', properties: { x: { type: 'string', enum: schema_enum } } } },
    ];
    const tasks = [
      {
        id: 't',
        instruction: 'i',
        checks: [{ kind: 'calls', expected: [{ tool: 'f', arguments: { x: gold } }] }],
      },
    ];
    const { environment, diagnostics } = await loadEnvironment(JSON.stringify({ tools, tasks }), {
      path: 'x',
      read: async () => '',
    });
    assert.equal(environment!.tasks.length, 1);
    assert.deepEqual(
      diagnostics.map((d) => [d.code, d.severity]),
      [['expected-value', 'warning']],
    );
    assert.match(diagnostics[0]!.message, /not allowed by the schema/);
  });
});
