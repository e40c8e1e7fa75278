/** Checks that take too long are ended, and tried again later. */
import assert from 'node:assert/strict';
import type { Check, Transcript } from '../../../src/core/reward/types';
import { Bounds } from '../../../src/node/bounded';

const CHECKS: Check[] = [{ kind: 'answer', contains: 'yes' }];
const said = (answer: string): Transcript => ({ calls: [], answer, answerTurn: 1 });

describe('checks with bounds', () => {
  let now = 0;
  let busy = true;
  const make = () => {
    [now, busy] = [0, true];
    return new Bounds(0.5, 1000, () => now);
  };
  const work = () => {
    while (busy);
    return 'decided';
  };

  it('are ended, not tried at once on the same, and tried again later', () => {
    const bounds = make();
    assert.throws(() => bounds.run(CHECKS, said('a'), work), /took longer than 0.5 s/);
    busy = false;
    assert.throws(() => bounds.run(CHECKS, said('a'), work), /took longer/);
    assert.ok(bounds.wereEnded(CHECKS));
    assert.equal(bounds.run(CHECKS, said('b'), work), 'decided', 'on something else they may come to an end');
    now = 1000;
    assert.ok(!bounds.wereEnded(CHECKS));
    assert.equal(bounds.run(CHECKS, said('a'), work), 'decided');
  });

  it('that never end are tried ever less often', () => {
    const bounds = make();
    for (const until of [1000, 3000, 7000]) {
      assert.throws(() => bounds.run(CHECKS, said('a'), work), /took longer/);
      now = until - 1;
      assert.ok(bounds.wereEnded(CHECKS));
      now = until;
      assert.ok(!bounds.wereEnded(CHECKS));
    }
  });

  it('that fail otherwise are not remembered as slow', () => {
    const bounds = make();
    const fail = () => {
      throw new RangeError('too deep');
    };
    assert.throws(() => bounds.run(CHECKS, said('a'), fail), /too deep/);
    assert.ok(!bounds.wereEnded(CHECKS));
  });
});
