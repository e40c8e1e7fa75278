/** Real answers beside rehearsals in one session: either may be had for each call, and a file says which. */
import assert from 'node:assert/strict';
import type { Json } from '../../../../src/core/json';
import { callAnsweredAt } from '../../../../src/core/rehearsal/calls';
import { drive, toTheEnd } from '../../../../src/core/rehearsal/drivers';
import { branches } from '../../../../src/core/rehearsal/forks';
import { Session } from '../../../../src/core/rehearsal/session';
import { sessionView } from '../../../../src/core/rehearsal/view';
import { textOf } from '../../support/memory-policy';
import { begin, observations } from '../../support/rehearse';
import { call, result, setup } from '../../support/shop';

const SCRIPT = {
  act: [call('cancel_order', { order_id: '#W1' }), call('get_order', { order_id: '#W1' }), 'Done.', 'Done.'],
  rehearse: [result({ status: 'guessed' }), result({ status: 'second' }), result({ status: 'third' })],
};
const executed = (value: Json) => ({
  kind: 'executed' as const,
  outcome: 'result' as const,
  value,
  durationMs: 3,
});
const nodeOf = (session: Session, turn: number) =>
  sessionView(session).turns[turn - 1]!.calls[0]!.observation!.node;

/** A session that stops after the first call's answer. */
async function oneCall(options = {}) {
  const begun = begin(SCRIPT, setup({ options }));
  await begun.drive(({ after }) => Boolean(after.turns[0]?.calls[0]?.observation));
  return begun;
}

describe('real answers in a session', () => {
  it('take the place of a rehearsal, in a branch of their own', async () => {
    const { session } = await oneCall();
    const place = callAnsweredAt(session, nodeOf(session, 1))!;
    assert.deepEqual(place.call, { tool: 'cancel_order', arguments: { order_id: '#W1' } });
    const { id } = session.add(executed({ status: 'cancelled' }), place.at.id);
    const [turn] = sessionView(session).turns;
    const { rehearsal, observation } = turn!.calls[0]!;
    assert.equal(rehearsal, null);
    assert.deepEqual([observation!.source, observation!.node], ['real', id]);
    assert.deepEqual(
      branches(session).map(({ label, role }) => [label, role]),
      [
        ['main', null],
        ['real answer', null],
      ],
    );
  });

  it('are told to the next rehearsal once, and nothing else is', async () => {
    const { session, policy, drive: go } = await oneCall();
    session.add(executed({ status: 'cancelled' }), callAnsweredAt(session, nodeOf(session, 1))!.at.id);
    const asked = policy.requests.length;
    await go(({ after }) => Boolean(after.turns[1]?.calls[0]?.observation));
    const prompt = textOf(policy.requests[asked + 1]!.prompt);
    assert.equal(prompt.split('"cancelled"').length, 2, prompt);
    assert.equal(prompt.split('Cancel order #W1').length, 2, prompt);
    assert.ok(!prompt.includes('guessed'));
  });

  it('come from the tools where a driver wants it so, and rehearsals where it wants those', async () => {
    for (const own of ['rehearse', 'real'] as const) {
      const { session, ports, records } = begin(SCRIPT, setup({ options: { observations: own } }));
      const execute = async () => ({ outcome: 'result' as const, value: { status: 'seen' }, durationMs: 1 });
      const first = ({ after }: { after: { turns: readonly unknown[] } }) => after.turns.length === 2;
      await drive(session, { ...ports, execute, observations: 'real' }, first);
      await drive(session, { ...ports, execute, observations: 'rehearse' }, toTheEnd);
      assert.deepEqual(
        observations(session).map((seen) => seen?.source),
        ['real', 'rehearsed'],
      );
      // What was saved reads back as the same session.
      const again = new Session(session.setup);
      for (const record of JSON.parse(JSON.stringify(records))) again.replay(record);
      assert.deepEqual(sessionView(again), sessionView(session));
    }
  });

  it('are had behind the earlier calls that may write, and no others', async () => {
    const script = {
      act: [
        call('cancel_order', { order_id: '#W1' }),
        call('get_order', { order_id: '#W1' }),
        call('cancel_order', {}),
        call('get_order', { order_id: '#W3' }),
        'Done.',
      ],
      rehearse: [result({ a: 1 }), result({ b: 2 }), result({ c: 3 })],
    };
    const { session, drive: go } = begin(script);
    await go(toTheEnd);
    const place = callAnsweredAt(session, nodeOf(session, 4))!;
    assert.deepEqual(place.before, [{ tool: 'cancel_order', arguments: { order_id: '#W1' } }]);
    assert.equal(place.mayWrite, false);
    assert.equal(callAnsweredAt(session, nodeOf(session, 3)), null, 'a refused call was never made');
  });

  it('of any size are sent to people cut', async () => {
    const { session } = await oneCall();
    const items = Array.from({ length: 80_000 }, () => ({ text: 'x'.repeat(100) }));
    session.add(executed({ items }), callAnsweredAt(session, nodeOf(session, 1))!.at.id);
    const { observation } = sessionView(session).turns[0]!.calls[0]!;
    assert.equal(observation!.cut, true);
    assert.ok(observation!.text.length <= 20_000);
    assert.ok(observation!.summary.length <= 120);
  });
});
