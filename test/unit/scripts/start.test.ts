/** What `npm start` decides before it installs or opens anything. */
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findPython } from '../../../scripts/lib/python.mjs';
import { chooseEditor } from '../../../scripts/start/editor.mjs';
import { writeLogin, writeSettings } from '../../../scripts/start/profile.mjs';

describe('npm start', () => {
  const code = (name: string) => (name === 'code' ? '/usr/bin/code' : undefined);
  const nothing = () => undefined;

  it('opens desktop VS Code where `code` is on the path', () => {
    assert.deepEqual(chooseEditor({ env: {}, find: code }), { kind: 'desktop', code: '/usr/bin/code' });
  });

  it('installs the package where the terminal belongs to a remote VS Code', () => {
    const env = { VSCODE_IPC_HOOK_CLI: '/run/vscode-ipc.sock' };
    assert.deepEqual(chooseEditor({ env, find: code }), { kind: 'remote', code: '/usr/bin/code' });
  });

  it('opens a browser where there is no `code`, or where it is asked to', () => {
    assert.deepEqual(chooseEditor({ env: {}, find: nothing }), { kind: 'browser' });
    assert.deepEqual(chooseEditor({ browser: true, env: {}, find: code }), { kind: 'browser' });
  });

  describe('without a Python that the engine runs on', () => {
    const before = process.env.REHEARSAL_PYTHON;
    const folder = mkdtempSync(path.join(tmpdir(), 'rehearsal-python-'));
    after(() => {
      if (before === undefined) delete process.env.REHEARSAL_PYTHON;
      else process.env.REHEARSAL_PYTHON = before;
      rmSync(folder, { recursive: true });
    });

    it('says which version it found and what to do', async () => {
      const old = path.join(folder, 'python3.10');
      writeFileSync(old, '#!/bin/sh\necho 3.10.12\n');
      chmodSync(old, 0o755);
      process.env.REHEARSAL_PYTHON = old;
      const found = await findPython();
      assert.ok('problem' in found);
      assert.match(found.problem, /needs Python 3\.11 or newer/);
      assert.match(found.problem, /python3\.10 is 3\.10\.12/);
      assert.match(found.problem, /Install one/);
    });

    it('says so where there is none at all', async () => {
      process.env.REHEARSAL_PYTHON = path.join(folder, 'no-such-python');
      const found = await findPython();
      assert.ok('problem' in found);
      assert.match(found.problem, /no-such-python runs/);
    });
  });
});

describe('the browser workbench of npm start', () => {
  it('is quiet the first time, and keeps what a person has set', () => {
    const dir = mkdtempSync(path.join(tmpdir(), 'rehearsal-profile-'));
    const file = path.join(dir, 'User/settings.json');
    const read = () => JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
    try {
      writeSettings(dir);
      assert.equal(read()['chat.disableAIFeatures'], true);
      writeFileSync(file, '{"workbench.colorTheme": "Red"}');
      writeSettings(dir);
      assert.deepEqual(read(), { 'workbench.colorTheme': 'Red' });
      assert.match(readFileSync(writeLogin(dir), 'utf8'), /password stands in the terminal/);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
});
