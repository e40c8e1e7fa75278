import assert from 'node:assert/strict';
import { World } from '../../../../src/node/tools/world';
import { children, closeExecutors, executorOf } from './support';

const add = (by: number) => ({ tool: 'add', arguments: { by } });

describe('the world of the tools beside a session that goes back and forth', () => {
  let world: World;
  /** Starting a process takes a while on a busy machine: only who waits for a limit sets a low one. */
  const begin = (timeoutSeconds = 120) => {
    const executor = executorOf({ kind: 'module', path: 'odd-module.mjs', timeoutSeconds });
    world = new World(executor, { n: 0 }, executor.isolated);
  };
  beforeEach(() => begin());
  afterEach(async () => {
    await world.close();
    await closeExecutors();
    assert.deepEqual(children(), []);
  });

  it('stands where a call stands, whichever was executed before', async () => {
    const at = async (by: number, before: number[]) =>
      (await world.execute({ call: add(by), before: before.map(add), mayWrite: true })).value;
    assert.deepEqual(await at(1, []), { n: 1 });
    assert.deepEqual(await at(2, [1]), { n: 3 }, 'it goes on');
    assert.deepEqual(await at(2, [1]), { n: 3 }, 'it begins anew, or it would be 5');
    assert.deepEqual(await at(5, [1, 2, 3]), { n: 11 }, 'what was not executed yet is made first');
    assert.deepEqual(await at(1, []), { n: 1 }, 'back at the start');
  });

  it('survives a call that hangs, and begins anew after it', async () => {
    begin(8);
    await world.execute({ call: add(1), before: [], mayWrite: true });
    const hung = await world.execute({
      call: { tool: 'loops', arguments: {} },
      before: [add(1)],
      mayWrite: true,
    });
    assert.equal(hung.failure?.code, 'timeout');
    const next = await world.execute({ call: add(1), before: [add(1)], mayWrite: true });
    assert.deepEqual(next.value, { n: 2 });
  });

  it('says which earlier call could not be made again', async () => {
    const before = [{ tool: 'exits', arguments: {} }];
    const { failure } = await world.execute({ call: add(1), before, mayWrite: true });
    assert.match(failure!.message, /earlier call of exits could not be made again/);
  });

  it('makes no call twice where it is one world for all, and says that it was not put back', async () => {
    const shared = new World(executorOf({ kind: 'module', path: 'odd-module.mjs' }), { n: 0 }, false);
    await shared.execute({ call: add(1), before: [], mayWrite: true });
    const again = await shared.execute({ call: add(1), before: [], mayWrite: true });
    assert.deepEqual(again.value, { n: 2 });
    const later = await shared.execute({ call: add(1), before: [add(9)], mayWrite: true });
    assert.deepEqual(later.value, { n: 3 });
    assert.match(later.notes!.join(), /one world/);
    await shared.close();
  });
});
