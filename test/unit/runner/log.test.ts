import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { Log } from '../../../server/runner/log';
import { temporary } from '../support/server';

describe('the log of the server', () => {
  it('grows to a bound and no further, and keeps the newest', () => {
    const file = path.join(temporary('log'), 'server.log');
    const log = new Log(file);
    for (let line = 0; line < 3000; line++) log.write('engine', `${line} ${'x'.repeat(2000)}`);
    const size = (name: string) => fs.statSync(name).size;
    assert.ok(size(file) < 3 << 20 && size(`${file}.1`) < 3 << 20);
    assert.match(fs.readFileSync(file, 'utf8').trim().split('\n').at(-1)!, / engine: 2999 x/);
    assert.deepEqual(fs.readdirSync(path.dirname(file)).sort(), ['server.log', 'server.log.1']);
  });
});
