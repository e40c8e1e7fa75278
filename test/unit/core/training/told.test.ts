import assert from 'node:assert/strict';
import type { Example } from '../../../../src/core/environment/types';
import { measureRollouts } from '../../../../src/core/training/measure';
import { toEnd } from '../../support/rehearse';
import { call, result, SHOP, setup, TASK } from '../../support/shop';

const record = (order_id: string, status: string, customer: string): Example => ({
  tool: 'get_order',
  arguments: { order_id },
  outcome: 'result',
  value: { status, customer },
  afterWrite: false,
  part: 'train',
});
const refused: Example = {
  ...record('W1', '', ''),
  outcome: 'error',
  value: { error: 'Order not found' },
};
/** Statuses repeat, customers do not. */
const examples = [
  ...['pending', 'pending', 'pending', 'delivered', 'delivered', 'delivered'].map((status, i) =>
    record(`#W${i + 1}`, status, `customer ${i}`),
  ),
  refused,
];

async function told(ids: readonly string[], answers: readonly object[], reuseExamples = false) {
  const act = [...ids.map((order_id) => call('get_order', { order_id })), 'Done.'];
  const environment = { ...SHOP, examples, reuseExamples };
  const session = await toEnd({ act, rehearse: answers.map(result) }, setup({ environment }));
  return measureRollouts([{ task: TASK.id, reward: 1, success: true, state: session.state }]).told ?? [];
}

describe('what rehearsals say where there are records', () => {
  it('is counted by field and recorded value, for fields with few values', async () => {
    const rows = await told(
      ['#W1', '#W2', '#W4'],
      [
        { status: 'delivered', customer: 'customer 0' },
        { status: 'pending', customer: 'somebody else' },
        { status: 'delivered', customer: 'customer 3' },
      ],
    );
    const status = rows.filter(({ field }) => field === '$.status');
    assert.deepEqual(status, [
      {
        ...{ tool: 'get_order', field: '$.status', recorded: '"pending"', of: 2, calls: 2, rollout: 0 },
        told: { '"delivered"': 1, '"pending"': 1 },
      },
      {
        ...{ tool: 'get_order', field: '$.status', recorded: '"delivered"', of: 1, calls: 1, rollout: null },
        told: { '"delivered"': 1 },
      },
    ]);
    assert.ok(!rows.some(({ field }) => field === '$.customer'));
  });

  it('has calls that fail in the records and not in rehearsal', async () => {
    const [row] = await told(['W1'], [{ status: 'pending' }]);
    assert.deepEqual(row, {
      ...{ tool: 'get_order', field: 'outcome', recorded: 'error', of: 1, calls: 1, rollout: 0 },
      told: { result: 1 },
    });
  });

  it('is empty where records are reused, and of calls that have none', async () => {
    assert.deepEqual(await told(['#W1'], [], true), []);
    assert.deepEqual(await told(['#W9'], [{ status: 'pending' }]), []);
  });
});
