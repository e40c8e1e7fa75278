import assert from 'node:assert/strict';
import { NO_FILTERS, stopReason } from '../../../../src/core/rehearsal/breakpoints';
import {
  EmptyStreamError,
  oneOutput,
  oneToken,
  oneTurn,
  toTheEnd,
  type Until,
} from '../../../../src/core/rehearsal/drivers';
import { currentOutput } from '../../../../src/core/rehearsal/machine';
import { outputText } from '../../../../src/core/rehearsal/outputs';
import { UserError } from '../../../../src/core/user-error';
import { begin, observations, stopOf } from '../../support/rehearse';
import { call, GOOD, result, setup } from '../../support/shop';

const seedOf = (seed: number) => setup({ options: { seed } });

describe('gestures', () => {
  it('Step Into makes one token, or one observation that is not sampled', async () => {
    const { session, drive } = begin({ act: [call('refund', {}), 'Sorry.'] });
    await drive(oneToken);
    assert.equal(session.state.turns[0]!.act.tokens!.length, 1);
    await drive(oneToken);
    assert.equal(session.state.turns[0]!.act.tokens!.length, 2);
    await drive(oneOutput);
    assert.equal(observations(session)[0], null);
    await drive(oneToken);
    assert.equal(observations(session)[0]?.source, 'gate');
  });

  it('Step Over ends with the output, Step Out with the turn, Continue with the task', async () => {
    const { session, drive } = begin(GOOD);
    await drive(oneOutput);
    assert.equal(outputText(session.state.turns[0]!.act), GOOD.act[0]);
    assert.equal(session.state.turns[0]!.calls[0]!.rehearsal, null);
    await drive(oneTurn);
    assert.equal(session.state.turns.length, 1);
    assert.notEqual(session.state.turns[0]!.calls[0]!.observation, null);
    await drive(toTheEnd);
    assert.equal(stopOf(session), 'answered');
  });

  it('one token asks the server for one token, more ask for the rest of the output', async () => {
    const { drive, policy } = begin(GOOD);
    await drive(oneToken);
    await drive(oneOutput);
    assert.deepEqual(
      policy.requests.map((request) => request.maxTokens),
      [1, 399],
    );
  });

  it('sends every sampling setting as it was chosen', async () => {
    const options = { temperature: 0.5, topP: 0.9, topK: 7, minP: 0.1, alternatives: 2, priority: 1 };
    const { drive, policy } = begin(GOOD, setup({ options }));
    await drive(oneToken);
    const { prompt, maxTokens, seed, ...sent } = policy.requests[0]!;
    assert.deepEqual(sent, options);
    assert.ok(prompt.length > 0 && maxTokens > 0 && seed >= 0);
  });

  it('draws each output from a seed of its own, the same in each run and another for another seed', async () => {
    const seeds = async (seed: number) => {
      const { drive, policy } = begin(GOOD, seedOf(seed));
      await drive(toTheEnd);
      return policy.requests.map((request) => request.seed);
    };
    const first = await seeds(1);
    assert.equal(new Set(first).size, 5);
    assert.deepEqual(await seeds(1), first);
    assert.ok((await seeds(2)).every((seed) => !first.includes(seed)));
  });

  it('pauses between two tokens, keeps them, and goes on from there', async () => {
    const { session, drive } = begin(GOOD);
    const abort = new AbortController();
    const pause: Until = () => {
      if (currentOutput(session.state)!.tokens!.length === 5) abort.abort();
      return false;
    };
    await drive(pause, abort.signal);
    assert.equal(session.state.turns[0]!.act.tokens!.length, 5);
    await drive(toTheEnd);
    assert.equal(outputText(session.state.turns[0]!.act), GOOD.act[0]);
    assert.equal(stopOf(session), 'answered');
  });

  it('replays what is stored ahead without asking the policy', async () => {
    const { session, drive, policy } = begin(GOOD);
    await drive(toTheEnd);
    const asked = policy.requests.length;
    const end = session.state;
    session.move(0);
    await drive(toTheEnd);
    assert.equal(session.state, end);
    assert.equal(policy.requests.length, asked);
  });

  it('says so where a session needs real tools and has none, and keeps what came', async () => {
    const { session, drive } = begin(GOOD, setup({ options: { observations: 'real' } }));
    await assert.rejects(drive(toTheEnd), (error) => {
      assert.ok(error instanceof UserError);
      assert.match(error.message, /needs the real tool/);
      return true;
    });
    assert.equal(session.state.turns[0]!.calls.length, 1);
  });

  it('does not ask for ever where a server ends the stream before the first token', async () => {
    const { drive, policy } = begin({ act: [{ bytes: [], cut: true }] });
    await assert.rejects(drive(toTheEnd), EmptyStreamError);
    assert.equal(policy.requests.length, 1);
  });
});

describe('breakpoints', () => {
  const script = {
    act: [
      call('get_order', { order_id: '#W1' }),
      call('refund', {}),
      call('cancel_order', { order_id: '#W1' }),
      'Done.',
    ],
    rehearse: [result({ error: 'Order not found' }), 'nonsense'],
  };
  const cases = [
    ['a tool', { tools: new Set(['cancel_order']) }, 'function breakpoint', 3],
    ['a failed gate', { failedGate: true }, 'exception', 2],
    ['a rehearsed error', { rehearsedError: true }, 'exception', 1],
    ['an unparseable rehearsal', { unparseable: true }, 'exception', 3],
    ['an unlikely token', { belowProbability: 0.95 }, 'exception', 1],
  ] as const;
  for (const [what, filter, kind, turn] of cases) {
    it(`stops at ${what}`, async () => {
      const { session, drive } = begin(script);
      let reason: ReturnType<typeof stopReason> = null;
      await drive((step) => {
        reason = stopReason({ ...NO_FILTERS, ...filter }, step);
        return reason !== null;
      });
      assert.equal(reason!.kind, kind);
      assert.equal(session.state.turns.length, turn);
    });
  }

  it('stops at a tool before its observation, once', async () => {
    const { session, drive } = begin(GOOD);
    const filters = { ...NO_FILTERS, tools: new Set(['get_order']) };
    let stops = 0;
    const until: Until = (step) => stopReason(filters, step) !== null && ++stops > 0;
    await drive(until);
    assert.equal(session.state.turns[0]!.calls[0]!.rehearsal, null);
    await drive(until);
    assert.equal(stops, 1);
    assert.equal(stopOf(session), 'answered');
  });

  it('stops nowhere without filters', async () => {
    const { session, drive } = begin(script);
    await drive((step) => stopReason(NO_FILTERS, step) !== null);
    assert.equal(stopOf(session), 'answered');
  });
});
