/** Stepping by keys, in a terminal of its own (Python's `pty`). */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { branches } from '../../../src/core/rehearsal/forks';
import { loadSession } from '../../../src/node/sessions/file';
import { PYTHON, productFolder, sharedServer, temporary } from '../support/server';

const ENVIRONMENT = {
  name: 'lamp',
  tools: [{ name: 'switch', inputSchema: { type: 'object' } }],
  limits: { act: 10, rehearse: 10 },
  tasks: [{ id: 'any', instruction: 'Say something.', checks: [{ kind: 'maxCalls', max: 5 }] }],
};

describe('stepping by keys', function () {
  this.timeout(120_000);
  let child: ChildProcess;
  let shown = '';

  before(function () {
    if (process.platform === 'win32') this.skip();
  });
  after(() => child?.kill());

  /** Waits for what the person would see. */
  async function seen(what: RegExp, from = 0): Promise<number> {
    for (let tries = 0; tries < 600; tries++) {
      const found = what.exec(shown.slice(from));
      if (found) return from + found.index + found[0].length;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.fail(`${what} is not in: ${shown.slice(from)}`);
  }

  it('makes a token, goes back, takes another, continues and quits; everything is saved', async () => {
    const server = await sharedServer();
    const folder = temporary('workspace');
    const file = path.join(folder, 'lamp.rehearsal.json');
    fs.writeFileSync(file, JSON.stringify(ENVIRONMENT));
    const cli = path.join(await productFolder(), 'dist/cli.js');
    const args = [
      process.execPath,
      cli,
      'step',
      file,
      '--server',
      server.url,
      '--token-env',
      'LAMP',
      '--seed',
      '3',
    ];
    const script = 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)';
    const env = { ...process.env, LAMP: server.token, NO_COLOR: '1', TERM: 'xterm' };
    child = spawn(PYTHON, ['-c', script, ...args], { cwd: folder, env });
    child.stdout!.on('data', (part) => (shown += part));
    const press = (key: string) => child.stdin!.write(key);

    let at = await seen(/q quit/);
    press('\r');
    at = await seen(/turn 1 · ACT\r\n.*%.*1:".*2:"/, at);
    press('n');
    at = await seen(/\n +\d+\.\d %/, at);
    press('2');
    at = await seen(/instead: ".*"; the other branch is kept[\s\S]*chosen/, at);
    press('b');
    at = await seen(/back: after ".*"/, at);
    press('n');
    at = await seen(/chosen/, at);
    press('c');
    at = await seen(/end: \w+[\s\S]*reward \d\.\d\d/, at);
    press('q');
    await seen(/saved: .*\.jsonl/, at);
    const [name] = fs.readdirSync(path.join(folder, '.rehearsal/sessions'));
    const { session, damage } = loadSession(path.join(folder, '.rehearsal/sessions', name!));
    assert.equal(damage, null);
    assert.deepEqual(
      branches(session).map(({ done, shown: current }) => [done, current]),
      [
        [false, false],
        [true, true],
      ],
    );
  });
});
