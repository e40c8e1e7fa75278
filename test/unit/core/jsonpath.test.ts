import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Json } from '../../../src/core/json';
import { isPath, locationsAt, pathLocation, pathText, valuesAt } from '../../../src/core/jsonpath';

const value: Json = { a: { b: [1, { c: 'x' }] }, 'a b': [[2], [3]], 'x-y': null };

describe('paths into results', () => {
  it('select what they name', () => {
    assert.deepEqual(valuesAt(value, '$'), [value]);
    assert.deepEqual(valuesAt(value, '$.a.b[0]'), [1]);
    assert.deepEqual(valuesAt(value, 'a.b[-1].c'), ['x']);
    assert.deepEqual(valuesAt(value, "$['a b'][*][0]"), [2, 3]);
    assert.deepEqual(valuesAt(value, "$['x-y']"), [null]);
    assert.deepEqual(valuesAt(value, '$..c'), ['x']);
    assert.deepEqual(valuesAt(value, '$.a.b[?@.c == "x"].c'), ['x']);
    assert.deepEqual(valuesAt(value, '$.a.*[1].c'), ['x']);
    assert.deepEqual(valuesAt(value, '$.a.toString'), []);
    assert.deepEqual(valuesAt(value, '$.nowhere[0]'), []);
  });

  it('that are malformed select nothing', () => {
    for (const path of ['$.a[', '$.', '$.a b', '$[?@.x &&]', '$$', '$.a[(1)]']) {
      assert.equal(isPath(path), false, path);
      assert.deepEqual(valuesAt(value, path), [], path);
    }
  });

  it('of any text never throw, and every key can be named', () => {
    fc.assert(fc.property(fc.string(), (path) => Array.isArray(valuesAt(value, path))));
    fc.assert(
      fc.property(fc.string(), (key) => {
        const object = Object.fromEntries([[key, 1]]);
        const path = pathText([key]);
        assert.deepEqual(valuesAt(object, path), [1], path);
        assert.deepEqual(locationsAt(object, path)[0]!.location, [key]);
      }),
    );
  });

  it('are read back as the steps that they were written from', () => {
    const step = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string(), fc.nat());
    fc.assert(fc.property(fc.array(step), (steps) => assert.deepEqual(pathLocation(pathText(steps)), steps)));
    assert.deepEqual(pathLocation('$.items[*].price'), ['items']);
  });
});
