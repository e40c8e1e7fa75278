import assert from 'node:assert/strict';
import { evaluate } from '../../../../src/core/reward/checks';
import type { Check, RealSide, Transcript } from '../../../../src/core/reward/types';

const transcript = (real?: RealSide): Transcript => ({
  calls: [],
  answer: 'ok',
  answerTurn: 1,
  ...(real ? { real } : {}),
});
const orders = { orders: { '#W1': { status: 'cancelled', total: 64 } } };
const verdict = (check: Check, real?: RealSide) => evaluate({ checks: [check] }, transcript(real)).checks[0]!;

describe('checks on the real side', () => {
  it('are left out in rehearsal: they are no part of the reward', () => {
    const state: Check = { kind: 'state', equals: orders };
    const reward = evaluate(
      { checks: [state, { kind: 'command', command: ['x'] }, { kind: 'answer', contains: 'ok' }] },
      transcript(),
    );
    assert.deepEqual(
      reward.checks.map((check) => check.verdict),
      ['left out', 'left out', 'holds'],
    );
    assert.equal(reward.value, 1);
    assert.equal(evaluate({ checks: [state] }, transcript()).value, null);
  });

  it('compare the final state with matchers, whole or in part', () => {
    const real = { state: orders, commands: {} };
    assert.equal(
      verdict({ kind: 'state', equals: { orders: { '#W1': { total: 64, status: 'cancelled' } } } }, real)
        .verdict,
      'holds',
    );
    assert.equal(
      verdict({ kind: 'state', path: "$.orders['#W1'].status", equals: 'cancelled' }, real).verdict,
      'holds',
    );
    assert.equal(
      verdict({ kind: 'state', path: '$.orders.*.total', equals: { $number: { max: 70 } } }, real).verdict,
      'holds',
    );
    assert.equal(
      verdict({ kind: 'state', path: '$.orders.W2', equals: { $absent: true } }, real).verdict,
      'holds',
    );
    const wrong = verdict(
      { kind: 'state', path: "$.orders['#W1']", equals: { status: 'pending', total: { $any: true } } },
      real,
    );
    assert.equal(wrong.verdict, 'fails');
    assert.deepEqual(JSON.parse(wrong.expected!), { status: 'pending', total: 64 });
    assert.deepEqual(JSON.parse(wrong.actual!), { status: 'cancelled', total: 64 });
    assert.equal(
      verdict({ kind: 'state', path: '$.gone', equals: 1 }, real).reason,
      'The final state at $.gone is absent.',
    );
  });

  it('are unscored where the executor has no state or the program did not run', () => {
    assert.equal(verdict({ kind: 'state', equals: 1 }, { commands: {} }).verdict, 'unscored');
    assert.equal(verdict({ kind: 'command', command: ['x'] }, { commands: {} }).verdict, 'unscored');
  });
});
