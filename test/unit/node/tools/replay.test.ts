import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import path from 'node:path';
import { usableEnvironment } from '../../../../src/node/environments';
import { createExecutor } from '../../../../src/node/tools';
import { call, closeExecutors, executorOf, ROOT, scratch } from './support';

describe('recorded calls as tools', () => {
  afterEach(closeExecutors);

  it('answer as they were recorded; a miss names the nearest', async () => {
    const folder = path.join(ROOT, 'examples/shop');
    const environment = await usableEnvironment(path.join(folder, 'shop.rehearsal.json'));
    const executor = createExecutor({
      environment: { ...environment, executor: { kind: 'replay' } },
      folder,
    });
    const session = await executor.open();
    const hit = await call(session, 'get_order', { order_id: 'W7263910' });
    assert.deepEqual([hit.outcome, hit.value], ['error', { error: 'Order not found' }]);
    const miss = await call(session, 'get_order', { order_id: 'W4284542' });
    assert.equal(miss.failure?.code, 'no-record');
    assert.match(miss.failure!.message, /nearest recorded call is get_order \{"order_id": "#W4284542"\}/);
    assert.match((await call(session, 'nope')).failure!.message, /No call of nope is recorded/);
  });

  it('of one call that was made twice answer in turn', async () => {
    const folder = await scratch({ after: (f) => after(f as () => Promise<void>) });
    const lines = [1, 2].map((n) => JSON.stringify({ tool: 'next', arguments: {}, value: { n } }));
    await fs.writeFile(path.join(folder, 'calls.jsonl'), lines.join('\n'));
    const executor = executorOf({ kind: 'replay', calls: 'calls.jsonl' }, folder);
    const [one, other] = [await executor.open(), await executor.open()];
    assert.deepEqual((await call(one, 'next')).value, { n: 1 });
    assert.deepEqual((await call(one, 'next')).value, { n: 2 });
    assert.deepEqual((await call(other, 'next')).value, { n: 1 });
  });
});

describe('an executor', () => {
  it('that is missing, wrong or elsewhere says so', () => {
    assert.throws(() => executorOf(undefined as never), /names no executor/);
    assert.throws(() => executorOf({ kind: 'magic' }), /no kind "magic"/);
    assert.throws(() => executorOf({ kind: 'command', command: [] }), /"command" must not be empty/);
    assert.throws(() => executorOf({ kind: 'vscode' }), /exist only there/);
  });
});
