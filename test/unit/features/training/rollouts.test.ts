/** Groups and rollouts as the page shows them, from sessions of the real core. */
import assert from 'node:assert/strict';
import type { Listed } from '../../../../src/features/training/rollouts';
import {
  failingTurn,
  groupViews,
  rolloutDetail,
  shortCall,
} from '../../../../src/features/training/rollouts';
import { viewOfSession } from '../../../../src/features/training/session';
import { Story } from '../../../webview/story';

const output = (role: 'act' | 'rehearse', turn: number, advantage: number | null) => ({
  role,
  turn,
  prompt: [],
  ids: [1, 2],
  logprobs: [-0.1, -0.2],
  advantage,
});

const rollout = (index: number, reward: number | null, change: Partial<Listed> = {}): Listed => ({
  step: 3,
  index,
  task: 'cancel',
  attempt: index % 4,
  seed: 1,
  reward,
  success: reward === 1,
  stop: 'answered',
  checks: [],
  outputs: [output('act', 1, null)],
  ...change,
});

describe('rollouts of a step', () => {
  it('stand by task in the order of the step', () => {
    const groups = groupViews([rollout(5, 1, { task: 'b' }), rollout(1, 0), rollout(0, 1)]);
    assert.deepEqual(
      groups.map(({ task, rollouts }) => [task, rollouts.map(({ index }) => index)]),
      [
        ['cancel', [0, 1]],
        ['b', [5]],
      ],
    );
  });

  it('that could not be scored enter no mean, and are counted', () => {
    const [group] = groupViews([rollout(0, 1), rollout(1, null), rollout(2, 0.5)]);
    assert.equal(group!.mean, 0.75);
    assert.equal(group!.unscored, 1);
    assert.equal(group!.rollouts[1]!.reward, null);
  });

  it('of the same reward have no spread', () => {
    assert.equal(groupViews([rollout(0, 0.5), rollout(1, 0.5), rollout(2, null)])[0]!.spread, false);
    assert.equal(groupViews([rollout(0, 0.5), rollout(1, 0.6)])[0]!.spread, true);
    assert.equal(groupViews([rollout(0, null)])[0]!.mean, null);
  });

  it('say which check fails', () => {
    const checks = [
      { title: 'first', verdict: 'holds', reason: '' },
      { title: 'second', verdict: 'fails', reason: 'No call.', turn: 2 },
    ];
    assert.equal(
      groupViews([rollout(0, 0.2, { checks })])[0]!.rollouts[0]!.reason,
      'Check 2 fails: second. No call.',
    );
  });
});

describe('a rollout', () => {
  const text = async () => {
    const { session } = await new Story().end();
    const header = { t: 'session', version: 1, id: 'x', created: '', setup: session.setup };
    const replies = session.nodes
      .slice(1)
      .map(({ id, parent, reply }) => ({ t: 'reply', id, parent, reply }));
    return [header, ...replies].map((record) => JSON.stringify(record)).join('\n');
  };

  it('shows each output with its own advantage and its tokens', async () => {
    const view = viewOfSession(await text());
    const roles = view.turns.flatMap((turn) => [
      { role: 'act' as const, turn: turn.index },
      ...turn.calls.flatMap(({ rehearsal }) =>
        rehearsal ? [{ role: 'rehearse' as const, turn: turn.index }] : [],
      ),
    ]);
    const outputs = roles.map(({ role, turn }, i) => output(role, turn, i / 10));
    const own = rollout(0, 1, { outputs });
    const detail = rolloutDetail(own, [own, rollout(1, 0)], view, 2);
    const trained = detail.outputs.filter(({ tokens }) => tokens.length > 0);
    assert.deepEqual(
      trained.map(({ role, turn, advantage }) => ({ role, turn, advantage })),
      roles.map((one, i) => ({ ...one, advantage: i / 10 })),
    );
    assert.ok(
      trained[0]!.tokens
        .map(({ text: part }) => part)
        .join('')
        .includes('find_customer_by_email'),
    );
    assert.equal(trained[0]!.summary, 'find_customer_by_email(customer17@shop.test)');
    const given = detail.outputs.filter(({ tokens }) => tokens.length === 0);
    assert.deepEqual(new Set(given.map(({ source }) => source)), new Set(['recorded', 'gate']));
    assert.ok(given.every(({ advantage }) => advantage === null));
    assert.equal(detail.mean, 0.5);
    assert.equal(detail.weights, 2);
  });

  it('has the baseline of each role: the mean reward over its outputs', async () => {
    const view = viewOfSession(await text());
    const one = rollout(0, 1, { outputs: [output('act', 1, 0), output('act', 2, 0)] });
    const other = rollout(1, 0, { outputs: [output('act', 1, 0)] });
    const { baseline } = rolloutDetail(one, [one, other, rollout(2, null)], view, null);
    assert.ok(Math.abs(baseline.act! - 2 / 3) < 1e-12);
    assert.equal(baseline.rehearse, null);
  });

  it('opens at the turn of the check that fails, else at the last', () => {
    const turns = [{ index: 1 }, { index: 2 }, { index: 3 }] as Parameters<typeof failingTurn>[1]['turns'];
    const fails = { title: '', verdict: 'fails', reason: '' };
    assert.equal(failingTurn(rollout(0, 0, { checks: [{ ...fails, turn: 2 }] }), { turns }), 2);
    assert.equal(failingTurn(rollout(0, 0, { checks: [fails] }), { turns }), 3);
  });

  it('that is none is told, not thrown as a defect', () => {
    for (const wrong of ['', 'x', '{}', '{"t":"session","setup":{}}'])
      assert.throws(() => viewOfSession(wrong), { name: 'UserError' }, wrong);
  });

  it('names a call by its values', () => {
    assert.equal(shortCall('get({"id": "#W1", "n": 2})'), 'get(#W1, 2)');
    assert.equal(shortCall('get({"id": '), 'get({"id": ');
    assert.equal(shortCall('no call'), 'no call');
  });
});
