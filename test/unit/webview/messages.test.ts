/** What reaches the extension from a webview is not trusted: only messages of the protocol pass. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { FromSession } from '../../../webview/common/messages';
import { isFromSession } from '../../../webview/common/validators.generated';

const KNOWN: FromSession[] = [
  { type: 'ready' },
  { type: 'step', step: 'token' },
  { type: 'choose', node: 3, id: 17 },
  { type: 'again', node: 3 },
  { type: 'goto', node: 0 },
  { type: 'action', id: 'showLog' },
];

describe('messages of the session panel', () => {
  it('pass where they are of the protocol', () => {
    for (const message of KNOWN) assert.ok(isFromSession(message), JSON.stringify(message));
  });

  it('are refused where a field is missing, wrong or of another message', () => {
    const wrong: unknown[] = [
      null,
      'ready',
      [],
      {},
      { type: 'run' },
      { type: 'step' },
      { type: 'step', step: 'execute' },
      { type: 'choose', node: '3', id: 17 },
      { type: 'choose', node: 3 },
      { type: 'choose', node: 0.5, id: 17 },
      { type: 'goto', node: null },
      { type: 'action', id: 7 },
    ];
    for (const message of wrong) assert.ok(!isFromSession(message), JSON.stringify(message));
  });

  it('are told from anything else without an error', () => {
    const types = fc.constantFrom('ready', 'step', 'choose', 'again', 'goto', 'action', '__proto__');
    const near = fc.record({ type: types, node: fc.anything(), id: fc.anything(), step: fc.anything() });
    fc.assert(
      fc.property(fc.oneof(fc.anything(), near), (message) => {
        if (!isFromSession(message)) return;
        assert.ok(KNOWN.some(({ type }) => type === message.type));
        if (message.type === 'choose' || message.type === 'again' || message.type === 'goto') {
          assert.ok(Number.isInteger(message.node));
        }
      }),
    );
  });
});
