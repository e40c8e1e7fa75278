/** Whatever is written, chosen and repeated: the loop goes on or ends, and a session is its records. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { transcriptDocument } from '../../../../src/core/rehearsal/document';
import { oneOutput, oneToken, oneTurn, toTheEnd, type Until } from '../../../../src/core/rehearsal/drivers';
import { branches, chooseAlternative, sampleAgain } from '../../../../src/core/rehearsal/forks';
import { need } from '../../../../src/core/rehearsal/machine';
import { Session } from '../../../../src/core/rehearsal/session';
import { sessionView } from '../../../../src/core/rehearsal/view';
import { rewardOf } from '../../../../src/core/reward/rollout';
import type { Script, Scripted } from '../../support/memory-policy';
import { begin, type Rehearsed } from '../../support/rehearse';
import { call, result, setup } from '../../support/shop';

const pieces = [
  '<tool_call>',
  '</tool_call>',
  '<think>',
  '</think>',
  '{"name": "get_order", "arguments": {',
  '"order_id"',
  '}}',
  '\n',
  '<execution_result>',
  '</execution_result>',
  '[',
  '"',
  '\\',
  '😀',
];
const noise: fc.Arbitrary<Scripted> = fc.oneof(
  fc
    .array(fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 4 })), { maxLength: 12 })
    .map((list) => list.join('')),
  fc.record({
    bytes: fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 30 }),
    cut: fc.constant(false),
  }),
);
const id = fc.constantFrom('#W1', '#W2', 'W1', 7);
const act: fc.Arbitrary<Scripted> = fc.oneof(
  noise,
  fc
    .tuple(fc.constantFrom('get_order', 'cancel_order', 'refund'), id)
    .map(([name, order_id]) => call(name, { order_id })),
  fc.constant(`${call('get_order', { order_id: '#W1' })}${call('cancel_order', { order_id: '#W1' })}`),
);
const rehearse: fc.Arbitrary<Scripted> = fc.oneof(noise, fc.jsonValue({ maxDepth: 2 }).map(result));
const script: fc.Arbitrary<Script> = fc.record({
  act: fc.array(act, { maxLength: 4 }),
  rehearse: fc.array(rehearse, { maxLength: 4 }),
});

const environments = fc.record({
  gates: fc.constantFrom('check' as const, 'prompt' as const),
  onGateFailed: fc.constantFrom('continue' as const, 'stop' as const),
  reasoning: fc.constantFrom('keep' as const, 'drop' as const),
  maxTurns: fc.integer({ min: 1, max: 4 }),
  limits: fc.record({ act: fc.integer({ min: 1, max: 90 }), rehearse: fc.integer({ min: 1, max: 90 }) }),
});
const user = fc.array(fc.string({ maxLength: 5 }), { maxLength: 2 });
const setups = fc
  .tuple(environments, user)
  .map(([environment, messages]) => setup({ environment, task: { user: messages } }));

const RUNS = { numRuns: 60 };
const gesture = fc.constantFrom<Until>(oneToken, oneOutput, oneTurn, toTheEnd);
const view = (session: Session) => JSON.stringify(sessionView(session));

describe('any rehearsal', () => {
  it('ends, whatever is written, and can be shown and scored', async () => {
    await fc.assert(
      fc.asyncProperty(script, setups, async (written, given) => {
        const { session, drive } = begin(written, given);
        await drive(toTheEnd);
        assert.equal(need(session.state).kind, 'done');
        const { value } = rewardOf(session.state);
        assert.ok(value === null || (value >= 0 && value <= 1));
        const shown = sessionView(session);
        const tokens = session.nodes.filter((node) => node.reply?.kind === 'token').length;
        assert.equal(transcriptDocument(shown).tokens.length, tokens);
      }),
      RUNS,
    );
  });

  it('is the same in any mixture of gestures as in one run', async () => {
    await fc.assert(
      fc.asyncProperty(
        script,
        setups,
        fc.array(gesture, { maxLength: 30 }),
        async (written, given, gestures) => {
          const whole = begin(written, given);
          await whole.drive(toTheEnd);
          const steps = begin(written, given);
          for (const until of gestures) await steps.drive(until);
          await steps.drive(toTheEnd);
          assert.equal(view(steps.session), view(whole.session));
          assert.deepEqual(
            steps.records.filter((record) => record.t === 'reply'),
            whole.records.filter((record) => record.t === 'reply'),
          );
        },
      ),
      RUNS,
    );
  });

  it('is the same again from its records, after any forks, repetitions and moves', async () => {
    const deed = fc.record({
      kind: fc.constantFrom('drive', 'choose', 'again', 'move'),
      at: fc.nat(200),
      until: gesture,
    });
    await fc.assert(
      fc.asyncProperty(script, setups, fc.array(deed, { maxLength: 12 }), async (written, given, deeds) => {
        const rehearsed = begin(written, given);
        for (const { kind, at, until } of deeds) await act1(rehearsed, kind, at, until);
        const copy = new Session(given);
        for (const record of JSON.parse(JSON.stringify(rehearsed.records))) copy.replay(record);
        assert.equal(view(copy), view(rehearsed.session));
        assert.equal(JSON.stringify(copy.state.position), JSON.stringify(rehearsed.session.state.position));
        const leaves = rehearsed.session.nodes.filter((node) => node.children.length === 0).length;
        assert.equal(branches(rehearsed.session).length, leaves);
      }),
      RUNS,
    );
  });

  it('steps back and forward without a trace', async () => {
    await fc.assert(
      fc.asyncProperty(
        script,
        setups,
        fc.array(fc.nat(500), { minLength: 1, maxLength: 10 }),
        async (written, given, places) => {
          const { session, drive } = begin(written, given);
          await drive(toTheEnd);
          const before = view(session);
          const { id: tip, state } = session.tip;
          for (const place of places) session.move(place % session.nodes.length);
          await drive(toTheEnd);
          assert.equal(session.state, state);
          session.move(tip);
          assert.equal(view(session), before);
        },
      ),
      RUNS,
    );
  });
});

async function act1({ session, drive }: Rehearsed, kind: string, at: number, until: Until): Promise<void> {
  const node = session.node(at % session.nodes.length);
  if (kind === 'drive') await drive(until);
  else if (kind === 'move') session.move(node.id);
  else if (kind === 'again' && node.id > 0) sampleAgain(session, node.id);
  else if (kind === 'choose' && node.reply?.kind === 'token') {
    const { alternatives } = node.reply.token;
    chooseAlternative(session, node.id, alternatives[at % alternatives.length]!);
  }
}
