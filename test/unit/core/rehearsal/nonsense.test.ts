/** What a model may write instead of what it should: nothing is lost, and what is shown is text. */
import assert from 'node:assert/strict';
import { transcriptDocument } from '../../../../src/core/rehearsal/document';
import { outputText } from '../../../../src/core/rehearsal/outputs';
import { sessionView } from '../../../../src/core/rehearsal/view';
import { rewardOf } from '../../../../src/core/reward/rollout';
import type { Scripted } from '../../support/memory-policy';
import { observations, stopOf, toEnd } from '../../support/rehearse';
import { call, setup } from '../../support/shop';

const ESC = String.fromCharCode(27);
const shown = (session: Awaited<ReturnType<typeof toEnd>>) => transcriptDocument(sessionView(session)).text;

describe('nonsense from a model', () => {
  const answers: [string, Scripted, string, string][] = [
    ['nothing', '', 'answered', ''],
    ['only reasoning', '<think>Hm, let me see.</think>', 'answered', ''],
    ['reasoning that does not end', '<think>Hm, let me', 'answered', ''],
    [
      'HTML',
      '<img src=x onerror=alert(1)><script>1</script>',
      'answered',
      '<img src=x onerror=alert(1)><script>1</script>',
    ],
    ['invalid UTF-8', { bytes: [0xc3, 0x28, 0xff, 0x61] }, 'answered', '\ufffd(\ufffda'],
    ['a character whose end is missing', { bytes: [0xf0, 0x9f, 0x98] }, 'answered', '\ufffd\ufffd\ufffd'],
  ];
  for (const [what, written, stop, answer] of answers) {
    it(`${what} is an answer, and the task ends`, async () => {
      const session = await toEnd({ act: [written] });
      assert.equal(stopOf(session), stop);
      assert.equal(session.state.turns[0]!.parse!.content, answer);
      assert.equal(rewardOf(session.state).success, false);
      const tokens = session.path().filter((node) => node.reply?.kind === 'token').length;
      assert.equal(sessionView(session).turns[0]!.act.tokens.length, tokens);
    });
  }

  it('half a call is a format error that says so', async () => {
    const session = await toEnd({ act: [call('get_order', { order_id: '#W1' }).slice(0, 40), 'Sorry.'] });
    const [seen] = observations(session);
    assert.equal(seen?.source, 'gate');
    assert.match(JSON.stringify(seen?.value), /INVALID_TOOL_CALL_FORMAT/);
    assert.equal(stopOf(session), 'answered');
  });

  it('10,000 tokens of one letter are kept, cut at the limit, and can be looked at', async () => {
    const limits = { act: 10_000, rehearse: 400 };
    const session = await toEnd({ act: ['a'.repeat(20_000)] }, setup({ environment: { limits } }));
    assert.equal(stopOf(session), 'output_limit');
    assert.equal(outputText(session.state.turns[0]!.act), 'a'.repeat(10_000));
    assert.equal(sessionView(session).turns[0]!.act.tokens.length, 10_000);
    assert.equal(transcriptDocument(sessionView(session)).tokens.length, 10_000);
  }).timeout(20_000);

  it('ANSI codes and other control characters show as such and reach no terminal', async () => {
    const session = await toEnd({ act: [`${ESC}[2J${ESC}]0;title\u0007red\u0000\u202e`] });
    const text = shown(session);
    assert.ok(text.includes('\\x1b'));
    assert.doesNotMatch(text, /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]/);
    assert.equal(session.state.turns[0]!.parse!.content, `${ESC}[2J${ESC}]0;title\u0007red\u0000\u202e`);
  });

  for (const [what, written] of [
    ['nothing', ''],
    ['prose', 'The order is pending.'],
    ['half a result', '<execution_result>{"status": "pen'],
    ['a number', '<execution_result>7</execution_result>'],
    ['invalid UTF-8', { bytes: [0xff, 0xfe] }],
    ['ANSI codes', `<execution_result>${ESC}[31m</execution_result>`],
  ] as [string, Scripted][]) {
    it(`a rehearsal of ${what} is an observation that says it could not be read`, async () => {
      const session = await toEnd({
        act: [call('get_order', { order_id: '#W1' }), 'Hm.'],
        rehearse: [written],
      });
      const [seen] = observations(session);
      assert.match(JSON.stringify(seen?.value), /REHEARSAL_UNPARSEABLE/);
      assert.notEqual(seen?.raw, undefined);
      assert.equal(stopOf(session), 'answered');
    });
  }
});
