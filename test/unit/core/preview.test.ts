import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Json } from '../../../src/core/json';
import { previewJson } from '../../../src/core/preview';

describe('previews of values', () => {
  it('are what JSON.stringify begins with, whatever the value and the limit', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(200), (value, limit) => {
        // Surrogate pairs may be cut in the middle of an escape; JSON has its own spelling of halves.
        const whole = JSON.stringify(value, null, 2);
        const { text, cut } = previewJson(value as Json, limit);
        assert.ok(text.length <= limit);
        if (!/[\\\ud800-\udfff]/.test(whole)) {
          assert.ok(whole.startsWith(text), `${text} | ${whole}`);
          assert.equal(cut, whole.length > limit);
        }
      }),
    );
  });

  it('of 10 MB touch only their beginning', () => {
    const item = { id: 1, text: 'x'.repeat(100) };
    let read = 0;
    const many = new Proxy(
      Array.from({ length: 80_000 }, () => item),
      {
        get(target, key, receiver) {
          if (typeof key === 'string' && /^\d+$/.test(key)) read++;
          return Reflect.get(target, key, receiver);
        },
      },
    );
    const { text, cut } = previewJson(many as Json, 10_000);
    assert.equal(text.length, 10_000);
    assert.ok(cut && read < 200, `${read} items`);
    assert.equal(previewJson('y'.repeat(10 * 2 ** 20), 1000).cut, true);
  });
});
