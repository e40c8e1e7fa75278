import assert from 'node:assert/strict';
import fc from 'fast-check';
import { buildBatch, type Rollout, type Variant } from '../../../../src/core/grpo/batch';
import { chainsOf, type TrainedOutput } from '../../../../src/core/grpo/chains';
import type { Role } from '../../../../src/core/rehearsal/types';

const output = (role: Role, prompt: number[], ids: number[]): TrainedOutput => ({
  role,
  prompt,
  tokens: ids.map((id) => ({ id, logprob: -id / 10, sampled: true })),
});

/** ACT writes 5 6, is told 7, writes 8; REHEARSE answers from a prompt of its own. */
const rollout = (reward: number | null): Rollout => ({
  reward,
  outputs: [
    output('act', [1, 2], [5, 6]),
    output('rehearse', [3], [7, 9]),
    output('act', [1, 2, 5, 6, 7], [8]),
  ],
});

describe('batch of a step', () => {
  it('makes one sequence of outputs that extend one another, with a mask', () => {
    const { adapters } = buildBatch([[rollout(1), rollout(0)]], 'rehearse');
    const [{ adapter, tokens, data }] = adapters as [(typeof adapters)[0]];
    assert.equal(adapter, 'shared');
    assert.equal(tokens, 10);
    assert.equal(data.length, 4);
    assert.deepEqual(data[0], {
      input: [1, 2, 5, 6, 7],
      target: [2, 5, 6, 7, 8],
      logprobs: [0, -0.5, -0.6, 0, -0.8],
      advantages: [0, 0.05, 0.05, 0, 0.05],
    });
    assert.deepEqual(data[1]!.target, [7, 9]);
    assert.deepEqual(data[2]!.advantages, [0, -0.05, -0.05, 0, -0.05]);
  });

  it('divides by all completion tokens of the scored rollouts, those without signal included', () => {
    const signal = [rollout(1), rollout(0)];
    const batch = buildBatch([signal, [rollout(1), rollout(1), rollout(null)]], 'rehearse');
    assert.equal(batch.adapters[0]!.tokens, 20);
    assert.equal(batch.adapters[0]!.data.length, 4);
    assert.equal(batch.adapters[0]!.data[0]!.advantages[1], 0.5 / 20);
    assert.deepEqual([batch.groups, batch.groupsWithoutSignal, batch.unscored], [2, 1, 1]);
  });

  it('trains the roles of its variant, each adapter by its own tokens', () => {
    const of = (variant: Variant) =>
      buildBatch([[rollout(1), rollout(0)]], variant).adapters.map((a) => [
        a.adapter,
        a.tokens,
        a.data.length,
      ]);
    assert.deepEqual(of('rehearse'), [['shared', 10, 4]]);
    assert.deepEqual(of('act-only'), [['shared', 6, 2]]);
    assert.deepEqual(of('real'), [['shared', 6, 2]]);
    assert.deepEqual(of('rehearse-per-role'), [
      ['act', 6, 2],
      ['rehearse', 4, 2],
    ]);
  });

  it('trains only on what was sampled', () => {
    const typed = output('act', [1], [4, 5, 6]);
    const tokens = typed.tokens.map((t, i) => (i === 1 ? { ...t, sampled: false } : t));
    const rollouts = [
      { reward: 1, outputs: [{ ...typed, tokens }] },
      { reward: 0, outputs: [output('act', [1], [4])] },
    ];
    const [{ tokens: count, data }] = buildBatch([rollouts], 'real').adapters as [
      ReturnType<typeof buildBatch>['adapters'][0],
    ];
    assert.equal(count, 3);
    assert.deepEqual(
      data[0]!.advantages.map((a) => a !== 0),
      [true, false, true],
    );
  });

  it('adds what is asked of single tokens, also where rewards give no signal', () => {
    const rollouts = [1, 1].map((reward) => ({
      reward,
      outputs: [{ ...output('act', [1], [4, 5]), terms: [0.4, -0.8] }],
    }));
    const { adapters } = buildBatch([rollouts], 'rehearse');
    assert.deepEqual(
      adapters[0]!.data.map((d) => d.advantages),
      [
        [0.1, -0.2],
        [0.1, -0.2],
      ],
    );
  });

  it('keeps every output whole, in its chain, whatever branches', () => {
    const ids = fc.array(fc.nat(3), { minLength: 1, maxLength: 4 });
    const outputs = fc.array(fc.tuple(fc.constantFrom<Role>('act', 'rehearse'), ids, ids, fc.boolean()), {
      maxLength: 8,
    });
    fc.assert(
      fc.property(outputs, (drawn) => {
        const list: TrainedOutput[] = [];
        for (const [role, prompt, tokens, extend] of drawn) {
          const before = list.findLast((o) => o.role === role);
          const base = extend && before ? [...before.prompt, ...before.tokens.map((t) => t.id)] : [];
          list.push(output(role, [...base, ...prompt], tokens));
        }
        const placed = chainsOf(list).flatMap((chain) => chain.outputs.map((o) => ({ ...o, chain })));
        assert.equal(placed.length, list.length);
        for (const { output: one, at, chain } of placed) {
          const whole = [...one.prompt, ...one.tokens.map((t) => t.id)];
          assert.equal(at, one.prompt.length);
          assert.deepEqual(chain.ids.slice(0, whole.length), whole);
          assert.equal(chain.role, one.role);
        }
      }),
    );
  });
});
