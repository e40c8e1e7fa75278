/**
 * Golden transcripts: the text that the debugger shows as source, of rehearsals that end in each way. Written
 * anew with UPDATE_GOLDEN=1; look at the difference before committing it.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { transcriptDocument } from '../../../../src/core/rehearsal/document';
import { sessionView } from '../../../../src/core/rehearsal/view';
import { toEnd } from '../../support/rehearse';
import { call, GOOD, result, setup } from '../../support/shop';

const FOLDER = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../../golden');

/** Compares with `test/golden/NAME`, or writes it. */
function golden(name: string, text: string): void {
  const file = path.join(FOLDER, name);
  if (process.env.UPDATE_GOLDEN) fs.writeFileSync(file, text);
  assert.equal(text, fs.readFileSync(file, 'utf8'));
}

const STORIES: { [name: string]: () => ReturnType<typeof toEnd> } = {
  'cancelled.txt': () => toEnd(GOOD),
  'refused.txt': () =>
    toEnd({
      act: [
        call('get_order', { order_id: 'W1' }),
        call('get_order', { order_id: '#W1' }),
        'It has shipped, so it stays.',
      ],
      rehearse: [result({ error: 'Order not found' }), result({ order_id: '#W1', status: 'shipped' })],
    }),
  'gates.txt': () =>
    toEnd({
      act: [
        `<think>Two at once.</think>${call('refund', { order_id: '#W1' })}\n${call('get_order', { id: 1 })}`,
        '<tool_call>\n{"name": "get_order"\n</tool_call>',
        call('get_order', { order_id: '#W2' }),
        'I cannot.',
      ],
    }),
  'unreadable.txt': () =>
    toEnd({ act: [call('get_order', { order_id: '#W1' }), '\u001b[31mred'], rehearse: ['It is\npending.'] }),
  'users.txt': () =>
    toEnd(
      { act: ['Which order?', GOOD.act[0]!, 'It is pending.'], rehearse: GOOD.rehearse },
      setup({ task: { user: ['#W1'] } }),
    ),
  'limit.txt': () =>
    toEnd({ act: ['one two three four'] }, setup({ environment: { limits: { act: 7, rehearse: 9 } } })),
};

describe('golden transcripts', () => {
  for (const [name, rehearsal] of Object.entries(STORIES)) {
    it(name, async () => golden(name, transcriptDocument(sessionView(await rehearsal())).text));
  }
});

describe('the transcript document', () => {
  it('has every token at its place, in order, also over line ends', async () => {
    const view = sessionView(await STORIES['unreadable.txt']!());
    const { text, tokens, outputs, turns } = transcriptDocument(view);
    const lines = text.split('\n');
    for (const [i, place] of tokens.entries()) {
      assert.ok(place.column <= lines[place.line]!.length && place.endColumn <= lines[place.endLine]!.length);
      const after = tokens[i + 1];
      if (after)
        assert.ok(
          after.line > place.endLine || (after.line === place.endLine && after.column >= place.endColumn),
        );
    }
    for (const output of outputs) assert.match(lines[output.line]!, /^turn \d · (ACT|REHEARSE)/);
    assert.equal(lines[turns.get(2)!], 'turn 2 · ACT');
  });
});
