/** What the extension accepts from its panel: a message of another form must never reach the session. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { isFromSession, isToSession } from '../../../webview/common/validators.generated.js';

describe('messages of the session panel', () => {
  it('are accepted in the forms that the panel sends', () => {
    for (const message of [
      { type: 'ready' },
      { type: 'step', step: 'token' },
      { type: 'choose', node: 12, id: 88 },
      { type: 'again', node: 3 },
      { type: 'goto', node: 0 },
      { type: 'action', id: 'retry' },
    ]) {
      assert.equal(isFromSession(message), true, JSON.stringify(message));
    }
  });

  it('are refused in any other', () => {
    for (const message of [
      null,
      'ready',
      [],
      {},
      { type: 'run' },
      { type: 'step' },
      { type: 'step', step: 'rm -rf' },
      { type: 'choose', node: '12', id: 88 },
      { type: 'choose', node: 1.5, id: 88 },
      { type: 'choose', node: 12 },
      { type: 'again', node: null },
      { type: 'action', id: { toString: 'x' } },
    ]) {
      assert.equal(isFromSession(message), false, JSON.stringify(message));
    }
  });

  it('are judged without throwing, whatever they are', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        assert.equal(typeof isFromSession(value), 'boolean');
        assert.equal(typeof isToSession(value), 'boolean');
      }),
    );
  });
});
