import assert from 'node:assert/strict';
import { isErrorValue, parseResult } from '../../../../src/core/conversation/result';

const wrap = (body: string) => `<execution_result>${body}</execution_result>`;
const reason = (text: string, cut = false) => {
  const parsed = parseResult(text, { cut });
  assert.ok(!parsed.ok, text);
  assert.equal(parsed.raw, text);
  return parsed.reason;
};

describe('parsing a REHEARSE answer', () => {
  it('reads one object or array, with white space and reasoning around', () => {
    for (const text of [
      wrap('{"status": "pending"}'),
      `\r\n ${wrap('\n{"status": "pending"}\n')}\n`,
      `<think>\nIs it <execution_result>{}</execution_result>?\n</think>\n\n${wrap('{"status": "pending"}')}`,
      `no opening tag</think>${wrap('{"status": "pending"}')}`,
    ]) {
      const parsed = parseResult(text);
      assert.ok(parsed.ok, text);
      assert.deepEqual(parsed.value, { status: 'pending' });
      assert.equal(parsed.text, '{"status": "pending"}');
    }
  });

  it('keeps empty answers, which real tools give', () => {
    assert.deepEqual(parseResult(wrap('[]')), { ok: true, value: [], text: '[]' });
    assert.deepEqual(parseResult(wrap('{}')), { ok: true, value: {}, text: '{}' });
  });

  it('does not end at a tag inside a string', () => {
    const parsed = parseResult(wrap('{"t": "</execution_result> </think>"}'));
    assert.deepEqual(parsed.ok && parsed.value, { t: '</execution_result> </think>' });
  });

  it('says why there is no answer, and keeps the raw text', () => {
    assert.match(reason(''), /empty/);
    assert.match(reason('{"status": "pending"}'), /<execution_result> missing/);
    assert.match(reason('<EXECUTION_RESULT>{}</EXECUTION_RESULT>'), /another case/);
    assert.match(reason('<think>hm</think>'), /only reasoning/);
    assert.match(reason('<execution_result>{}'), /<\/execution_result> missing/);
    assert.match(reason(wrap('{}') + wrap('{}')), /more than one/);
    assert.match(reason(wrap("{'a': 1}")), /not JSON/);
    assert.match(reason(wrap('{"a": NaN}')), /not JSON/);
    assert.match(reason(wrap('{"a": 1e999}')), /out of range/);
    assert.match(reason(wrap('"done"')), /object or array, got a string/);
    assert.match(reason(wrap('')), /empty/);
  });

  it('says that an answer was cut off', () => {
    assert.match(reason('<execution_result>{"a": "b', true), /cut off at the output limit/);
  });
});

describe('an error among observations', () => {
  it('is an object that says so', () => {
    assert.equal(isErrorValue({ error: 'Order not found' }), true);
    assert.equal(isErrorValue({ error_tool_call: { code: 'X', message: '' } }), true);
    assert.equal(isErrorValue({ error: null, data: 1 }), false);
    assert.equal(isErrorValue([{ error: 'x' }]), false);
    assert.equal(isErrorValue({ errors: 0 }), false);
  });
});
