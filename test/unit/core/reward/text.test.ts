import assert from 'node:assert/strict';
import { containsWhole, states } from '../../../../src/core/reward/text';

describe('whole words and numbers', () => {
  const yes: [string, string][] = [
    ['It costs 10.', '10'],
    ['It costs $10, sir', '10'],
    ['10', '10'],
    ['(10)', '10'],
    ['items 5,10,20', '10'],
    ['total: 1,300 dollars', '1300'],
    ['It is 130.00 in all', '130'],
    ['order #W4284542 is cancelled', '#W4284542'],
    ['on 2026-05-22', '2026-05-22'],
    ['31 Oak\n Street,  Dallas', '31 Oak Street, Dallas'],
    ['您的订单已取消。', '订单'],
    ['état e\u0301tat', 'état'],
    ['anything', ''],
  ];
  const no: [string, string][] = [
    ['in 2010', '10'],
    ['10.5 dollars', '10'],
    ['3.10', '10'],
    ['10,000 dollars', '10'],
    ['1,100 dollars', '100'],
    ['it fell to -10 degrees', '10'],
    ['order A10', '10'],
    ['order #W42845421', '#W4284542'],
    ['it was cancelled', 'cancel'],
    ['uncancelled', 'cancelled'],
    ['Cancelled', 'cancelled'],
    ['007', '7'],
    ['on 2026-10-22', '10'],
    ['at 10:30', '10'],
    ['at 9/10/2026', '10'],
    ['call 555-10', '10'],
  ];
  for (const [text, needle] of yes)
    it(`${JSON.stringify(needle)} is in ${JSON.stringify(text)}`, () =>
      assert.ok(containsWhole(text, needle)));
  for (const [text, needle] of no)
    it(`${JSON.stringify(needle)} is not in ${JSON.stringify(text)}`, () =>
      assert.ok(!containsWhole(text, needle)));

  it('ignore case where asked', () => assert.ok(containsWhole('CANCELLED', 'cancelled', true)));
});

describe('a text that states a value', () => {
  it('reads numbers as people write them', () => {
    assert.ok(states('You get $1,234.50 back.', 1234.5));
    assert.ok(states('You get 45.16 back.', 45.159999999999854), 'floating-point dust');
    assert.ok(!states('You get 45.16 back.', 45.162), 'not rounded otherwise');
    assert.ok(!states('In 2010.', 10));
    assert.ok(states('It is −5 today', -5) && !states('It is −5 today', 5));
  });

  it('wants every item of a list, and words as they are', () => {
    assert.ok(states('HA381 and HA377 fly', ['HA377', 'HA381']));
    assert.ok(!states('HA381 flies', ['HA377', 'HA381']));
    assert.ok(states('It is Pending.', 'pending'));
  });
});
