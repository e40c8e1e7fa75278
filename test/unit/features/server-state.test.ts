import assert from 'node:assert/strict';
import { NO_SERVER, statusBarText } from '../../../src/features/server/state';

describe('status bar item', () => {
  const ready = { ...NO_SERVER, state: 'ready' as const, model: 'nano' };

  it('names the model, busy or idle', () => {
    assert.match(statusBarText(ready, false), /nano: idle/);
    assert.match(statusBarText(ready, true), /nano: busy/);
  });

  it('says what is missing where there is no model', () => {
    assert.match(statusBarText({ ...NO_SERVER, state: 'missing' }, false), /not set up/);
    assert.match(statusBarText({ ...NO_SERVER, state: 'failed' }, false), /failed/);
  });
});
