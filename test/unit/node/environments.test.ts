/** Environment files on a real disk, with what may stand there in place of a file. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { readEnvironment } from '../../../src/node/environments';
import type { NodeError } from '../../../src/node/errors';
import { readTraining } from '../../../src/node/training-files';
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

  it('says of each thing that is no text what it is, and what to do', async () => {
    const utf16 = path.join(folder, 'utf16.rehearsal.json');
    const unmarked = path.join(folder, 'unmarked.rehearsal.json');
    const latin = path.join(folder, 'latin.rehearsal.json');
    fs.writeFileSync(utf16, Buffer.from('\ufeff{"tools": []}', 'utf16le'));
    fs.writeFileSync(unmarked, Buffer.from('{"tools": []}', 'utf16le'));
    fs.writeFileSync(latin, Buffer.from('{"name": "Café"}', 'latin1'));
    const told = async (at: string) => {
      const error = await readEnvironment(at).then(
        () => assert.fail(),
        (thrown: NodeError) => thrown,
      );
      return `${error.message} ${error.next}`;
    };
    assert.match(await told(folder), /it is a folder\. Name a file that is in it\./);
    assert.match(await told(path.join(folder, 'large.json')), /larger than 64 MiB\. .*keep less in this one/);
    for (const at of [utf16, unmarked])
      assert.match(await told(at), /it is UTF-16 text, not UTF-8\. Save it as UTF-8/);
    assert.match(await told(latin), /it is not UTF-8 text\. Save it as UTF-8/);
    assert.match(await told(path.join(folder, 'none.json')), /there is no such file\. Check the path/);
    fs.writeFileSync(file, '{"tools": "utf16.rehearsal.json", "tasks": []}');
    const [problem] = (await readEnvironment(file)).diagnostics;
    assert.match(`${problem!.message} ${problem!.next}`, /utf16.* UTF-16 text, not UTF-8\. Save it as UTF-8/);
  });
});

describe('initial states of tasks', () => {
  const outer = temporary('states');
  const folder = path.join(outer, 'environment');
  const file = path.join(folder, 'e.rehearsal.json');
  const executor = { kind: 'module', path: 'tools.mjs' };
  const tools = [{ name: 'get', description: '', inputSchema: { type: 'object' } }];
  const checks = [{ kind: 'forbidden', calls: [{ tool: 'get' }] }];
  const task = (id: string, state: unknown) => ({ id, instruction: `Do ${id}.`, state, checks });
  const states = {
    here: 'db.json',
    outside: '../db.json',
    link: 'link.json',
    gone: 'gone.json',
    broken: 'broken.json',
    value: { orders: [] },
  };
  const tasks = Object.entries(states).map(([id, state]) => task(id, state));

  before(() => {
    fs.mkdirSync(folder);
    for (const at of [outer, folder]) fs.writeFileSync(path.join(at, 'db.json'), '{}');
    fs.symlinkSync('../db.json', path.join(folder, 'link.json'));
    fs.writeFileSync(path.join(folder, 'broken.json'), '{');
  });

  async function told(environment: object) {
    fs.writeFileSync(file, JSON.stringify({ tools, ...environment }, null, 1));
    const loaded = await readEnvironment(file);
    const text = loaded.texts.get('')!;
    return loaded.diagnostics.map(({ severity, message, next, offset, length }) => ({
      severity,
      message,
      next,
      at: text.slice(offset, offset + length),
    }));
  }

  it('are told where they are named when a real execution could not begin in them', async () => {
    const found = await told({ executor, tasks });
    const of = (id: string) => found.filter(({ message }) => message.startsWith(`Task ${id} `));
    assert.deepEqual(found.length, 4, JSON.stringify(found));
    assert.equal(of('outside')[0]!.at, '"../db.json"');
    assert.match(
      of('outside')[0]!.message,
      /cannot begin in its state: .* is not beside the environment file/,
    );
    assert.match(of('outside')[0]!.next!, /Put it beside the environment file/);
    assert.match(of('link')[0]!.message, /leads out of the folder/);
    assert.match(of('gone')[0]!.message, /there is no gone\.json/);
    assert.match(of('gone')[0]!.next!, /Create the file, or correct its name/);
    assert.match(of('broken')[0]!.message, /broken\.json is /);
    assert.ok(found.every(({ severity }) => severity === 'error'));
  });

  it('of the executor are told too; without one it is a warning, for a replay a name is no file', async () => {
    const own = await told({ executor: { ...executor, state: 'gone.json' }, tasks: tasks.slice(0, 1) });
    assert.match(own[0]!.message, /^The executor cannot begin in its state: there is no gone\.json/);
    const [none] = await told({ tasks: [task('gone', 'gone.json')] });
    assert.equal(none!.severity, 'warning');
    const replay = { kind: 'replay', calls: 'calls.jsonl' };
    assert.deepEqual(await told({ executor: replay, tasks: [task('gone', 'gone.json')] }), []);
  });

  it('are told of tasks that a training file has itself', async () => {
    await told({ executor, tasks: tasks.slice(0, 1) });
    const training = path.join(outer, 'own.training.json');
    const train = [task('a', 'db.json'), task('b', '../db.json')];
    fs.writeFileSync(
      training,
      JSON.stringify({ environment: 'environment/e.rehearsal.json', tasks: { train } }),
    );
    const { diagnostics } = await readTraining(training);
    const wrong = diagnostics.filter(({ code }) => code === 'state').map(({ message }) => message);
    assert.deepEqual(wrong, [
      'Task b cannot begin in its state: "../db.json" is not beside the environment file.',
    ]);
  });
});
