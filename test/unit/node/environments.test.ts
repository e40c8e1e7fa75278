/** Environment files on a real disk, with what may stand there in place of a file. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { readEnvironment } from '../../../src/node/environments';
import { temporary } from '../support/server';

describe('reading environment files', () => {
  const folder = temporary('environments');
  const file = path.join(folder, 'e.rehearsal.json');
  const messages = async () =>
    (await readEnvironment(file)).diagnostics.map(({ message }) => message).join(' ');

  it('does not wait for a pipe, and does not read a device', async function () {
    if (process.platform === 'win32') return this.skip();
    execFileSync('mkfifo', [path.join(folder, 'pipe.jsonl')]);
    fs.symlinkSync('/dev/zero', path.join(folder, 'zero.json'));
    fs.writeFileSync(file, '{"tools": "zero.json", "tasks": "pipe.jsonl"}');
    assert.match(
      await messages(),
      /zero\.json could not be read: it is no regular file.*pipe\.jsonl could not/,
    );
    await assert.rejects(readEnvironment(path.join(folder, 'pipe.jsonl')), /no regular file/);
  });

  it('does not read a file that is far too large', async () => {
    fs.writeFileSync(path.join(folder, 'large.json'), '');
    fs.truncateSync(path.join(folder, 'large.json'), 1 << 30);
    fs.writeFileSync(file, '{"tools": "large.json", "tasks": []}');
    assert.match(await messages(), /large\.json could not be read: it is larger than 64 MiB/);
  });

  it('says that a folder is one', async () => {
    await assert.rejects(readEnvironment(folder), /it is a folder/);
  });
});
