/** The command line as a person or CI runs it, on the real server. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import type { StepEvent, TokenEvent } from '../../../src/cli/events';
import { outputText } from '../../../src/core/rehearsal/outputs';
import { openSession } from '../../../src/node/sessions/file';
import { type Ran, startCli } from '../support/cli';
import { sharedServer, temporary } from '../support/server';

const ENVIRONMENT = {
  name: 'lamp',
  policy: 'Switch lamps.',
  tools: [
    {
      name: 'switch',
      description: 'Switches a lamp.',
      inputSchema: { type: 'object', properties: { lamp: { type: 'string' } } },
    },
  ],
  limits: { act: 12, rehearse: 12 },
  tasks: [
    {
      id: 'any',
      instruction: 'Say something.',
      checks: [{ kind: 'forbidden', calls: [{ tool: 'switch' }] }],
    },
    {
      id: 'never',
      instruction: 'Say it.',
      checks: [{ kind: 'answer', contains: 'impossible-for-random-weights' }],
    },
  ],
};

describe('the command line', function () {
  this.timeout(180_000);
  let folder: string;
  let file: string;
  let server: string[];
  let env: NodeJS.ProcessEnv;

  before(async () => {
    const shared = await sharedServer();
    folder = temporary('workspace');
    file = path.join(folder, 'lamp.rehearsal.json');
    fs.writeFileSync(file, JSON.stringify(ENVIRONMENT, null, 2));
    server = ['--server', shared.url, '--token-env', 'LAMP_TOKEN'];
    env = { ...process.env, LAMP_TOKEN: shared.token, NO_COLOR: '1', REHEARSAL_HOME: shared.home };
  });

  async function cli(args: string[], change: NodeJS.ProcessEnv = {}): Promise<Ran> {
    return (await startCli(args, { cwd: folder, env: { ...env, ...change } })).ended;
  }

  it('says how it is used, and that it was used wrongly', async () => {
    assert.equal((await cli(['help'])).code, 0);
    const wrong: [string[], RegExp][] = [
      [[], /^$/],
      [['dance'], /no command dance/],
      [['step'], /one environment file/],
      [['step', file, '--seed', 'x'], /--seed must be a whole number/],
      [['step', file, '--temperature', '9'], /from 0 to 2/],
      [['step', file, '--gesture', 'leap'], /token, output, turn, continue/],
      [['step', file, '--gesture', '__proto__'], /token, output, turn, continue/],
      [['step', file, '--gesture', 'toString'], /token, output, turn, continue/],
      [['step', file, ...server, '--alternatives', '21'], /from 0 to 20/],
      [['run', file, '--server', 'http://me:secret@127.0.0.1:9'], /no user or password/],
      [['serve', 'now'], /takes no now/],
      [['run', file, '--wrong'], /--wrong/],
      [['run', file, '--server', 'nonsense'], /http address/],
      [['run', file, '--token-env', 'NOT_SET_AT_ALL'], /NOT_SET_AT_ALL is not set/],
    ];
    const ran = await Promise.all(wrong.map(([args]) => cli(args)));
    for (const [i, [args, reason]] of wrong.entries()) {
      const { code, err } = ran[i]!;
      assert.equal(code, 2, args.join(' '));
      assert.match(err, reason);
      assert.ok(!err.includes('    at '), 'no stack trace');
      assert.ok(!err.includes('secret'));
    }
  });

  it('checks files: what is wrong, where, and what to do', async () => {
    const good = await cli(['check', file]);
    assert.equal(good.code, 0);
    assert.match(good.out, /lamp, 1 tool, 2 tasks, 0 recorded calls, 0 errors/);
    const bad = path.join(folder, 'bad.rehearsal.json');
    fs.writeFileSync(bad, '{\n  "tools": [{ "name": "a" }, { "name": "a" }],\n  "tasks": [{ "id": "t"');
    const { code, out } = await cli(['check', bad]);
    assert.equal(code, 1);
    assert.match(out, /bad\.rehearsal\.json:2:\d+: warning: .+ \[[a-z-]+\]/);
    const { lines } = await cli(['check', '--json', bad]);
    const [first] = (lines[0] as { diagnostics: { line: number; column: number; code: string }[] })
      .diagnostics;
    assert.ok(first!.line >= 1 && first!.column >= 1 && first!.code);
    const missing = await cli(['check', path.join(folder, 'none.json')]);
    assert.equal(missing.code, 2);
    assert.match(missing.err, /there is no such file/);
    const several = await cli(['check', path.join(folder, 'none.json'), file]);
    assert.equal(several.code, 2);
    assert.match(several.err, /none\.json cannot be read/);
    assert.match(several.out, /lamp, 1 tool/);
  });

  it('steps a task to its end and shows tokens, checks and reward', async () => {
    const { code, out } = await cli(['step', file, ...server, '--seed', '5']);
    assert.equal(code, 0);
    assert.match(
      out,
      /^lamp · any · tiny\ntoken-exact, temperature 1, seed 5\n\nuser\n {2}Say something\.\n\nturn 1 · ACT\n/,
    );
    assert.match(out, /^ +\d+\.\d % {2}".*" .*\d %/m);
    assert.match(out, /\nend: \w+\n {2}[✓✗] .+\n(.*\n)*reward \d\.\d\d\n/);
    assert.match(out, /saved: \.rehearsal\/sessions\/.+\.jsonl/);
    assert.doesNotMatch(out, /[\x00-\x09\x0b-\x1f\x7f-\x9f]/);
  });

  it('steps as JSON: an object a token and an object an event, the same tokens as saved', async () => {
    const { code, lines } = await cli(['step', file, ...server, '--json', '--seed', '5']);
    assert.equal(code, 0);
    const [start, ...events] = lines as unknown as [{ [field: string]: unknown }, ...StepEvent[]];
    assert.equal(start.type, 'session');
    const tokens = events.filter((event): event is TokenEvent => event.type === 'token');
    assert.equal(tokens.length, 12);
    for (const token of tokens) {
      assert.ok(Math.abs(Math.exp(token.logprob!) - token.probability!) < 1e-12);
      assert.equal(token.alternatives.length, 5);
    }
    assert.equal(tokens.at(-1)!.end, 'length');
    assert.equal(events.at(-1)!.type, 'end');
    const stored = openSession(start.path as string);
    stored.close();
    const ids = stored.session.path().flatMap(({ reply }) => (reply?.kind === 'token' ? reply.token.id : []));
    assert.deepEqual(
      tokens.map((token) => token.id),
      ids,
    );
    assert.ok(outputText(stored.session.state.turns[0]!.act).length > 0);
  });

  it('makes one gesture, and goes on with the saved session to the same end', async () => {
    const whole = await cli(['step', file, ...server, '--json', '--seed', '8']);
    let ran = await cli(['step', file, ...server, '--json', '--seed', '8', '--gesture', 'token']);
    const session = ran.lines[0]!.path as string;
    const tokens = ran.lines.filter(({ type }) => type === 'token');
    assert.equal(tokens.length, 1);
    ran = await cli(['step', '--session', session, ...server, '--json', '--gesture', 'token']);
    tokens.push(...ran.lines.filter(({ type }) => type === 'token'));
    ran = await cli(['step', '--session', session, ...server, '--json']);
    tokens.push(...ran.lines.filter(({ type }) => type === 'token'));
    assert.deepEqual(
      tokens.map(({ id }) => id),
      whole.lines.filter(({ type }) => type === 'token').map(({ id }) => id),
    );
    assert.equal(ran.lines.at(-1)!.type, 'end');
  });

  it('says whose model is gone where a saved session cannot go on, and goes on with another that is named', async () => {
    const ran = await cli(['step', file, ...server, '--json', '--seed', '8', '--gesture', 'token']);
    const session = ran.lines[0]!.path as string;
    const text = fs.readFileSync(session, 'utf8');
    fs.writeFileSync(session, text.replaceAll('"model":"tiny"', '"model":"shop-1/step-40"'));
    const gone = await cli(['step', '--session', session, ...server]);
    assert.equal(gone.code, 3);
    assert.match(
      gone.err,
      /made with the model shop-1\/step-40, which the server does not offer\. .*--model\. It offers: .*tiny/,
    );
    const other = await cli(['step', '--session', session, ...server, '--model', 'tiny', '--json']);
    assert.equal(other.lines.at(-1)!.type, 'end');
  });

  it('runs tasks as tests: exit code, JSON lines, a session each', async () => {
    const all = await cli(['run', file, ...server, '--json', '--attempts', '2', '--concurrency', '3']);
    assert.equal(all.code, 1, 'a task failed');
    const summary = all.lines.at(-1)!;
    assert.deepEqual([summary.type, summary.tasks, summary.attempts, summary.unscored], ['summary', 2, 4, 0]);
    const rollouts = all.lines.slice(0, -1);
    assert.equal(new Set(rollouts.map(({ session }) => session)).size, 4);
    assert.equal(
      new Set(rollouts.map(({ seed }) => seed)).size,
      2,
      'an attempt has a seed of its own, shared by the tasks',
    );
    for (const { session, task, reward } of rollouts) {
      assert.ok(fs.existsSync(session as string));
      assert.equal(reward, task === 'any' ? 1 : 0);
    }
    const passing = await cli(['run', file, ...server, '--task', 'any']);
    assert.equal(passing.code, 0);
    assert.match(passing.out, /✓ any, attempt 1: reward 1\.00/);
    assert.match(passing.out, /1 of 1 tasks passed/);
    assert.equal((await cli(['run', file, ...server, '--task', 'nope'])).code, 2);
  });

  it('gives the same results for the same seed, whatever runs beside', async () => {
    const rewards = async (concurrency: string) => {
      const { lines } = await cli([
        'run',
        file,
        ...server,
        '--json',
        '--attempts',
        '3',
        '--concurrency',
        concurrency,
        '--seed',
        '2',
        '--temperature',
        '0',
      ]);
      return lines
        .filter(({ type }) => type === 'rollout')
        .map(({ task, attempt, seed, reward, tokens }) =>
          JSON.stringify([task, attempt, seed, reward, tokens]),
        )
        .sort();
    };
    assert.deepEqual(await rewards('1'), await rewards('6'));
  });

  it('says how a task ended that the context cannot hold, and takes half a character', async () => {
    const long = path.join(folder, 'long.rehearsal.json');
    const task = { ...ENVIRONMENT.tasks[0], instruction: 'many words '.repeat(20_000) };
    const half = { ...ENVIRONMENT.tasks[1], id: 'half', instruction: 'half a character: \ud800' };
    fs.writeFileSync(long, JSON.stringify({ ...ENVIRONMENT, tasks: [task, half] }));
    const elsewhere = ['--sessions', temporary('sessions')];
    const { code, lines } = await cli(['step', long, ...server, ...elsewhere, '--json']);
    assert.equal(code, 0);
    assert.deepEqual([lines.at(-1)!.type, lines.at(-1)!.stop], ['end', 'context_limit']);
    const one = ['--task', 'half', '--gesture', 'token', '--json'];
    const broken = await cli(['step', long, ...server, ...elsewhere, ...one]);
    assert.equal(broken.code, 0);
    assert.equal(broken.lines.at(-1)!.type, 'token');
  });

  it('says that the server is the trouble: exit code 3', async () => {
    const { code, err } = await cli(['run', file, '--server', 'http://127.0.0.1:9']);
    assert.equal(code, 3);
    assert.match(err, /No server answers at http:\/\/127\.0\.0\.1:9\. Start it/);
    const wrong = await cli(['step', file, ...server, '--json'], { LAMP_TOKEN: 'wrong' });
    assert.equal(wrong.code, 3);
    assert.deepEqual([wrong.lines[0]!.type, wrong.lines[0]!.code], ['error', 'server-unauthorized']);
    assert.equal((await cli(['run', file, ...server, '--model', 'nope'])).code, 3);
  });

  it('finds the server that runs, by itself', async () => {
    const status = await cli(['serve', '--status', '--json']);
    assert.equal(status.code, 0);
    assert.deepEqual(status.lines[0]!.models, ['tiny']);
    assert.equal((await cli(['serve', '--status'], { REHEARSAL_HOME: temporary('home') })).code, 1);
  });

  it('lists sessions', async () => {
    const { code, lines } = await cli(['sessions', '--json']);
    assert.equal(code, 0);
    assert.ok(lines.length >= 8);
    assert.ok(lines.every(({ environment, tokens }) => environment === 'lamp' && (tokens as number) > 0));
    assert.match((await cli(['sessions'])).out, /lamp · any · tiny/);
  });
});
