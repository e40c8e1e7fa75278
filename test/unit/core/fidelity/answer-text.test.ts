import assert from 'node:assert/strict';
import fc from 'fast-check';
import { answerTexts, placeOf } from '../../../../src/core/fidelity/answer-text';
import { canonicalValue } from '../../../../src/core/fidelity/answers';
import { compareAnswers } from '../../../../src/core/fidelity/compare';
import { equalJson, type Json } from '../../../../src/core/json';

const result = (value: Json) => ({ outcome: 'result' as const, value });

describe('a pair as two texts', () => {
  it('differs in nothing but its values: keys stand in the order of the real answer', () => {
    const real = result({ a: 1, list: [{ x: 1, y: 2 }], b: { c: 1, d: 2 } });
    const rehearsed = result({ b: { d: 2, c: 1 }, extra: 0, list: [{ y: 2, x: 1 }], a: 2 });
    const texts = answerTexts(rehearsed, real);
    assert.equal(texts.rehearsed.replace('"a": 2', '"a": 1').replace(',\n  "extra": 0', ''), texts.real);
  });

  it('has a place for each field that differs, on the side that has it', () => {
    const real = result({ order: { items: [{ price: 1 }, { price: 2 }] }, "it's": 'x' });
    const rehearsed = result({ order: { items: [{ price: 1 }, { price: 3 }] }, "it's": 'y' });
    const { fields } = compareAnswers(rehearsed, real);
    const { real: text } = answerTexts(rehearsed, real);
    const shown = fields
      .filter(({ kind }) => kind === 'differs')
      .map(({ path }) => placeOf(text, path))
      .map(({ offset, length }) => text.slice(offset, offset + length));
    assert.deepEqual(shown, ['"price": 2', '"it\'s": "x"']);
    assert.equal(placeOf(text, '$.order.items[7].price').length > 10, true, 'the list around it');
    assert.deepEqual(placeOf(text, '$'), { offset: 0, length: 0 });
  });

  it('stays JSON of the same values, with nothing in it that hides or reorders', () => {
    const { real } = answerTexts(result({}), result({ t: '\u202eabc\u200b\u0085' }));
    assert.match(real, /"\\u202eabc\\u200b\\u0085"/);
    const answer = (fc.jsonValue() as fc.Arbitrary<Json>).map(result);
    fc.assert(
      fc.property(answer, answer, (a, b) => {
        const texts = answerTexts(a, b);
        assert.ok(
          equalJson(
            JSON.parse(texts.rehearsed) as Json,
            JSON.parse(JSON.stringify(canonicalValue(a))) as Json,
          ),
        );
        assert.ok(
          equalJson(JSON.parse(texts.real) as Json, JSON.parse(JSON.stringify(canonicalValue(b))) as Json),
        );
      }),
    );
  });
});
