import assert from 'node:assert/strict';
import type { Environment } from '../../../../src/core/environment/types';
import { measureRollouts, type Seen } from '../../../../src/core/training/measure';
import { toEnd } from '../../support/rehearse';
import { call, GOOD, result, setup } from '../../support/shop';

const seen = async (
  act: string[],
  rehearse: string[] = [],
  reward: number | null = 1,
  environment: Partial<Environment> = {},
): Promise<Seen> => {
  const { state } = await toEnd({ act, rehearse }, setup({ environment }));
  return { task: 'cancel', reward, success: reward === 1, state };
};
const look = (order_id: string) => call('get_order', { order_id });

describe('what the rollouts of a step say', () => {
  it('is reward and success over those that could be scored', async () => {
    const figures = measureRollouts([
      await seen(GOOD.act, GOOD.rehearse, 1),
      await seen(['No.'], [], 0.5),
      await seen(['No.'], [], null),
      { task: 'cancel', reward: null, success: false, state: null },
    ]);
    assert.equal(figures.reward, 0.75);
    assert.equal(figures.success, 0.5);
    assert.deepEqual([figures.rollouts, figures.unscored], [4, 2]);
    assert.deepEqual(figures.outputs, { act: 5, rehearse: 2 });
    assert.deepEqual(figures.stops, { answered: 3 });
    assert.equal(
      figures.tokens.rehearse,
      [...GOOD.rehearse].reduce((sum, text) => sum + text.length + 1, 0),
    );
  });

  it('has nothing where there is nothing', () => {
    const figures = measureRollouts([]);
    assert.deepEqual([figures.reward, figures.wellFormed, figures.entropy.act], [null, null, null]);
  });

  it('counts failed gates by code, ours and those that the policy refused by itself', async () => {
    const act = [
      '<tool_call>\nno json\n</tool_call>',
      call('fly', {}),
      call('get_order', { order_id: 1 }),
      'No.',
    ];
    const ours = measureRollouts([await seen(act)]);
    assert.deepEqual(ours.gateFailures, {
      INVALID_TOOL_CALL_FORMAT: 1,
      TOOL_NOT_AVAILABLE: 1,
      INVALID_PARAMETERS: 1,
    });
    assert.equal(ours.calls, 3);
    const refused = result({ error_tool_call: { code: 'TOOL_NOT_AVAILABLE', message: 'no' } });
    const own = measureRollouts([await seen([call('fly', {}), 'No.'], [refused], 0, { gates: 'prompt' })]);
    assert.deepEqual(own.gateFailures, { TOOL_NOT_AVAILABLE: 1 });
  });

  it('has the share of rehearsals that could be read', async () => {
    const figures = measureRollouts([await seen([look('#W1'), look('#W9'), 'No.'], [result({}), 'what?'])]);
    assert.equal(figures.wellFormed, 0.5);
    assert.deepEqual(figures.gateFailures, {}); // an answer that cannot be read is no gate
  });

  it('counts contradictions of records by the rule of reuse', async () => {
    const record = { order_id: '#W2', status: 'delivered' };
    const said = (order_id: string, value: object, reuseExamples = false) =>
      seen([look(order_id), 'No.'], [result(value)], 0, { reuseExamples });
    const counts = async (...rollouts: Promise<Seen>[]) => {
      const { recordedCalls, contradictions } = measureRollouts(await Promise.all(rollouts));
      return [recordedCalls, contradictions];
    };
    assert.deepEqual(
      await counts(said('#W2', { ...record, status: 'pending' }), said('#W2', record)),
      [2, 1],
    );
    assert.deepEqual(await counts(said('#W1', record)), [0, 0]);
    assert.deepEqual(await counts(said('#W2', { status: 'pending' }, true)), [0, 0]); // answered by the record
    // What a record says holds only until something was written.
    const after = seen(
      [call('cancel_order', { order_id: '#W2' }), look('#W2'), 'No.'],
      [result({}), result({ order_id: '#W2', status: 'cancelled' })],
      0,
      { reuseExamples: false },
    );
    assert.deepEqual(await counts(after), [0, 0]);
  });
});
