import assert from 'node:assert/strict';
import { rehearseSystem } from '../../../../src/core/conversation/prompts';
import { findRecorded } from '../../../../src/core/environment/recorded';
import type { Environment, Example } from '../../../../src/core/environment/types';

const example: Example = {
  tool: 'get_order',
  arguments: { order_id: '#W1', full: true },
  outcome: 'result',
  value: { status: 'pending' },
  afterWrite: false,
  part: 'train',
};
const environment = (changes: Partial<Example> = {}) =>
  ({ examples: [{ ...example, ...changes }] }) as Environment;
const call = { name: 'get_order', arguments: { full: true, order_id: '#W1' } };
const read = { tool: 'find', readOnly: true, valid: true };
const write = { tool: 'cancel', readOnly: false, valid: true };

describe('recorded answers', () => {
  it('are found by tool and equal arguments, whatever the order of keys', () => {
    assert.deepEqual(findRecorded(environment(), call, [read])?.value, { status: 'pending' });
    assert.equal(findRecorded(environment(), { ...call, name: 'get' }, []), null);
    assert.equal(findRecorded(environment(), { ...call, arguments: { order_id: '#W1' } }, []), null);
    assert.equal(
      findRecorded(environment(), { ...call, arguments: { order_id: 'W1', full: true } }, []),
      null,
    );
  });

  it('hold only while nothing that may write has gone before', () => {
    assert.equal(findRecorded(environment(), call, [read, write]), null);
    assert.notEqual(
      findRecorded(environment(), call, [{ ...write, valid: false }]),
      null,
      'a gate refused it',
    );
  });

  it('are shown to REHEARSE only from the same initial state', () => {
    const told = { status: 'told elsewhere' };
    const both = { ...environment(), tools: [], policy: '' } as unknown as Environment;
    both.examples.push({ ...example, value: told, state: 'other.json' });
    assert.match(rehearseSystem(both), /Result: \{"status": ?"pending"\}$/);
    assert.match(rehearseSystem(both, 'other.json'), /Result: \{"status": ?"told elsewhere"\}$/);
    assert.match(rehearseSystem(both, 'third.json'), /There are no recorded calls\.$/);
  });

  it('hold only from the same initial state', () => {
    assert.equal(findRecorded(environment(), call, [], 'other.json'), null);
    assert.equal(findRecorded(environment({ state: 'other.json' }), call, []), null);
    assert.notEqual(findRecorded(environment({ state: 'other.json' }), call, [], 'other.json'), null);
  });

  it('leave out records after a write, held-out ones, and those known to be wrong', () => {
    assert.equal(findRecorded(environment({ afterWrite: true }), call, []), null);
    assert.equal(findRecorded(environment({ part: 'held-out' }), call, []), null);
    assert.equal(findRecorded(environment({ verdict: 'real tool wrong' }), call, []), null);
    assert.notEqual(findRecorded(environment({ verdict: 'match' }), call, []), null);
  });

  it('are not taken where two ids beyond 2^53 may read as one number', () => {
    const args = JSON.parse('{"id": 12345678901234567890}');
    assert.equal(findRecorded(environment({ arguments: args }), { ...call, arguments: args }, []), null);
  });
});
