import assert from 'node:assert/strict';
import { parseAct } from '../../../../src/core/conversation/parse';
import type { ActParse } from '../../../../src/core/conversation/types';
import { sharedText } from '../../shared-data';

/** Calls as `[name, arguments]`, format errors as their reason. */
function items(parse: ActParse): unknown[] {
  return parse.items.map((item) =>
    item.kind === 'call' ? [item.call.name, item.call.arguments] : item.reason,
  );
}

const block = (body: string) => `<tool_call>\n${body}\n</tool_call>`;

describe('parsing an ACT message (Hermes)', () => {
  interface Case {
    case: string;
    text: string;
    right: { items: ({ call: unknown } | { format_error: string })[]; notes?: string[] };
  }

  it('reads every shared case as it should be read', function () {
    const { cases } = JSON.parse(sharedText(this, 'data/toolcalls/parse_cases.json')) as { cases: Case[] };
    for (const { case: name, text, right } of cases) {
      const parse = parseAct(text, 'hermes');
      const found = parse.items.map((item) =>
        item.kind === 'call'
          ? { call: { name: item.call.name, arguments: item.call.arguments } }
          : { format_error: 'some reason' },
      );
      const wanted = right.items.map((item) => ('call' in item ? item : { format_error: 'some reason' }));
      assert.deepEqual(found, wanted, name);
      if (right.notes) assert.notEqual(parse.notes.length, 0, `${name}: a note`);
    }
  });

  it('keeps what stands around a call as content and never uses an invented response', () => {
    const parse = parseAct(
      `I look.\n${block('{"name":"f","arguments":{}}')}\n<tool_response>\n{"ok":true}\n</tool_response>\nDone`,
      'hermes',
    );
    assert.deepEqual(items(parse), [['f', {}]]);
    assert.equal(parse.content, 'I look.\n<tool_response>\n{"ok":true}\n</tool_response>\nDone');
    assert.match(parse.notes.join(), /invents a tool response/);
  });

  it('gives a message without calls whole, as the answer', () => {
    const parse = parseAct('  It is <b>done</b>.\u001b[31m ', 'hermes');
    assert.deepEqual(parse, {
      reasoning: null,
      content: 'It is <b>done</b>.\u001b[31m',
      items: [],
      notes: [],
    });
  });

  it('keeps the digits of integers beyond 2^53', () => {
    const parse = parseAct(block('{"name": "f", "arguments": {"id": 12345678901234567890}}'), 'hermes');
    const [item] = parse.items;
    assert.equal(item?.kind === 'call' && item.call.argumentsText, '{"id": 12345678901234567890}');
  });

  it('takes the key __proto__ as a key like any other', () => {
    const parse = parseAct(block('{"name":"f","arguments":{"__proto__":{"admin":true}}}'), 'hermes');
    const [item] = parse.items;
    assert.ok(item?.kind === 'call');
    assert.deepEqual(Object.keys(item.call.arguments as object), ['__proto__']);
    assert.equal(({} as { admin?: boolean }).admin, undefined);
    assert.equal((item.call.arguments as { admin?: boolean }).admin, undefined);
  });

  it('refuses numbers out of range and values nested without end', () => {
    assert.deepEqual(items(parseAct(block('{"name":"f","arguments":{"x":1e999}}'), 'hermes')), [
      'a number is out of range',
    ]);
    const deep = parseAct(
      block(`{"name":"f","arguments":{"x":${'['.repeat(20_000)}${']'.repeat(20_000)}}}`),
      'hermes',
    );
    assert.match(String(items(deep)[0]), /nested deeper/);
  });

  it('reads two calls that are written without a line break between', () => {
    const text = block('{"name":"f","arguments":{}}') + block('{"name":"g","arguments":{}}');
    assert.deepEqual(items(parseAct(text, 'hermes')), [
      ['f', {}],
      ['g', {}],
    ]);
  });

  it('does not let a brace too many in one block void the next', () => {
    const text = `${block('{"name":"f","arguments":{}}}')}\n${block('{"name":"g","arguments":{}}')}`;
    const [first, second] = items(parseAct(text, 'hermes'));
    assert.match(String(first), /not JSON/);
    assert.deepEqual(second, ['g', {}]);
  });

  it('says that a block was cut off only where the output hit its limit', () => {
    const text = `<tool_call>\n{"name": "f", "argum`;
    assert.match(String(items(parseAct(text, 'hermes', { cut: true }))), /cut off at the output limit/);
    assert.equal(String(items(parseAct(text, 'hermes'))), 'closing tag missing');
    const broken = `${block('{"name":')}\nand then`;
    assert.doesNotMatch(String(items(parseAct(broken, 'hermes', { cut: true }))), /cut off/);
  });

  it('names an empty block, an empty name and null as what they are', () => {
    assert.match(String(items(parseAct(block(''), 'hermes'))), /empty/);
    assert.deepEqual(items(parseAct(block('{"name":" ","arguments":{}}'), 'hermes')), ['name is empty']);
    assert.deepEqual(items(parseAct(block('null'), 'hermes')), ['a call is a JSON object, got null']);
  });
});

describe('reasoning of an ACT message', () => {
  const call = block('{"name":"refund","arguments":{"id":"A1"}}');

  it('is kept apart, and a call drafted in it is mentioned and not made', () => {
    const parse = parseAct(`<think>\nI could run\n${call}\nfirst.\n</think>\n\n${call}`, 'hermes');
    assert.deepEqual(items(parse), [['refund', { id: 'A1' }]]);
    assert.match(parse.reasoning!, /^I could run/);
    assert.equal(parse.content, '');
    assert.match(parse.notes.join(), /mentioned, not executed/);
  });

  it('that alone holds a call is a condition of its own', () => {
    const parse = parseAct(`<think>${'\n'}${call}\n</think>\nDone.`, 'hermes');
    assert.deepEqual(items(parse), []);
    assert.equal(parse.content, 'Done.');
    assert.match(parse.notes.join(), /only in the reasoning/);
  });

  it('may lack its opening tag, which the template wrote', () => {
    const parse = parseAct(`I could\n${call}\nso\n</think>\n\n${call}`, 'hermes');
    assert.deepEqual(items(parse), [['refund', { id: 'A1' }]]);
    assert.match(parse.reasoning!, /^I could/);
  });

  it('is not ended by a closing tag inside the string of a call', () => {
    const text = block('{"name":"note","arguments":{"body":"ends with </think>"}}');
    const parse = parseAct(text, 'hermes');
    assert.equal(parse.reasoning, null);
    assert.deepEqual(items(parse), [['note', { body: 'ends with </think>' }]]);
  });

  it('that never ends leaves no answer, also where the template opened it', () => {
    for (const parse of [
      parseAct('<think>\nso', 'hermes', { cut: true }),
      parseAct('so', 'hermes', { thinking: true }),
    ]) {
      assert.equal(parse.reasoning, 'so');
      assert.equal(parse.content, '');
      assert.deepEqual(parse.items, []);
    }
  });

  it('between calls is reasoning as well', () => {
    const parse = parseAct(`${call}\n<think>again?\n${call}\n</think>\nok`, 'hermes');
    assert.equal(parse.items.length, 1);
    assert.equal(parse.reasoning, `again?\n${call}`);
    assert.equal(parse.content, 'ok');
  });
});

describe("parsing Qwen-Coder's XML", () => {
  const tools = [
    {
      name: 'f',
      description: '',
      readOnly: true,
      parameters: {
        type: 'object',
        properties: {
          id: { type: 'string' },
          n: { type: 'integer' },
          flag: { type: 'boolean' },
          tags: { type: 'array' },
          note: { anyOf: [{ type: 'string' }, { type: 'null' }] },
          node: { $ref: '#/$defs/Node' },
        },
        $defs: { Node: { type: 'object' } },
      },
    },
  ];
  const call = (parameters: Record<string, string>) =>
    `<tool_call>\n<function=f>\n${Object.entries(parameters)
      .map(([key, value]) => `<parameter=${key}>\n${value}\n</parameter>\n`)
      .join('')}</function>\n</tool_call>`;
  const read = (text: string, cut = false) => parseAct(text, 'qwen-coder', { tools, cut });

  it("gives each value the type of its parameter's schema", () => {
    const text = call({ id: '42', n: '42', flag: 'True', tags: '["a"]', note: 'null', node: '{"x": 1}' });
    assert.deepEqual(items(read(text)), [
      ['f', { id: '42', n: 42, flag: true, tags: ['a'], note: null, node: { x: 1 } }],
    ]);
  });

  it('leaves text that looks like JSON alone where a string is declared', () => {
    assert.deepEqual(items(read(call({ id: '["keep me"]', note: '7' }))), [
      ['f', { id: '["keep me"]', note: '7' }],
    ]);
  });

  it('keeps line breaks, tags and digits of values', () => {
    const parse = read(call({ id: 'a\n</parameter> b\n\n<think>', n: '12345678901234567890' }));
    const [item] = parse.items;
    assert.ok(item?.kind === 'call');
    assert.equal((item.call.arguments as { id: string }).id, 'a\n</parameter> b\n\n<think>');
    assert.match(item.call.argumentsText, /"n": 12345678901234567890/);
    assert.doesNotThrow(() => JSON.parse(item.call.argumentsText));
  });

  it('takes a call without the outer tag, and notes it', () => {
    const parse = read('ok\n<function=f>\n<parameter=n>\n1\n</parameter>\n</function>');
    assert.deepEqual(items(parse), [['f', { n: 1 }]]);
    assert.equal(parse.content, 'ok');
    assert.match(parse.notes.join(), /without <tool_call>/);
  });

  it('names what is missing, for that block alone', () => {
    const text = `<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>\n${call({ n: '1' })}`;
    const [first, second] = items(read(text));
    assert.match(String(first), /<function=name> missing/);
    assert.deepEqual(second, ['f', { n: 1 }]);
    const open = '<tool_call>\n<function=f>\n<parameter=n>\n1\n</function>\n</tool_call>';
    assert.deepEqual(items(read(`${open}\n${call({ n: '1' })}`)), [
      'parameter n is not closed',
      ['f', { n: 1 }],
    ]);
    assert.match(String(items(read('<tool_call>\n<function=f>\n<parameter=n>\n1', true))), /cut off/);
    assert.match(
      String(items(read('<tool_call>\n<function=f>\n<parameter=n>\n1\n</function>\n</tool_call>'))),
      /parameter n is not closed/,
    );
    assert.deepEqual(items(read('<tool_call>\n<function=f>\n</function>\n</tool_call>')), [['f', {}]]);
  });
});

describe("parsing Llama's JSON", () => {
  it('reads a message that is a call, several of them, or begins with the tag', () => {
    assert.deepEqual(items(parseAct('{"name": "f", "parameters": {"x": 1}}', 'llama')), [['f', { x: 1 }]]);
    const two = '{"name": "f", "parameters": {}}; {"name": "g", "parameters": {}}';
    assert.deepEqual(items(parseAct(two, 'llama')), [
      ['f', {}],
      ['g', {}],
    ]);
    const tagged = '<|python_tag|>{"type": "function", "name": "f", "parameters": {"x": "}"}}';
    assert.deepEqual(items(parseAct(tagged, 'llama')), [['f', { x: '}' }]]);
  });

  it('takes other JSON and prose as an answer', () => {
    for (const answer of ['{"total": 3}', '[1, 2]', 'Use {"name": "f", "parameters": {}} to call.']) {
      const parse = parseAct(answer, 'llama');
      assert.deepEqual(parse.items, []);
      assert.equal(parse.content, answer);
    }
  });

  it('names a broken or cut call', () => {
    assert.match(String(items(parseAct('{"name": "f", "param', 'llama', { cut: true }))), /cut off/);
    assert.match(String(items(parseAct('<|python_tag|>search.call(query="x")', 'llama'))), /not JSON/);
    assert.match(String(items(parseAct('<|python_tag|>{"name": "f"}', 'llama'))), /parameters missing/);
  });
});

describe("parsing Mistral's form", () => {
  it('reads the list and the newer form, several calls each', () => {
    const list = '[TOOL_CALLS] [{"name": "f", "arguments": {"x": "]"}}, {"name": "g", "arguments": {}}]';
    const named = '[TOOL_CALLS]f[ARGS]{"x": "]"}[TOOL_CALLS]g[CALL_ID]abc123xyz[ARGS]{}';
    for (const text of [list, named]) {
      assert.deepEqual(items(parseAct(text, 'mistral')), [
        ['f', { x: ']' }],
        ['g', {}],
      ]);
    }
  });

  it('names what is broken, for that call alone', () => {
    const list = '[TOOL_CALLS] [{"name": "f"}, {"name": "g", "arguments": {}}]';
    assert.deepEqual(items(parseAct(list, 'mistral')), ['arguments missing', ['g', {}]]);
    const [first, second] = items(parseAct('[TOOL_CALLS]f[ARGS]{"x": [TOOL_CALLS]g[ARGS]{}', 'mistral'));
    assert.match(String(first), /not JSON/);
    assert.deepEqual(second, ['g', {}]);
    for (const text of ['[TOOL_CALLS]', '[TOOL_CALLS]f', '[TOOL_CALLS]f[ARGS]{"x"', '[TOOL_CALLS] [{"na']) {
      assert.match(String(items(parseAct(text, 'mistral', { cut: true }))), /cut off/, text);
    }
  });

  it('keeps its reasoning apart', () => {
    const parse = parseAct('[THINK]hm[/THINK]Done.', 'mistral');
    assert.equal(parse.reasoning, 'hm');
    assert.equal(parse.content, 'Done.');
  });
});
