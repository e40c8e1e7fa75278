import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type Advantages, roleWiseAdvantages, type Scored } from '../../../../src/core/grpo/advantages';
import { sharedText } from '../../shared-data';

const DEFAULTS = { normalizeByStd: false, singleton: 'zero' } as const;
const rollout = (reward: number | null, act: number, rehearse: number): Scored => ({
  reward,
  outputs: { act, rehearse },
});

function close(found: number | null, wanted: number | null, where: string): void {
  if (found === null || wanted === null) assert.equal(found, wanted, where);
  else assert.ok(Math.abs(found - wanted) <= 1e-12, `${where}: ${found} is not ${wanted}`);
}

describe('role-wise advantages', () => {
  it('are those of the published vectors', function () {
    const { cases } = JSON.parse(sharedText(this, 'vectors/rolewise-advantages.json'));
    assert.ok(cases.length > 20);
    for (const { name, normalizeByStd, singleton, rollouts, advantages } of cases) {
      const group = rollouts.map((r: { reward: number | null; act: number; rehearse: number }) =>
        rollout(r.reward, r.act, r.rehearse),
      );
      const found = roleWiseAdvantages(group, { normalizeByStd, singleton });
      assert.equal(found.length, advantages.length);
      found.forEach((one, i) => {
        const where = `${name}, ${normalizeByStd}, ${singleton}, rollout ${i}`;
        close(one.act, advantages[i].act, `${where}, act`);
        close(one.rehearse, advantages[i].rehearse, `${where}, rehearse`);
      });
    }
  });

  it('count every output of a role once', () => {
    const found = roleWiseAdvantages([rollout(1, 2, 1), rollout(0, 1, 0), rollout(0.5, 3, 2)], DEFAULTS);
    // Six ACT outputs: (1 + 1 + 0 + 0.5 + 0.5 + 0.5) / 6; three REHEARSE outputs: (1 + 0.5 + 0.5) / 3.
    close(found[0]!.act, 1 - 3.5 / 6, 'act');
    close(found[0]!.rehearse, 1 - 2 / 3, 'rehearse');
    assert.equal(found[1]!.rehearse, null);
  });

  it('leave an unscored rollout out of every baseline', () => {
    const scored = [rollout(1, 1, 1), rollout(0, 1, 1)];
    const [first, none, second] = roleWiseAdvantages([scored[0]!, rollout(null, 9, 9), scored[1]!], DEFAULTS);
    assert.deepEqual([first, second], roleWiseAdvantages(scored, DEFAULTS));
    assert.deepEqual(none, { act: null, rehearse: null });
  });

  it('sum to zero over the outputs of a role, and are exactly zero where rewards are equal', () => {
    const group = fc.array(
      fc.record({
        reward: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
        outputs: fc.record({ act: fc.nat(5), rehearse: fc.nat(5) }),
      }),
      { minLength: 1, maxLength: 8 },
    );
    fc.assert(
      fc.property(group, (rollouts) => {
        const found = roleWiseAdvantages(rollouts, DEFAULTS);
        for (const role of ['act', 'rehearse'] as const) {
          const sum = rollouts.reduce(
            (s, r, i) => s + r.outputs[role] * ((found[i] as Advantages)[role] ?? 0),
            0,
          );
          assert.ok(Math.abs(sum) < 1e-9);
        }
        const equal = roleWiseAdvantages(
          rollouts.map((r) => ({ ...r, reward: 0.1 })),
          {
            normalizeByStd: true,
            singleton: 'zero',
          },
        );
        for (const { act, rehearse } of equal) assert.ok(!act && !rehearse);
      }),
    );
  });
});
