import assert from 'node:assert/strict';
import { loadEnvironment } from '../../../src/core/environment/load';
import { mayRunLong, patternsIn } from '../../../src/core/patterns';

describe('patterns that may run long', () => {
  const slow: { [pattern: string]: string } = {
    '(a+)+': 'repeats what already repeats',
    '(a*)*b': 'repeats what already repeats',
    '((ab)+c)+': 'repeats what already repeats',
    '(\\w+\\s?){2,}': 'repeats what already repeats',
    '(.*a){20}': 'repeats what already repeats',
    '(a|a)*$': 'repeats alternatives that match the same text',
    '^(\\w|\\d)+$': 'repeats alternatives that match the same text',
    '((yes|yes,)+)$': 'repeats alternatives that match the same text',
    '(?:.|\\n|x){5,}': 'repeats alternatives that match the same text',
    '([\\w-\\.]|-)*': 'repeats alternatives that match the same text',
  };
  for (const [pattern, reason] of Object.entries(slow))
    it(`/${pattern}/ ${reason}`, () => assert.equal(mayRunLong(pattern), reason));

  const fine = [
    'a+b*',
    '(ab)+',
    '(\\d{1,3},)*\\d+',
    '[(+*]+',
    '(a\\+)+',
    '(a+)(b+)',
    '^#W\\d{7}$',
    '(cancelled|confirmed)+',
    '\\b(yes|no)\\b',
    '(a|a)',
    '^[\\w.+-]+@[\\w-]+\\.[a-z]{2,}$',
    'order.*cancel',
    '(\\d{4}-\\d{2}){1,3}',
    '([a-m]|[n-z])*',
    '(',
  ];
  for (const pattern of fine) it(`/${pattern}/ does not`, () => assert.equal(mayRunLong(pattern), null));

  it('are found where a schema has patterns, and not in what only looks like one', () => {
    const schema = {
      type: 'object',
      properties: {
        pattern: { type: 'string', pattern: 'a' },
        list: { items: { anyOf: [{ pattern: 'b' }] } },
      },
      patternProperties: { c: { pattern: 'd' } },
      examples: [{ pattern: 'e' }],
      default: { pattern: 'f' },
    };
    assert.deepEqual(patternsIn(schema), ['a', 'b', 'c', 'd']);
  });

  it('are warned of where they stand: in a check, a matcher, a schema of an answer or of a tool', async () => {
    const text = JSON.stringify({
      name: 'slow',
      tools: [
        {
          name: 'find',
          description: 'Finds.',
          parameters: { type: 'object', properties: { id: { type: 'string', pattern: '(a|a)*$' } } },
        },
      ],
      tasks: [
        {
          id: 'one',
          instruction: 'Find it.',
          checks: [
            { kind: 'answer', pattern: '(.*a){20}' },
            { kind: 'answer', schema: { type: 'string', pattern: '(b+)+' } },
            { kind: 'calls', expected: [{ tool: 'find', arguments: { id: { $regex: '(c|c)+' } } }] },
          ],
        },
      ],
    });
    const { diagnostics } = await loadEnvironment(text, {
      path: 'slow.rehearsal.json',
      read: async () => '',
    });
    const warned = diagnostics.filter(({ code }) => code === 'slow-pattern').map(({ message }) => message);
    assert.equal(warned.length, 4, JSON.stringify(diagnostics));
    for (const pattern of ['(a|a)*$', '(.*a){20}', '(b+)+', '(c|c)+'])
      assert.ok(
        warned.some((message) => message.includes(`/${pattern}/`)),
        pattern,
      );
  });
});
