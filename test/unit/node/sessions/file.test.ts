/** Session files: whole after a kill at any byte, never written over where they are damaged. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { createRenderer } from '../../../../src/core/conversation/render';
import { drive, oneToken, toTheEnd } from '../../../../src/core/rehearsal/drivers';
import { chooseAlternative, sampleAgain } from '../../../../src/core/rehearsal/forks';
import { sessionView } from '../../../../src/core/rehearsal/view';
import { NodeError } from '../../../../src/node/errors';
import { readLines } from '../../../../src/node/jsonl';
import {
  createSession,
  loadSession,
  openSession,
  type StoredSession,
  sessionsFolder,
} from '../../../../src/node/sessions/file';
import { listSessions } from '../../../../src/node/sessions/list';
import { isRecord } from '../../../../src/node/sessions/record';
import { memoryPolicy, type Script } from '../../support/memory-policy';
import { temporary } from '../../support/server';
import { call, GOOD, setup } from '../../support/shop';

const on = (script: Script) => {
  const policy = memoryPolicy(script);
  return { policy, render: createRenderer(policy) };
};
const ports = on(GOOD);
const view = ({ session }: Pick<StoredSession, 'session'>) => sessionView(session);

async function finished(folder = temporary('sessions')): Promise<StoredSession> {
  const stored = createSession(folder, setup());
  await drive(stored.session, ports, toTheEnd);
  stored.close();
  return stored;
}

const isSession = (code: string) => (error: unknown) => error instanceof NodeError && error.code === code;

describe('session files', () => {
  it('have every token, branch and place again when they are opened', async () => {
    const stored = createSession(temporary('sessions'), setup());
    await drive(stored.session, ports, toTheEnd);
    const token = stored.session.path().find((node) => node.reply?.kind === 'token')!;
    chooseAlternative(stored.session, token.id, { id: 88, text: 'X', bytes: [88], logprob: -4 });
    stored.session.move(token.id);
    stored.close();
    const again = openSession(stored.path);
    assert.deepEqual(view(again), view(stored));
    assert.equal(again.session.cursor.id, token.id);
    assert.equal(again.id, stored.id);
    assert.equal(again.notice, null);
    again.close();
  });

  it('of before, whose draws are called attempts, have the same draws', async () => {
    const stored = createSession(temporary('sessions'), setup());
    await drive(stored.session, ports, toTheEnd);
    sampleAgain(stored.session, stored.session.cursor.id);
    stored.close();
    const old = stored.path.replace('.jsonl', '-old.jsonl');
    const text = fs.readFileSync(stored.path, 'utf8');
    assert.match(text, /"draw":1/);
    fs.writeFileSync(old, text.replaceAll('"draw":', '"attempt":'));
    assert.equal(loadSession(old).session.state.draw, 1);
    assert.deepEqual(view(loadSession(old)), view(stored));
  });

  it('go on where they were left: stepped, closed and opened again after each token', async () => {
    const short = on({ act: [call('x', {}), 'No.'] });
    const folder = temporary('sessions');
    const whole = createSession(folder, setup());
    await drive(whole.session, short, toTheEnd);
    whole.close();
    let stored = createSession(folder, setup());
    const { path: file } = stored;
    for (let steps = 0; stored.session.state.position.kind !== 'done' && steps < 100; steps++) {
      await drive(stored.session, short, oneToken);
      stored.close();
      stored = openSession(file);
    }
    stored.close();
    assert.equal(JSON.stringify(view(stored).turns), JSON.stringify(view(whole).turns));
    assert.notEqual(view(stored).end, null);
  }).timeout(30_000);

  it('have a record in them as soon as it is made', async () => {
    const stored = createSession(temporary('sessions'), setup());
    await drive(stored.session, ports, oneToken);
    const lines = fs.readFileSync(stored.path, 'utf8').trim().split('\n');
    assert.equal(lines.length, 3);
    assert.equal(
      JSON.parse(lines[2]!).reply.token.id,
      stored.session.cursor.reply?.kind === 'token' && stored.session.cursor.reply.token.id,
    );
    stored.close();
  });

  it('are a valid beginning of themselves after a cut at any byte, and go on from there', async () => {
    // A short one, since each byte of it is tried.
    const short = on({ act: ['No é.'] });
    const stored = createSession(temporary('sessions'), setup());
    await drive(stored.session, short, toTheEnd);
    stored.close();
    const data = fs.readFileSync(stored.path);
    const all = readLines(data, isRecord).rows;
    const header = data.indexOf(10);
    const copy = path.join(temporary('sessions'), 'cut.jsonl');
    for (let length = 0; length <= data.length; length++) {
      const cut = data.subarray(0, length);
      const { rows: records, damage } = readLines(cut, isRecord);
      assert.equal(damage, null, `cut at ${length}`);
      assert.deepEqual(records.at(-1), all[records.length - 1]);
      const whole = cut.filter((byte) => byte === 10).length;
      assert.ok(records.length >= whole, `a whole line is lost at ${length}`);
      // Every cut is read; around the first and the last records it is opened and gone on from, too.
      if (length >= header + 180 && length < data.length - 120) continue;
      if (length < header && length % 50 > 0) continue;
      fs.writeFileSync(copy, cut);
      if (length < header) {
        assert.throws(() => openSession(copy), isSession('session-unreadable'));
        assert.deepEqual(fs.readFileSync(copy), cut);
        continue;
      }
      const opened = openSession(copy);
      assert.equal(opened.path, copy);
      await drive(opened.session, short, toTheEnd);
      opened.close();
      const again = loadSession(copy);
      assert.equal(again.damage, null);
      assert.equal(JSON.stringify(view(again).turns), JSON.stringify(view(stored).turns), `cut at ${length}`);
    }
  }).timeout(60_000);

  it('that are damaged in the middle are left as they are, and go on in a new file', async () => {
    const stored = await finished();
    const lines = fs.readFileSync(stored.path, 'utf8').split('\n');
    const damages: [number, string][] = [
      [5, '{"t": "reply", "id": 5, "par'],
      [5, 'null'],
      [5, JSON.stringify({ t: 'reply', id: 99, parent: 0, reply: { kind: 'observation' } })],
      [5, JSON.stringify({ t: 'reply', id: 5, parent: 4, reply: { kind: 'user', text: 'x' } })],
      [5, JSON.stringify({ t: 'reply', id: 5, parent: 4 })],
      [9, JSON.stringify({ t: 'at', at: 500, tip: 500 })],
    ];
    for (const [line, bad] of damages) {
      const damaged = lines.map((text, index) => (index === line ? bad : text)).join('\n');
      fs.writeFileSync(stored.path, damaged);
      const opened = openSession(stored.path);
      assert.match(opened.notice!, new RegExp(`damaged in line ${line + 1}`));
      assert.notEqual(opened.path, stored.path);
      assert.equal(opened.session.nodes.length, line, 'all that came before is there');
      await drive(opened.session, ports, toTheEnd);
      opened.close();
      assert.equal(fs.readFileSync(stored.path, 'utf8'), damaged, 'not one byte changed');
      assert.equal(openSession(opened.path).notice, null);
    }
  });

  it('of another version, or that are something else, are refused with the reason', () => {
    const file = path.join(temporary('sessions'), 'a.jsonl');
    const texts = [
      '',
      '{}\n',
      'hello\n',
      '[1]\n',
      '{"t":"session","version":2,"setup":{}}\n',
      '{"t":"session","version":1}\n',
      '{"t":"at","at":0,"tip":0}\n',
    ];
    for (const text of texts) {
      fs.writeFileSync(file, text);
      assert.throws(() => openSession(file), isSession('session-unreadable'), text);
      assert.equal(fs.readFileSync(file, 'utf8'), text);
    }
    assert.throws(() => openSession(path.join(file, 'none')), isSession('session-unreadable'));
  });

  it('can be read whatever is in them', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (data) => {
        const { offsets, rows } = readLines(data, isRecord);
        assert.ok(offsets.at(-1)! <= data.length && rows.length <= data.length);
      }),
    );
    const record = fc.record(
      {
        t: fc.constantFrom('reply', 'at', 'session'),
        id: fc.nat(3),
        parent: fc.nat(3),
        at: fc.nat(3),
        tip: fc.nat(3),
        reply: fc.anything(),
      },
      { requiredKeys: ['t'] },
    );
    const stored = createSession(temporary('sessions'), setup());
    stored.close();
    const header = fs.readFileSync(stored.path, 'utf8');
    const file = path.join(path.dirname(stored.path), 'any.jsonl');
    fc.assert(
      fc.property(fc.array(record, { maxLength: 5 }), (records) => {
        const lines = records.map((one) =>
          JSON.stringify(one, (_, value) => (typeof value === 'bigint' ? 0 : value)),
        );
        fs.writeFileSync(file, header + lines.map((line) => `${line}\n`).join(''));
        const { session, fitting, damage } = loadSession(file);
        assert.ok(fitting === records.length + 1 || damage);
        sessionView(session);
      }),
      { numRuns: 60 },
    );
  });

  it('that cannot be written say so', () => {
    const file = path.join(temporary('sessions'), 'file');
    fs.writeFileSync(file, '');
    assert.throws(() => createSession(path.join(file, 'sub'), setup()), isSession('session-unwritable'));
    const stored = createSession(temporary('sessions'), setup());
    stored.close();
    assert.throws(() => stored.session.add({ kind: 'prompt', ids: [1] }), isSession('session-unwritable'));
  });

  it('go on whole after a full disk took a part of a record', async () => {
    const stored = createSession(temporary('sessions'), setup());
    let steps = 0;
    const after = () => ++steps % 5 === 0;
    await drive(stored.session, ports, after);
    const write = fs.writeSync;
    let left = 20;
    // A disk with room for a few bytes more.
    (fs as { writeSync: unknown }).writeSync = (fd: number, data: Uint8Array, at = 0) => {
      if (left === 0) throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
      const size = Math.min(left, data.length - at);
      left -= size;
      return write(fd, data, at, size);
    };
    const before = view(stored);
    try {
      for (const _ of [1, 2]) {
        await assert.rejects(drive(stored.session, ports, after), isSession('session-unwritable'));
        assert.deepEqual(view(stored), before);
        left = 7;
      }
    } finally {
      fs.writeSync = write;
    }
    await drive(stored.session, ports, toTheEnd);
    stored.close();
    const again = openSession(stored.path);
    assert.equal(again.notice, null);
    assert.deepEqual(view(again), view(stored));
    assert.equal(again.session.state.position.kind, 'done');
  });

  it('are written by one program at a time: the other is told', async () => {
    const stored = createSession(temporary('sessions'), setup());
    await drive(stored.session, ports, oneToken);
    const other = openSession(stored.path);
    await drive(other.session, ports, oneToken);
    await assert.rejects(
      drive(stored.session, ports, oneToken),
      /Another program has written to the session/,
    );
    await drive(other.session, ports, toTheEnd);
    for (const one of [stored, other]) one.close();
    const again = openSession(stored.path);
    assert.equal(again.notice, null);
    assert.deepEqual(view(again), view(other));
  });

  it('are not waited for where they are pipes', function () {
    if (process.platform === 'win32') return this.skip();
    const folder = temporary('sessions');
    execFileSync('mkfifo', [path.join(folder, 'pipe.jsonl')]);
    assert.throws(() => loadSession(path.join(folder, 'pipe.jsonl')), /no regular file/);
    assert.deepEqual(listSessions(folder).sessions, []);
  });

  it('have names of their own, whatever tasks are called, and stay out of repositories', () => {
    const workspace = temporary('workspace');
    const folder = sessionsFolder(workspace);
    const made = Array.from({ length: 3 }, () =>
      createSession(folder, setup({ task: { id: '../../../etc/passwd' } })),
    );
    for (const stored of made) {
      stored.close();
      assert.equal(path.dirname(stored.path), folder);
    }
    assert.equal(new Set(made.map((stored) => stored.path)).size, 3);
    assert.equal(fs.readFileSync(path.join(workspace, '.rehearsal/.gitignore'), 'utf8'), '*\n');
  });

  it('whose records lack a part are damaged there, and shown up to there', async () => {
    const { path: file } = await finished();
    const lines = fs.readFileSync(file, 'utf8').trimEnd().split('\n');
    const at = lines.findIndex((line) => line.includes('"kind":"token"'));
    const record = JSON.parse(lines[at]!);
    const { alternatives, ...bare } = record.reply.token;
    const broken = [
      { ...record, reply: { kind: 'token', token: bare } },
      { ...record, reply: { kind: 'token', token: { ...bare, alternatives, bytes: 'no' } } },
      { ...record, reply: { kind: 'token', token: null } },
      { ...record, id: '2' },
      { t: 'at', at: null, tip: {} },
    ];
    for (const one of broken) {
      fs.writeFileSync(file, `${lines.with(at, JSON.stringify(one)).join('\n')}\n`);
      const again = openSession(file);
      assert.match(again.notice!, new RegExp(`damaged in line ${at + 1} \\(it is not a session record\\)`));
      assert.equal(view(again).turns.length, 1);
      again.close();
    }
    const header = JSON.parse(lines[0]!);
    const task = { ...header.setup.task, checks: null };
    for (const one of [
      { ...header, environmentFile: 7 },
      { ...header, setup: { ...header.setup, task } },
    ]) {
      fs.writeFileSync(file, `${lines.with(0, JSON.stringify(one)).join('\n')}\n`);
      assert.throws(() => openSession(file), isSession('session-unreadable'));
    }
  });

  it('whose checks do not come to an end are shown and listed all the same', async () => {
    const folder = temporary('sessions');
    const checks = [{ kind: 'answer' as const, pattern: '^(a+)+$' }];
    for (let n = 0; n < 3; n++) {
      const stored = createSession(folder, setup({ task: { checks } }));
      await drive(stored.session, on({ act: [`${'a'.repeat(60)}!`] }), toTheEnd);
      stored.close();
      if (n > 0) continue;
      const { end, branches } = view(stored);
      assert.deepEqual([end!.reward, branches[0]!.reward], [null, null]);
      assert.match(end!.checks[0]!.reason, /not decided: it took longer than 3 s .* Look at their patterns/);
    }
    assert.deepEqual(
      listSessions(folder).sessions.map(({ done, reward }) => [done, reward]),
      [1, 2, 3].map(() => [true, null]),
    );
  });

  it('are listed with what they hold; broken ones are told, not hidden', async () => {
    const folder = temporary('sessions');
    const stored = await finished(folder);
    createSession(folder, setup({ task: { id: 'open' } })).close();
    fs.writeFileSync(path.join(folder, 'bad.jsonl'), 'x\n');
    const { sessions, broken } = listSessions(folder);
    const tokens = stored.session.nodes.filter((node) => node.reply?.kind === 'token').length;
    const done = sessions.find((session) => session.id === stored.id)!;
    assert.deepEqual(
      {
        environment: done.environment,
        task: done.task,
        tokens: done.tokens,
        reward: done.reward,
        done: done.done,
        branches: done.branches,
      },
      { environment: 'shop', task: 'cancel', tokens, reward: 1, done: true, branches: 1 },
    );
    const open = sessions.find((session) => session.task === 'open')!;
    assert.deepEqual([open.done, open.reward, open.tokens], [false, null, 0]);
    assert.deepEqual(
      broken.map((one) => path.basename(one.path)),
      ['bad.jsonl'],
    );
    assert.deepEqual(listSessions(path.join(folder, 'nowhere')), { sessions: [], broken: [] });
  });
});
