/** A session whose model is not served any more: what it rehearsed is compared all the same. */
import assert from 'node:assert/strict';
import type { ComparedCall } from '../../../../src/core/fidelity/comparison';
import { compareTargets, stepsOf } from '../../../../src/node/fidelity/compare';
import { answerScorer } from '../../../../src/node/fidelity/surprise';
import { gonePolicy } from '../../../../src/node/policies/gone';
import { createExecutor } from '../../../../src/node/tools';
import { toEnd } from '../../support/rehearse';
import { GOOD, setup, TASK } from '../../support/shop';

const FIXTURES = new URL('../../../fixtures/tools', import.meta.url).pathname;

describe('a model that is gone', () => {
  const session = () => toEnd(GOOD);

  it('is compared by what it rehearsed, without its surprise', async () => {
    const { state } = await session();
    const { policy: info, environment } = setup({
      environment: { executor: { kind: 'module', path: 'order-module.mjs', timeoutSeconds: 60 } },
    });
    const policy = gonePolicy({ ...info, model: 'shop-1/step-40', canScore: true });
    assert.equal(answerScorer(policy), null);
    const executor = createExecutor({ environment, folder: FIXTURES });
    const pairs: ComparedCall[] = [];
    const sampling = { temperature: 0, topP: 1, topK: -1, minP: 0, seed: 0, alternatives: 0 };
    try {
      await compareTargets([{ kind: 'steps', task: TASK, steps: stepsOf(state) }], {
        ...{ environment, policy, executor, sampling, concurrency: 1, surprise: true },
        onPair: (pair) => void pairs.push(pair),
        onUncompared: ({ reason }) => assert.fail(reason),
      });
    } finally {
      await executor.close();
    }
    assert.deepEqual(
      pairs.map(({ tool }) => tool),
      ['get_order', 'cancel_order'],
    );
    assert.ok(pairs.every(({ surprise, rehearsed }) => surprise === undefined && rehearsed.value !== null));
  });

  it('says so where more is wanted of it', async () => {
    const policy = gonePolicy({ ...setup().policy, model: 'shop-1/step-40' });
    const said = /The model shop-1\/step-40 is not offered any more/;
    await assert.rejects(policy.render({ messages: [], generationPrompt: true }), said);
    assert.throws(() => policy.sample({} as never), said);
  });
});
