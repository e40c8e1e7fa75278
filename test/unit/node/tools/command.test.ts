import assert from 'node:assert/strict';
import { alive, call, children, closeExecutors, executorOf, until } from './support';

const odd = (more: object = {}) =>
  executorOf({
    kind: 'command',
    command: [process.execPath, 'odd-command.mjs'],
    timeoutSeconds: 20,
    ...more,
  });

describe('tools as a program', () => {
  afterEach(closeExecutors);

  it('have a process for each session, which begins in its state', async () => {
    const executor = odd({ state: { n: 1 } });
    const [one, other] = [await executor.open(), await executor.open({ n: 10 })];
    assert.deepEqual((await call(one, 'add')).value, { n: 2 });
    assert.deepEqual((await call(one, 'add')).value, { n: 3 });
    assert.deepEqual((await call(other, 'add')).value, { n: 11 });
    assert.deepEqual(await one.state(), { n: 3 });
    const failed = await call(one, 'fails');
    assert.deepEqual([failed.outcome, failed.value], ['error', { error: 'Order not found' }]);
  });

  it('may have a process for each call', async () => {
    const session = await odd({ per: 'call' }).open();
    assert.deepEqual((await call(session, 'add')).value, { n: 1 });
    assert.deepEqual((await call(session, 'add')).value, { n: 1 });
  });

  it('survive a program that exits; what is lost is said', async () => {
    const session = await odd().open();
    await call(session, 'add');
    const exited = await call(session, 'exits');
    assert.equal(exited.failure?.code, 'crashed');
    assert.match(exited.failure!.message, /exit code 3.*out of luck/);
    const next = await call(session, 'add');
    assert.deepEqual(next.value, { n: 1 });
    assert.match(next.notes!.join(), /1 earlier calls .* lost/);
  });

  it('survive a program that hangs, and leave no process behind', async () => {
    const session = await odd({ timeoutSeconds: 2 }).open();
    const { value: child } = await call(session, 'child');
    assert.ok(alive((child as { pid: number }).pid));
    assert.equal((await call(session, 'hangs')).failure?.code, 'timeout');
    await until(() => !alive((child as { pid: number }).pid));
    assert.deepEqual((await call(session, 'add')).value, { n: 1 });
    await session.close();
    await until(() => !children().some((line) => line.includes('odd-command')));
  });

  it('may print before the answer; the output is kept', async () => {
    const session = await odd().open();
    const { value, notes, raw } = await call(session, 'noise');
    assert.deepEqual(value, { ok: true });
    assert.match(notes!.join(), /Loading model/);
    assert.match(raw!, /"ok":true/);
    assert.equal((await call(session, 'add')).notes, undefined);
  });

  it('that answer NaN, no JSON or no UTF-8 fail at that call', async () => {
    const session = await odd().open();
    for (const tool of ['nan', 'not_json']) {
      const { failure, raw } = await call(session, tool);
      assert.equal(failure?.code, 'not-json', tool);
      assert.match(raw!, /NaN|oops/);
    }
    assert.equal((await call(session, 'invalid')).failure?.code, 'not-utf8');
    assert.deepEqual((await call(session, 'add')).value, { n: 1 });
    assert.equal((await call(session, 'last_line')).value, 'no line end');
  });

  it('answer 10 MB, HTML and control characters as they are; an answer without end is refused', async () => {
    const session = await odd({ timeoutSeconds: 60 }).open();
    assert.equal((await call(session, 'large')).value?.toString().length, 10 * 2 ** 20);
    assert.equal((await call(session, 'html')).value, '<b>hi</b>');
    assert.equal((await call(session, 'ansi')).value, '\u001b[31mred');
    assert.equal((await call(session, 'endless')).failure?.code, 'too-large');
    assert.deepEqual((await call(session, 'add')).value, { n: 1 });
  }).timeout(60_000);

  it('that do not start say so', async () => {
    const session = await executorOf({ kind: 'command', command: ['no-such-program-here'] }).open();
    const { failure } = await call(session, 'add');
    assert.equal(failure?.code, 'no-start');
    assert.match(failure!.message, /no-such-program-here/);
  });

  it('get no environment variables but the usual ones and those named', async () => {
    process.env.REHEARSAL_TEST_SECRET = 'x';
    process.env.REHEARSAL_TEST_NAMED = 'y';
    try {
      const names = (await call(await odd({ env: ['REHEARSAL_TEST_NAMED'] }).open(), 'environment'))
        .value as string[];
      assert.ok(names.includes('PATH') && names.includes('REHEARSAL_TEST_NAMED'));
      assert.ok(!names.includes('REHEARSAL_TEST_SECRET'));
    } finally {
      delete process.env.REHEARSAL_TEST_SECRET;
      delete process.env.REHEARSAL_TEST_NAMED;
    }
  });

  it('that are cancelled are ended', async () => {
    const session = await odd().open();
    const abort = new AbortController();
    const running = session.execute({ tool: 'hangs', arguments: {} }, abort.signal);
    setTimeout(() => abort.abort(), 100);
    assert.equal((await running).failure?.code, 'cancelled');
  });
});
