/** The packaged extension, installed as a person installs it: everything that it needs is in the `.vsix`. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { makePackage } from '../../scripts/lib/package.mjs';
import { stopServer } from '../../src/node/server/ensure';
import { openEnvironment, pick } from '../harness/page';
import { productEnvironment } from '../harness/product';
import { openWorkbench, ROOT, type Workbench } from '../harness/workbench';
import { SessionPage } from './session';

describe('the packaged extension', () => {
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'rehearsal-vsix-'));
  const environment = productEnvironment(scratch);
  let workbench: Workbench;

  after(async () => {
    await workbench?.stop();
    await stopServer(environment.REHEARSAL_HOME);
    fs.rmSync(scratch, { recursive: true, force: true });
  });

  it('starts its own server and model, and steps', async () => {
    const { file, size } = await makePackage();
    assert.ok(size < 20e6, `${size} bytes`);
    // A copy elsewhere, so that nothing of the repository is in reach.
    const copy = path.join(scratch, path.basename(file));
    fs.copyFileSync(file, copy);
    workbench = await openWorkbench({
      workspace: path.join(ROOT, 'examples'),
      extension: copy,
      env: environment,
    });
    await openEnvironment(workbench.page);
    await workbench.page.keyboard.press('F5');
    await pick(workbench.page, 'product-price');
    const session = await SessionPage.of(workbench.page);
    await session.stopped(/at the start/);
    assert.equal((await session.step('token')).behind, 1);
    const end = await session.step('continue');
    assert.match(end.reason, /^Ended: answered/);
  });
});
