import assert from 'node:assert/strict';
import fc from 'fast-check';
import { escaped, printable } from '../../../src/core/text';
import { oneLine } from '../../../src/node/errors';

const HIDING = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/;

describe('text from outside', () => {
  it('shows what could move a cursor, reorder or hide, and leaves the rest', () => {
    assert.equal(printable('a\x1b[2Jb\u202ec\n\tä'), 'a\\x1b[2Jb\\u202ec\n\tä');
    assert.equal(escaped('a\n\tb'), 'a\\n\\tb');
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => !HIDING.test(printable(text))));
  });

  it('cannot reorder the text of an error', () => {
    assert.equal(oneLine('no\u202e file\nmore'), 'no\\u202e file');
  });
});
