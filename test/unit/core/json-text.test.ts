import assert from 'node:assert/strict';
import fc from 'fast-check';
import { depthOf, parseStrict } from '../../../src/core/json-text';

/** The same, character by character. */
function plainDepth(text: string): number {
  let [depth, deepest] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '"') {
      let end = at + 1;
      while (end < text.length && text[end] !== '"' && text[end] !== '\n' && text[end] !== '\r')
        end += text[end] === '\\' ? 2 : 1;
      if (text[end] === '"') at = end;
    } else if ('[{'.includes(text[at]!)) deepest = Math.max(deepest, ++depth);
    else if (']}'.includes(text[at]!)) depth--;
  }
  return deepest;
}

describe('JSON as text', () => {
  it('nests as deep as its brackets outside of strings, in any text', () => {
    const pieces = fc.array(
      fc.constantFrom('"', '\\\\', '\\"', '[', ']', '{', '}', '\n', '\r', 'a', ' ', ','),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(pieces, (parts) => {
        const text = parts.join('');
        // An escaped line break is no escape of JSON; both ways to read it are as good.
        fc.pre(!/\\[\n\r]/.test(text));
        assert.equal(depthOf(text), plainDepth(text), JSON.stringify(text));
      }),
    );
    assert.equal(depthOf('{"a]": ["\\"[[", "\\\\"]}'), 2);
    assert.equal(depthOf('"\n[[[['), 4);
  });

  it('is refused where a number is out of range, however it is written', () => {
    for (const text of [
      '1e999',
      '[1E+400]',
      '{"a": -1e309}',
      `[${'9'.repeat(400)}]`,
      `${'1'.repeat(250)}e99`,
    ]) {
      assert.deepEqual(
        parseStrict(text),
        { ok: false, reason: 'a number is out of range' },
        text.slice(0, 20),
      );
    }
    for (const text of ['1e308', '1e-999', '"1e999"', '[1.5e3]'])
      assert.equal(parseStrict(text).ok, true, text);
  });
});
