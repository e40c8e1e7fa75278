import assert from 'node:assert/strict';
import { collapseOf, rehearsedAnswers, type ToolAnswer } from '../../../../src/core/training/collapse';
import { collapseText } from '../../../../src/core/training/warnings';
import { toEnd } from '../../support/rehearse';
import { call, result, setup } from '../../support/shop';

/** So many questions, each answered so many times. */
const answers = (statuses: string[], times = 1, more: object = {}): ToolAnswer[] =>
  statuses.flatMap((status, i) =>
    Array.from({ length: times }, () => ({
      tool: 'get_order',
      value: { order_id: `#W${i}`, status, ...more },
      question: `q${i}`,
    })),
  );
const all = (status: string, n: number) => Array.from({ length: n }, () => status);
const records = answers([...all('pending', 28), ...all('delivered', 12)]);

describe('collapse of rehearsed values', () => {
  it('is seen where a field says one thing and the records say others', () => {
    const [found, ...more] = collapseOf(answers(all('delivered', 10), 4), records, []);
    assert.deepEqual(more, []);
    assert.deepEqual(found, {
      tool: 'get_order',
      field: '$.status',
      value: '"delivered"',
      count: 40,
      of: 40,
      reference: { source: 'records', count: 12, of: 40, mostly: '"pending"', mostlyCount: 28 },
    });
    assert.equal(
      collapseText(found!),
      'get_order $.status is "delivered" in 40 of 40 rehearsals; 28 of 40 records say "pending".',
    );
  });

  it('is not seen where the records say the same', () => {
    assert.deepEqual(collapseOf(answers(all('pending', 10), 4), answers(all('pending', 30)), []), []);
  });

  it('is not seen in many answers to few questions: a group asks the same', () => {
    assert.deepEqual(collapseOf(answers(all('delivered', 3), 16), records, []), []);
  });

  it('is not seen in what varies', () => {
    const varied = answers([...all('delivered', 8), ...all('pending', 4)], 4);
    assert.deepEqual(collapseOf(varied, records, []), []);
  });

  it('is measured by the model before training where there are too few records', () => {
    const base = answers([...all('pending', 20), ...all('delivered', 10)]);
    const [found] = collapseOf(answers(all('delivered', 12), 2), records.slice(0, 4), base);
    assert.equal(found?.reference.source, 'base');
    assert.deepEqual(collapseOf(answers(all('delivered', 12), 2), records.slice(0, 4), []), []);
  });

  it('looks into lists and leaves errors out', async () => {
    const act = [call('get_order', { order_id: '#W1' }), call('get_order', { order_id: '#W9' }), 'Done.'];
    const rehearse = [result({ items: [{ price: 1 }, { price: 2 }] }), result({ error: 'no' })];
    const { state } = await toEnd({ act, rehearse }, setup());
    const found = rehearsedAnswers([{ task: 't', reward: 1, success: true, state }]);
    assert.deepEqual(
      found.map(({ value }) => value),
      [{ items: [{ price: 1 }, { price: 2 }] }],
    );
  });
});
