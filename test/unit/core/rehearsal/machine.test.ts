import assert from 'node:assert/strict';
import type { Json } from '../../../../src/core/json';
import { toTheEnd } from '../../../../src/core/rehearsal/drivers';
import { accept, start } from '../../../../src/core/rehearsal/machine';
import { rewardOf, tokenCounts } from '../../../../src/core/reward/rollout';
import { textOf } from '../../support/memory-policy';
import { begin, observations, stopOf, toEnd } from '../../support/rehearse';
import { call, GOOD, result, setup } from '../../support/shop';

const code = (value: Json | undefined) =>
  (value as { error_tool_call?: { code: string } })?.error_tool_call?.code;

describe('the act–rehearse loop', () => {
  it('rehearses each call, answers, and is rewarded', async () => {
    const session = await toEnd(GOOD);
    assert.equal(stopOf(session), 'answered');
    assert.deepEqual(
      observations(session).map((seen) => [seen?.source, seen?.outcome, seen?.value]),
      [
        ['rehearsed', 'result', { order_id: '#W1', status: 'pending' }],
        ['rehearsed', 'result', { status: 'cancelled' }],
      ],
    );
    const reward = rewardOf(session.state);
    assert.equal(reward.value, 1);
    assert.equal(reward.success, true);
    assert.ok(tokenCounts(session.state).rehearse > 0);
  });

  it('shows ACT what was rehearsed, and REHEARSE what was called and said', async () => {
    const { drive, policy } = begin(GOOD);
    await drive(toTheEnd);
    const prompts = policy.requests.map((request) => textOf(request.prompt));
    const lastAct = prompts.filter((prompt) => prompt.includes('Be helpful.\n<tools>')).pop()!;
    assert.match(lastAct, /tool\n\{"order_id": "#W1", "status": "pending"\}/);
    const lastRehearsal = prompts.filter((prompt) => prompt.includes('You are the tools')).pop()!;
    assert.match(lastRehearsal, /User: Cancel order #W1/);
    assert.match(lastRehearsal, /Call: get_order \{"order_id":"#W1"\}/);
    assert.match(lastRehearsal, /Call: cancel_order \{"order_id":"#W1"\}<\|im_end\|>/);
    assert.match(
      lastRehearsal,
      /Call: get_order \{"order_id": "#W2"\}\nResult: \{"order_id": "#W2", "status": "delivered"\}/,
    );
  });

  it('never changes the ids of a prefix: each prompt of a role begins with the one before', async () => {
    const { drive, policy } = begin(GOOD);
    await drive(toTheEnd);
    for (const mark of ['Be helpful.\n<tools>', 'You are the tools']) {
      const own = policy.requests
        .map((request) => request.prompt)
        .filter((prompt) => textOf(prompt).includes(mark));
      assert.ok(own.length >= 2);
      for (const [i, prompt] of own.slice(1).entries()) {
        assert.deepEqual(prompt.slice(0, own[i]!.length), own[i], `prompt ${i + 1} of ${mark}`);
      }
    }
  });

  const gates: [string, string, string][] = [
    ['a tool that is not offered', call('refund', { order_id: '#W1' }), 'TOOL_NOT_AVAILABLE'],
    ['arguments against the schema', call('get_order', { order_id: 7 }), 'INVALID_PARAMETERS'],
    ['a missing argument', call('get_order', {}), 'INVALID_PARAMETERS'],
    ['a call that is no JSON', '<tool_call>\n{"name": get_order}\n</tool_call>', 'INVALID_TOOL_CALL_FORMAT'],
  ];
  for (const [what, written, expected] of gates) {
    it(`answers ${what} by the gate ${expected}, without sampling a rehearsal`, async () => {
      const { session, drive, policy } = begin({ act: [written, 'Sorry.'] });
      await drive(toTheEnd);
      const [seen] = observations(session);
      assert.equal(seen?.source, 'gate');
      assert.equal(seen?.outcome, 'error');
      assert.equal(code(seen?.value), expected);
      assert.equal(policy.requests.length, 2);
      assert.equal(stopOf(session), 'answered');
    });
  }

  it('leaves the gates to the policy where the environment says so', async () => {
    const refusal = { error_tool_call: { code: 'TOOL_NOT_AVAILABLE', message: 'no such tool' } };
    const script = { act: [call('refund', {}), 'Sorry.'], rehearse: [result(refusal)] };
    const session = await toEnd(script, setup({ environment: { gates: 'prompt' } }));
    assert.deepEqual(observations(session)[0]?.value, refusal);
    assert.equal(observations(session)[0]?.source, 'rehearsed');
  });

  it('ends the rollout at a failed gate where the environment says so', async () => {
    const session = await toEnd(
      { act: [call('refund', {})] },
      setup({ environment: { onGateFailed: 'stop' } }),
    );
    assert.equal(stopOf(session), 'gate_failed');
  });

  it('gives a recorded answer word for word, but not after a write', async () => {
    const look = call('get_order', { order_id: '#W2' });
    const script = {
      act: [look, call('cancel_order', { order_id: '#W2' }), look, 'Done.'],
      rehearse: [result({ error: 'not pending' }), result({ order_id: '#W2', status: 'cancelled' })],
    };
    const session = await toEnd(script);
    assert.deepEqual(
      observations(session).map((seen) => seen?.source),
      ['recorded', 'rehearsed', 'rehearsed'],
    );
    assert.deepEqual(observations(session)[0]?.value, { order_id: '#W2', status: 'delivered' });
    assert.equal(observations(session)[1]?.outcome, 'error');
  });

  it('rehearses what is recorded where reuse is off', async () => {
    const script = {
      act: [call('get_order', { order_id: '#W2' }), 'Done.'],
      rehearse: [result({ status: 'new' })],
    };
    const session = await toEnd(script, setup({ environment: { reuseExamples: false } }));
    assert.equal(observations(session)[0]?.source, 'rehearsed');
  });

  it('rehearses several calls of one message one after the other, each seeing the earlier results', async () => {
    const both = `${call('get_order', { order_id: '#W1' })}\n${call('get_order', { order_id: '#W3' })}`;
    const { session, drive, policy } = begin({
      act: [both, 'Done.'],
      rehearse: [result({ a: 1 }), result({ b: 2 })],
    });
    await drive(toTheEnd);
    assert.deepEqual(
      observations(session).map((seen) => seen?.value),
      [{ a: 1 }, { b: 2 }],
    );
    const second = textOf(policy.requests[2]!.prompt);
    assert.match(
      second,
      /<execution_result>\{"a":1\}<\/execution_result><\|im_end\|>\n<\|im_start\|>user\nCall: get_order \{"order_id":"#W3"\}/,
    );
    const lastAct = textOf(policy.requests[3]!.prompt);
    assert.match(lastAct, /tool\n\{"a": 1\}.*tool\n\{"b": 2\}/s);
  });

  it('keeps a rehearsal that cannot be read, with what was written', async () => {
    const session = await toEnd({
      act: [call('get_order', { order_id: '#W1' }), 'Hm.'],
      rehearse: ['It is pending.'],
    });
    const [seen] = observations(session);
    assert.equal(code(seen?.value), 'REHEARSAL_UNPARSEABLE');
    assert.equal(seen?.raw, 'It is pending.');
  });

  it('cuts an output at its limit: a call is a format error, an answer ends the task', async () => {
    const limits = { act: 30, rehearse: 400 };
    const inCall = await toEnd(
      { act: [call('get_order', { order_id: '#W1' }), 'No.'] },
      setup({ environment: { limits } }),
    );
    assert.equal(code(observations(inCall)[0]?.value), 'INVALID_TOOL_CALL_FORMAT');
    const inAnswer = await toEnd(
      { act: ['A very long answer that goes on and on.'] },
      setup({ environment: { limits } }),
    );
    assert.equal(stopOf(inAnswer), 'output_limit');
    assert.equal(inAnswer.state.turns[0]!.act.tokens!.length, 30);
  });

  it('cuts a rehearsal at its limit and says so', async () => {
    const script = {
      act: [call('get_order', { order_id: '#W1' }), 'Hm.'],
      rehearse: [result({ note: 'x'.repeat(300) })],
    };
    const session = await toEnd(script, setup({ environment: { limits: { act: 400, rehearse: 50 } } }));
    assert.equal(code(observations(session)[0]?.value), 'REHEARSAL_UNPARSEABLE');
  });

  it('stops at the limit of turns, of the task before that of the environment', async () => {
    const act = Array.from({ length: 9 }, () => call('get_order', { order_id: '#W2' }));
    const session = await toEnd({ act }, setup({ environment: { maxTurns: 5 }, task: { maxTurns: 3 } }));
    assert.equal(stopOf(session), 'turn_limit');
    assert.equal(session.state.turns.length, 3);
  });

  it('stops where the context is full, in an output and before one', async () => {
    const policy = { ...setup().policy, contextLength: 560 };
    const within = await toEnd(
      { act: ['a'.repeat(2000)] },
      { ...setup({ environment: { limits: { act: 4000, rehearse: 10 } } }), policy },
    );
    assert.equal(stopOf(within), 'context_limit');
    const before = await toEnd({ act: ['a'] }, { ...setup(), policy: { ...policy, contextLength: 20 } });
    assert.equal(stopOf(before), 'context_limit');
    assert.equal(before.state.turns.length, 0);
  });

  it('gives the user’s scripted messages in order, whenever the policy answers', async () => {
    const script = { act: ['Which order?', 'Are you sure?', 'Fine.'] };
    const session = await toEnd(script, setup({ task: { user: ['#W1', 'Yes.'] } }));
    assert.deepEqual(
      session.state.turns.map((turn) => turn.user),
      [null, '#W1', 'Yes.'],
    );
    assert.equal(stopOf(session), 'answered');
  });

  it('drops earlier reasoning from ACT’s history where the environment says so', async () => {
    const act = ['<think>secret plan</think>Which order?', 'Fine.'];
    for (const [reasoning, kept] of [
      ['keep', true],
      ['drop', false],
    ] as const) {
      const { drive, policy } = begin(
        { act },
        setup({ environment: { reasoning }, task: { user: ['#W1'] } }),
      );
      await drive(toTheEnd);
      const last = textOf(policy.requests.at(-1)!.prompt);
      assert.equal(last.includes('secret plan'), kept, reasoning);
      assert.match(last, /Which order\?<\|im_end\|>\n<\|im_start\|>user\n#W1/);
    }
  });

  it('is unscored, not 0, where it ended in an error of ours', () => {
    const state = accept(start(setup()), { kind: 'stop', stop: 'error', message: 'server gone' });
    assert.equal(rewardOf(state).value, null);
    assert.equal(rewardOf(state).success, false);
  });

  it('refuses a reply that does not fit what is needed', () => {
    assert.throws(
      () => accept(start(setup()), { kind: 'observation' }),
      /observation was given where prompt was needed/,
    );
  });

  it('leaves earlier states as they were', async () => {
    const { session, drive } = begin(GOOD);
    const first = session.state;
    const frozen = JSON.stringify(first);
    await drive(toTheEnd);
    assert.equal(JSON.stringify(first), frozen);
  });
});
