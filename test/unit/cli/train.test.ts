/** `rehearsal train` and `rehearsal runs` as a person or CI uses them, on the real server. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { startCli } from '../support/cli';
import { PYTHON, sharedServer, temporary } from '../support/server';

const ENVIRONMENT = {
  name: 'lamp',
  tools: [{ name: 'switch', description: 'Switches.', inputSchema: { type: 'object', properties: {} } }],
  executor: { kind: 'module', path: 'tools.mjs' },
  limits: { act: 10, rehearse: 10 },
  maxTurns: 2,
  tasks: ['one', 'two', 'three', 'four'].map((id) => ({
    id,
    instruction: `Say ${id}.`,
    checks: [{ kind: 'forbidden', calls: [{ tool: 'switch' }] }],
  })),
};
const TRAINING = {
  environment: 'lamp.rehearsal.json',
  tasks: { train: ['one', 'two'], validation: ['three'], test: ['four'] },
  steps: 2,
  groupSize: 2,
  evaluation: { every: 1, recorded: false },
  checkpoints: { every: 1 },
};

describe('training on the command line', function () {
  this.timeout(300_000);
  let folder: string;
  let file: string;
  let env: NodeJS.ProcessEnv;
  let server: string[];

  before(async () => {
    const { home, url, token } = await sharedServer();
    server = ['--server', url, '--token-env', 'LAMP_TOKEN'];
    folder = temporary('training-cli');
    file = path.join(folder, 'lamp.training.json');
    fs.writeFileSync(path.join(folder, 'lamp.rehearsal.json'), JSON.stringify(ENVIRONMENT, null, 2));
    fs.writeFileSync(
      path.join(folder, 'tools.mjs'),
      'const on = () => ({ on: true });\nexport { on as switch };\n',
    );
    fs.writeFileSync(file, JSON.stringify(TRAINING, null, 2));
    env = {
      ...process.env,
      NO_COLOR: '1',
      REHEARSAL_HOME: home,
      REHEARSAL_PYTHON: PYTHON,
      LAMP_TOKEN: token,
    };
  });

  const start = (args: string[]) => startCli(args, { cwd: folder, env });
  const cli = async (...args: string[]) => (await start(args)).ended;

  it('checks a training file, and refuses one that is wrong at its line', async () => {
    const good = await cli('check', file);
    assert.equal(good.code, 0, good.out);
    assert.match(
      good.out,
      /lamp\.training\.json: lamp, rehearse, 2 steps, tasks: 2 train, 1 validation, 1 test, 0 errors/,
    );
    const wrong = path.join(folder, 'wrong.training.json');
    fs.writeFileSync(wrong, JSON.stringify({ ...TRAINING, steps: 0, tasks: { train: ['five'] } }, null, 2));
    const checked = await cli('check', wrong, '--json');
    assert.equal(checked.code, 1);
    const [{ diagnostics }] = checked.lines as [
      { diagnostics: { code: string; line: number; severity: string }[] },
    ];
    assert.deepEqual(
      diagnostics.filter(({ severity }) => severity === 'error').map(({ code, line }) => [code, line]),
      [
        ['training', 8],
        ['unknown-task', 5],
      ],
    );
    const refused = await cli('train', wrong);
    assert.equal(refused.code, 2, refused.err);
    assert.match(refused.err, /wrong\.training\.json:8:\d+: error: "steps" must be at least 1/);
  });

  it('trains and tells each step, with what is measured and what is not', async () => {
    const { code, out, err } = await cli('train', file);
    assert.equal(code, 0, err);
    assert.match(err, /Success on the real tools is not measured\. .*--allow switch/s);
    assert.match(out, /step +1\/2 {2}reward \d\.\d\d {2}success \d\.\d\d {2}\d+\.\d s/);
    assert.match(out, /step +2 {2}validation: in rehearsal \d\.\d\d \(/);
    assert.match(out, /lamp-1 is done\. Its best checkpoint is /);
    assert.match(
      out,
      /test: success in rehearsal \d\.\d\d at the start, \d\.\d\d at step \d: [+−]\d\.\d\d \(/,
    );
  });

  it('measures success on the real tools where they are allowed', async () => {
    const { code, lines, err } = await cli('train', file, '--allow', 'switch', '--steps', '1', '--json');
    assert.equal(code, 0, err);
    const rows = lines.filter(({ type }) => type === 'metrics') as {
      step: number;
      evaluation: { realSuccess: object };
    }[];
    assert.deepEqual(
      rows.map(({ step }) => step),
      [0, 1],
    );
    for (const { evaluation } of rows) assert.ok(evaluation.realSuccess);
    assert.equal(lines.at(-1)!.state, 'done');
  });

  it('lists, shows and exports what was run', async () => {
    const list = await cli('runs', '--json');
    assert.deepEqual(
      list.lines.map(({ id, state }) => [id, state]),
      [
        ['lamp-1', 'done'],
        ['lamp-2', 'done'],
      ],
    );
    assert.match((await cli('runs')).out, /lamp-1 +done +2\/2 {2}rehearse · lamp/);
    const shown = await cli('runs', 'show', 'lamp-1');
    assert.match(shown.out, /checkpoint 2: lamp-1\/step-2/);
    assert.match(shown.out, /2 tasks × 2 rollouts a step; tasks: 2 train, 1 validation, 1 test/);
    const csv = (await cli('runs', 'metrics', 'lamp-1', '--csv')).out.trim().split('\r\n');
    assert.equal(csv.length, 4);
    assert.match(csv[0]!, /^step,time,reward,success/);
    const jsonl = path.join(folder, 'metrics.jsonl');
    await cli('runs', 'metrics', 'lamp-1', '--out', jsonl);
    assert.equal(JSON.parse(fs.readFileSync(jsonl, 'utf8').split('\n')[1]!)['tokens.act'] > 0, true);
    const board = await cli('runs', 'metrics', 'lamp-1', '--tensorboard', 'tb');
    assert.match(board.out, /tensorboard --logdir tb/);
    const rollouts = (await cli('runs', 'rollouts', 'lamp-1', '--step', '2')).out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual(
      rollouts.map(({ run, step, index }) => [run, step, index]),
      [0, 1, 2, 3].map((i) => ['lamp-1', 2, i]),
    );
    for (const { outputs } of rollouts)
      for (const { ids, logprobs, role } of outputs) {
        assert.equal(ids.length, logprobs.length);
        assert.ok(role === 'act' || role === 'rehearse');
      }
  });

  it('compares two checkpoints on the same tasks', async () => {
    const { code, lines, err } = await cli(
      'runs',
      'compare',
      'lamp-1/0',
      'lamp-1/2',
      '--part',
      'validation',
      '--attempts',
      '2',
      '--json',
    );
    assert.equal(code, 0, err);
    const [{ first, second, difference }] = lines as [
      {
        first: { model: string };
        second: { model: string };
        difference: { on: string; difference: { value: number; low: number; n: number } };
      },
    ];
    assert.deepEqual([first.model, second.model], ['tiny', 'lamp-1/step-2']);
    assert.equal(difference.on, 'rehearsed');
    assert.equal(difference.difference.n, 1);
    assert.equal((await cli('runs', 'compare', 'lamp-1', 'lamp-9')).code, 2);
    assert.match(
      (await cli('runs', 'compare', 'lamp-1/7', 'lamp-1')).err,
      /keeps no checkpoint of step 7; it has those of/,
    );
  });

  it('rehearses with the best checkpoint of a run that is named as the model, and says which', async () => {
    const step = ['step', 'lamp.rehearsal.json', ...server, '--gesture', 'token', '--json', '--model'];
    const { code, lines, err } = await cli(...step, 'lamp-1');
    assert.equal(code, 0, err);
    const [, taken] = /lamp-1 is a training run: its best checkpoint, (\S+), is used\./.exec(err) ?? [];
    assert.match(taken!, /^(tiny|lamp-1\/step-[12])$/);
    assert.equal(lines[0]!.model, taken);
    assert.equal((await cli(...step, 'lamp-1/2')).lines[0]!.model, 'lamp-1/step-2');
    const { err: unknown } = await cli(...step, 'lamp-1/7');
    assert.match(unknown, /lamp-1 keeps no checkpoint of step 7\. It has those of steps 0, 1, 2/);
    assert.match(
      (await cli(...step, 'lamp-9')).err,
      /no model called lamp-9\. It offers: .*tiny.*lamp-1 \(a run/,
    );
  });

  it('stops at Ctrl-C, keeps what was learned, goes on, and is deleted', async function () {
    if (process.platform === 'win32') return this.skip();
    const { child, ended, said } = await start(['train', file, '--steps', '500', '--name', 'long']);
    while (!/step +1\/500/.test(said())) await new Promise((go) => setTimeout(go, 100));
    child.kill('SIGINT');
    const { code, err } = await ended;
    assert.equal(code, 130, err);
    assert.match(err, /Stopping long-1 after what it is doing now; what was learned is kept/);
    assert.equal((await cli('runs', 'show', 'long-1', '--json')).lines[0]!.state, 'stopped');
    assert.match((await cli('runs', 'resume', 'long-1')).out, /long-1 is (queued|starting|running)/);
    assert.equal((await cli('runs', 'delete', 'long-1')).code, 2, 'it runs');
    await cli('runs', 'stop', 'long-1');
    const end = await cli('runs', 'follow', 'long-1');
    assert.match(end.err, /long-1: stopped/);
    assert.equal((await cli('runs', 'delete', 'long-1')).code, 0);
    assert.match((await cli('runs', 'show', 'long-1')).err, /There is no run long-1/);
  });

  it('sweeps over seeds and variants, and does what is done only once', async () => {
    const sweep = ['train', file, '--steps', '1', '--seeds', '1,2', '--variants', 'rehearse,act-only'];
    const first = await cli(...sweep);
    assert.equal(first.code, 0, first.err);
    const ids = ['rehearse-seed-1', 'rehearse-seed-2', 'act-only-seed-1', 'act-only-seed-2'].map(
      (name) => `lamp-${name}-1`,
    );
    for (const id of ids) assert.match(first.out, new RegExp(`${id} is done`));
    const again = await cli(...sweep);
    assert.equal(again.code, 0, again.err);
    for (const id of ids) assert.match(again.err, new RegExp(`${id} is done already`));
    assert.equal(
      (await cli('runs', '--json')).lines.filter(({ id }) => ids.includes(id as string)).length,
      4,
    );
  });

  it('asks a judge where a check wants one', async () => {
    const judged = {
      ...ENVIRONMENT.tasks[0]!,
      checks: [{ kind: 'judge', question: 'Good?', passCondition: 'It is.' }],
    };
    const other = path.join(folder, 'judged.rehearsal.json');
    fs.writeFileSync(other, JSON.stringify({ ...ENVIRONMENT, tasks: [judged] }));
    const keys: (string | undefined)[] = [];
    const judge = http.createServer((request, response) => {
      keys.push(request.headers.authorization);
      const content = '{"reason": "So it is.", "pass": true}';
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content } }] }));
    });
    await new Promise<void>((go) => judge.listen(0, '127.0.0.1', go));
    try {
      const url = `http://127.0.0.1:${(judge.address() as AddressInfo).port}/v1`;
      env.JUDGE_KEY = 'k';
      const asked = await cli(
        'run',
        other,
        ...server,
        '--judge',
        url,
        '--judge-model',
        'big',
        '--judge-env',
        'JUDGE_KEY',
        '--json',
      );
      assert.equal(asked.code, 0, asked.err);
      assert.deepEqual(keys, ['Bearer k']);
      const without = await cli('run', other, ...server, '--json');
      assert.deepEqual(
        without.lines.map(({ type, reward, unscored }) => [type, reward ?? unscored]),
        [
          ['rollout', undefined],
          ['summary', 1],
        ].map(([type, value]) => [type, value]),
      );
      assert.equal((await cli('run', other, '--judge', url)).code, 2);
      const file = path.join(folder, 'judged.training.json');
      fs.writeFileSync(
        file,
        JSON.stringify({
          ...TRAINING,
          environment: 'judged.rehearsal.json',
          tasks: { train: ['one'] },
          steps: 1,
          judge: { url, model: 'big', keyVariable: 'JUDGE_KEY' },
        }),
      );
      const trained = await cli('train', file, '--json');
      assert.equal(trained.code, 0, trained.err);
      const [row] = trained.lines.filter(({ type, step }) => type === 'metrics' && step === 1);
      assert.deepEqual([row!.reward, row!.unscored], [1, 0]);
    } finally {
      judge.closeAllConnections();
      judge.close();
    }
  });

  it('says what is wrong with its use', async () => {
    const cases: [string[], RegExp][] = [
      [['train'], /Name one/],
      [['train', file, '--variant', 'dream'], /no variant dream; there are rehearse/],
      [['train', file, '--seeds', '1,1'], /list such as 1,2,3, each once/],
      [['train', file, '--seeds', '1', '--seed', '2'], /--seed or --seeds/],
      [['train', file, '--steps', '0'], /--steps must be a whole number from 1/],
      [['train', file, '--allow', 'other'], /--allow switch/],
      [['runs', 'dance'], /no `rehearsal runs dance`/],
      [['runs', 'show'], /Name one run/],
      [['runs', 'show', '../x'], /There is no run/],
      [['runs', 'export', 'lamp-1'], /--folder/],
      [['train', path.join(folder, 'none.training.json')], /cannot be read: there is no such file/],
    ];
    for (const [args, message] of cases) {
      const { code, err } = await cli(...args);
      assert.equal(code, 2, `${args.join(' ')}: ${err}`);
      assert.match(err, message);
    }
  });
});
