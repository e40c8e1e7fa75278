import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parseAct } from '../../../../src/core/conversation/parse';
import { hermesCall, resultText } from '../../../../src/core/conversation/prompts';
import { parseResult } from '../../../../src/core/conversation/result';
import type { Dialect } from '../../../../src/core/conversation/types';
import { formatJson, type Json, type JsonObject } from '../../../../src/core/json';

const DIALECTS: Dialect[] = ['hermes', 'qwen-coder', 'llama', 'mistral'];

/** Text made of the pieces that parsers look for, of prose, and of anything else. */
const pieces = fc.constantFrom(
  '<tool_call>',
  '</tool_call>',
  '<think>',
  '</think>',
  '<function=f>',
  '</function>',
  '<parameter=x>',
  '</parameter>',
  '[TOOL_CALLS]',
  '[ARGS]',
  '[THINK]',
  '<|python_tag|>',
  '<execution_result>',
  '</execution_result>',
  '{"name": "f", "arguments": {}}',
  '{',
  '}',
  '[',
  ']',
  '"',
  '\\',
  '\n',
  '\r\n',
  ' ',
  ',',
  ':',
  '"name"',
  '1e999',
  'NaN',
  '\u0000',
  '\ud800',
  '\u001b[31m',
  '<b>',
);
const messages = fc
  .array(fc.oneof(pieces, fc.string({ maxLength: 8 })), { maxLength: 40 })
  .map((parts) => parts.join(''));

const args = fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 3 }), {
  maxKeys: 4,
}) as fc.Arbitrary<JsonObject>;
const names = fc.stringMatching(/^[a-zA-Z_][\w.-]{0,20}$/);
const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as Json;

function callsOf(text: string, dialect: Dialect) {
  return parseAct(text, dialect).items.map((item) =>
    item.kind === 'call' ? [item.call.name, plain(item.call.arguments)] : item,
  );
}

describe('parsers on generated text', () => {
  for (const dialect of DIALECTS) {
    it(`${dialect}: any text is read without an exception and loses nothing`, () => {
      fc.assert(
        fc.property(messages, fc.boolean(), fc.boolean(), (text, cut, thinking) => {
          const parse = parseAct(text, dialect, { cut, thinking });
          for (const item of parse.items) {
            if (item.kind === 'call')
              assert.deepEqual(plain(JSON.parse(item.call.argumentsText)), plain(item.call.arguments));
            else assert.ok(item.reason);
          }
          // A message that says something is reasoning, content, or items.
          if (text.replace(/<\/?think>|\[\/?THINK\]/g, '').trim() && !parse.items.length) {
            assert.ok(parse.content || parse.reasoning);
          }
        }),
        { numRuns: 300 },
      );
    });
  }

  it('results: any text is read without an exception', () => {
    fc.assert(
      fc.property(messages, fc.boolean(), (text, cut) => {
        const parsed = parseResult(text, { cut });
        if (!parsed.ok) assert.equal(parsed.raw, text);
        else assert.deepEqual(plain(JSON.parse(parsed.text)), plain(parsed.value));
      }),
      { numRuns: 300 },
    );
  });

  it('hermes, llama, mistral: what is written as a call is read as that call', () => {
    fc.assert(
      fc.property(names, args, (name, value) => {
        const wanted = [[name, plain(value)]];
        assert.deepEqual(callsOf(`ok\n${hermesCall(name, value)}`, 'hermes'), wanted);
        assert.deepEqual(callsOf(formatJson({ name, parameters: value }), 'llama'), wanted);
        assert.deepEqual(callsOf(`[TOOL_CALLS]${name}[ARGS]${formatJson(value)}`, 'mistral'), wanted);
        assert.deepEqual(
          callsOf(`[TOOL_CALLS] ${formatJson([{ name, arguments: value }])}`, 'mistral'),
          wanted,
        );
      }),
      { numRuns: 200 },
    );
  });

  it('qwen-coder: declared strings come back as they were written', () => {
    const keys = fc.stringMatching(/^[a-z_]{1,8}$/);
    const texts = fc.string({ maxLength: 20 }).filter((text) => !text.includes('\r') && !text.includes('<'));
    fc.assert(
      fc.property(names, fc.dictionary(keys, texts, { maxKeys: 3 }), (name, fields) => {
        const properties = Object.fromEntries(Object.keys(fields).map((key) => [key, { type: 'string' }]));
        const tools = [{ name, description: '', readOnly: true, parameters: { type: 'object', properties } }];
        const body = Object.entries(fields).map(
          ([key, value]) => `<parameter=${key}>\n${value}\n</parameter>\n`,
        );
        const text = `<tool_call>\n<function=${name}>\n${body.join('')}</function>\n</tool_call>`;
        const [item] = parseAct(text, 'qwen-coder', { tools }).items;
        assert.ok(item?.kind === 'call');
        assert.deepEqual(plain(item.call.arguments), plain(fields));
      }),
      { numRuns: 200 },
    );
  });

  it('a written result is read as that value', () => {
    const values = fc.oneof(
      args,
      fc.array(fc.jsonValue({ maxDepth: 2 }), { maxLength: 4 }),
    ) as fc.Arbitrary<Json>;
    fc.assert(
      fc.property(values, (value) => {
        const parsed = parseResult(`<think>\nx\n</think>\n\n${resultText(value)}\n`);
        assert.ok(parsed.ok);
        assert.deepEqual(plain(parsed.value), plain(value));
      }),
      { numRuns: 200 },
    );
  });

  it('ten thousand times the same letter is an answer, quickly told', () => {
    for (const letter of [
      'a',
      '{',
      '[',
      '<',
      '"',
      '\\',
      '<tool_call>\n',
      '[TOOL_CALLS]',
      '</think>',
      '<function=f>\n',
    ]) {
      for (const dialect of DIALECTS) assert.ok(parseAct(letter.repeat(10_000), dialect));
      assert.equal(parseResult(letter.repeat(10_000)).ok, false);
    }
  });
});
