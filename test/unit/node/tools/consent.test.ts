import assert from 'node:assert/strict';
import {
  allowGate,
  type ConsentRequest,
  type ConsentStorage,
  ConsentStore,
  type Grant,
  guarded,
} from '../../../../src/node/tools/consent';
import { call, closeExecutors, executorOf } from './support';

const identity = { kind: 'command', what: 'python3 tools.py', folder: '/f', hash: 'h1' };
const read = { name: 'get_order', readOnly: true };
const hinted = { name: 'list', readOnly: true, hinted: true };
const write = { name: 'cancel_order', readOnly: false };
const request = (more: Partial<ConsentRequest> = {}): ConsentRequest => ({
  workspace: '/w',
  identity,
  tools: [read, hinted, write],
  ...more,
});

describe('consent', () => {
  afterEach(closeExecutors);
  let storage: ConsentStorage;
  let store: ConsentStore;

  beforeEach(() => {
    // As VS Code keeps it: what was written is read as JSON.
    let kept = '[]';
    storage = {
      read: async () => JSON.parse(kept) as Grant[],
      write: async (grants) => {
        kept = JSON.stringify(grants);
      },
    };
    store = new ConsentStore(storage, () => '2026-01-01T00:00:00Z');
  });

  it('is asked for the executor, and for tools that may write', async () => {
    assert.deepEqual(await store.missing(request()), { executor: true, tools: ['list', 'cancel_order'] });
    await store.grant(request({ tools: [] }));
    assert.deepEqual(await store.missing(request({ tools: [read] })), { executor: false, tools: [] });
    assert.deepEqual(await store.missing(request()), { executor: false, tools: ['list', 'cancel_order'] });
    await store.grant(request({ tools: [hinted, write] }));
    assert.deepEqual(await store.missing(request()), { executor: false, tools: [] });
  });

  it('takes the word of a server only where the person trusts it', async () => {
    await store.grant(request({ tools: [] }), true);
    assert.deepEqual(await store.missing(request()), { executor: false, tools: ['cancel_order'] });
    // A later consent to one more tool takes none of it back.
    await store.grant(request({ tools: [write] }));
    assert.deepEqual(await store.missing(request()), { executor: false, tools: [] });
  });

  it('is of one workspace and one identity, and survives a restart', async () => {
    await store.grant(request());
    const again = new ConsentStore(storage);
    assert.deepEqual(await again.missing(request()), { executor: false, tools: [] });
    assert.equal((await again.missing(request({ workspace: '/other' }))).executor, true);
    assert.equal((await again.missing(request({ identity: { ...identity, hash: 'h2' } }))).executor, true);
  });

  it('can be taken back: a tool, or the executor with all of its tools', async () => {
    await store.grant(request());
    const tool = (await store.list()).find((grant) => grant.tool === 'cancel_order')!;
    await store.revoke(tool);
    assert.deepEqual(await store.missing(request()), { executor: false, tools: ['cancel_order'] });
    await store.revoke({ ...tool, tool: null });
    assert.deepEqual(await store.list(), []);
  });

  it('stands before every call; what is refused does not run', async () => {
    const executor = executorOf({ kind: 'module', path: 'odd-module.mjs' });
    let asked = 0;
    const gate = guarded(executor, [{ ...write, description: '', parameters: {} }], async ({ tools }) => {
      asked++;
      if (tools[0]!.name === 'writes') throw new Error('You said no.');
    });
    const session = await gate.open();
    assert.equal(asked, 0);
    const refused = await call(session, 'writes');
    assert.deepEqual([refused.failure?.code, refused.value], ['refused', { error: 'You said no.' }]);
    assert.deepEqual((await call(session, 'add')).value, { n: 1 });
    assert.equal(asked, 2);
  });

  it('of the command line is --allow, by name for tools that may write', async () => {
    await assert.rejects(allowGate([])({ identity, tools: [read] }), /python3 tools.py in \/f/);
    await assert.rejects(
      allowGate(['get_order'])({ identity, tools: [read, write] }),
      (error: { next?: string }) => /--allow cancel_order/.test(error.next ?? ''),
    );
    await assert.rejects(allowGate(['get_order'])({ identity, tools: [hinted] }));
    await allowGate(['cancel_order'])({ identity, tools: [read, write] });
  });
});
