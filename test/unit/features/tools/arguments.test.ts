import assert from 'node:assert/strict';
import { problemWith, sampleArguments } from '../../../../src/features/tools/arguments';
import { SHOP } from '../../support/shop';

const tool = (properties: object, required: string[]) => ({
  ...SHOP.tools[0]!,
  name: 'other',
  parameters: { type: 'object', properties, required } as never,
});

describe('arguments that a person types', () => {
  it('begin as those of a record, else as what is required', () => {
    assert.deepEqual(sampleArguments(SHOP, SHOP.tools[0]!), { order_id: '#W2' });
    const other = tool(
      {
        n: { type: 'integer' },
        unit: { enum: ['km', 'mi'] },
        tags: { type: 'array' },
        x: { default: 7 },
        o: {},
      },
      ['n', 'unit', 'tags', 'x'],
    );
    assert.deepEqual(sampleArguments(SHOP, other), { n: 0, unit: 'km', tags: [], x: 7 });
  });

  it('cannot be sent where they are no object, and may be where they break the schema', () => {
    const [get] = SHOP.tools;
    for (const text of ['', '{', '[]', '1', '{"a": NaN}', '{"a": 1, "a": 2}'])
      assert.ok(problemWith(text, get!)?.stops || text.includes('"a": 1'), text);
    assert.equal(problemWith('{"order_id": "#W1"}', get!), null);
    const wrong = problemWith('{"order_id": 1}', get!)!;
    assert.equal(wrong.stops, false);
    assert.match(wrong.message, /order_id/);
  });
});
