/** Which real tools a run may ask: those that were agreed to, as they were then. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { executorHashOf, realTools } from '../../../server/runner/runs/real-tools';
import type { RunConfig } from '../../../src/core/training/types';
import { temporary } from '../support/server';
import { SHOP } from '../support/shop';
import { newRun } from '../support/training';

describe('the real tools of a run', function () {
  this.timeout(60_000);
  const TOOLS =
    'export const get_order = () => ({ status: "sent" });\nexport const cancel_order = () => ({ ok: true });\n';
  const secret = async () => undefined;
  let folder: string;
  let config: RunConfig;

  beforeEach(async () => {
    folder = temporary('real');
    fs.writeFileSync(path.join(folder, 'tools.mjs'), TOOLS);
    const environment = { ...SHOP, tasks: [], executor: { kind: 'module', path: 'tools.mjs' } };
    const run = newRun({ environment, folder, allowed: ['cancel_order'] });
    config = { ...run, id: 'x-1', created: '', executorHash: await executorHashOf(run) };
  });

  it('run where all that may write were allowed', async () => {
    const { ports, why } = await realTools(config, secret, assert.fail);
    assert.equal(why, null);
    const session = await ports.executor!.open();
    const { value } = await session.execute({ tool: 'get_order', arguments: { order_id: '#W1' } });
    assert.deepEqual(value, { status: 'sent' });
    await session.close();
    await ports.executor!.close();
  });

  it('do not run where one was not allowed, or nothing was', async () => {
    for (const allowed of [[], ['get_order']]) {
      const { ports, why } = await realTools({ ...config, allowed }, secret, assert.fail);
      assert.equal(ports.executor, null);
      assert.match(why!, allowed.length ? /--allow cancel_order/ : /nobody has allowed/);
    }
  });

  it('are not asked any more once they are something else, and that is told once', async () => {
    const told: string[] = [];
    const { ports } = await realTools(config, secret, (message) => told.push(message));
    await (await ports.executor!.open()).close();
    fs.writeFileSync(path.join(folder, 'tools.mjs'), `${TOOLS}// changed\n`);
    for (const _ of [1, 2])
      await assert.rejects(ports.executor!.open(), /have changed since the run was allowed/);
    assert.equal(told.length, 1);
    fs.writeFileSync(path.join(folder, 'tools.mjs'), TOOLS);
    await (await ports.executor!.open()).close();
    await ports.executor!.close();
  });
});
