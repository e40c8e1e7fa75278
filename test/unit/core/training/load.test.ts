import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Environment } from '../../../../src/core/environment/types';
import { DEFAULT_SETTINGS } from '../../../../src/core/training/defaults';
import { loadTraining } from '../../../../src/core/training/load';
import { TrainingSchema } from '../../../../src/core/training/schema';
import { SHOP, TASK } from '../../support/shop';

const tasks = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => ({ ...TASK, id, instruction: `Do ${id}.` }));
const ENVIRONMENT: Environment = {
  ...SHOP,
  tasks,
  executor: { kind: 'module', path: 'tools.mjs', sandbox: true },
};
const BASE = {
  environment: 'shop.rehearsal.json',
  tasks: { train: ['a', 'b', 'c', 'd'], validation: ['e'], test: ['f'] },
};

async function load(
  content: object | string,
  { files = {}, environment = ENVIRONMENT, errors = [] as string[], override = {} } = {} as {
    files?: Record<string, string>;
    environment?: Environment | null;
    errors?: string[];
    override?: object;
  },
) {
  const text = typeof content === 'string' ? content : JSON.stringify(content, null, 2);
  const loaded = await loadTraining(text, {
    path: '/shop/short.training.json',
    override,
    read: async (name) => {
      if (Object.hasOwn(files, name)) return files[name]!;
      throw Object.assign(new Error(`ENOENT, open '/shop/${name}'`), { code: 'ENOENT' });
    },
    loadEnvironment: async (name) => {
      if (name === 'shop.rehearsal.json')
        return { environment, errors, file: `/shop/${name}`, folder: '/shop' };
      throw Object.assign(new Error('ENOENT'), { code: 'ENOENT' });
    },
  });
  const told = loaded.diagnostics.map((d) => ({
    ...d,
    marked: (d.file ? files[d.file]! : text).slice(d.offset, d.offset + d.length),
  }));
  return { ...loaded, told, errors: told.filter(({ severity }) => severity === 'error') };
}

/** The one error of a file that differs from a good one: its code, what it underlines, what it says. */
async function wrong(change: object, options: Parameters<typeof load>[1] = {}) {
  const { config, errors } = await load({ ...BASE, ...change }, options);
  assert.equal(config, null, 'a file with an error gives no run');
  assert.equal(errors.length, 1, JSON.stringify(errors));
  const { code, marked, message, next } = errors[0]!;
  return { code, marked, message, next };
}

describe('loading a training file', function () {
  this.timeout(60_000);
  it('fills in defaults', async () => {
    const { config, told } = await load(BASE);
    assert.deepEqual(
      told.map(({ code }) => code),
      ['few-validation'],
    );
    assert.deepEqual(config!.settings, DEFAULT_SETTINGS);
    assert.equal(config!.name, 'short');
    assert.deepEqual(
      config!.parts.train.map(({ id }) => id),
      ['a', 'b', 'c', 'd'],
    );
    assert.deepEqual(
      config!.parts.validation.map(({ id }) => id),
      ['e'],
    );
    assert.deepEqual(config!.environment, { ...ENVIRONMENT, tasks: [] });
    assert.deepEqual([config!.folder, config!.environmentFile], ['/shop', '/shop/shop.rehearsal.json']);
    assert.deepEqual(
      [config!.allowed, config!.parent, config!.trainingFile],
      [[], null, '/shop/short.training.json'],
    );
  });

  it('has the defaults that its schema shows', () => {
    const shown = (
      properties: Record<string, { default?: unknown; properties?: object }>,
      to: object,
    ): void => {
      for (const [name, { default: value, properties: inner }] of Object.entries(properties)) {
        const own = (to as Record<string, unknown>)[name];
        if (inner && own) shown(inner as never, own as object);
        else if (value !== undefined) assert.deepEqual(own, value, name);
      }
    };
    // As in the environment, and so of no setting of a run.
    const { rehearsal: _, ...properties } = TrainingSchema.properties;
    shown(properties as never, DEFAULT_SETTINGS);
  });

  it('has the preset of the paper, and what the file says goes before it', async () => {
    const { config } = await load({ ...BASE, preset: 'paper', tasksPerStep: 2, rehearsal: { maxTurns: 4 } });
    const { settings, environment } = config!;
    assert.deepEqual(
      [settings.groupSize, settings.tasksPerStep, settings.learningRate, settings.advantage],
      [4, 2, 1e-6, { normalizeByStd: false, singleton: 'reward' }],
    );
    assert.deepEqual(
      [environment.gates, environment.reuseExamples, environment.onGateFailed, environment.maxTurns],
      ['prompt', false, 'stop', 4],
    );
    assert.deepEqual([settings.kl, settings.replayShare], [{ act: 0, rehearse: 0 }, 0]);
  });

  it('takes tasks in place and from files, and further records', async () => {
    const line = (id: string) => JSON.stringify({ ...TASK, user: undefined, id, instruction: `New ${id}.` });
    const { config, told } = await load(
      {
        ...BASE,
        tasks: { train: 'train.jsonl', validation: ['a', JSON.parse(line('own'))] },
        examples: 'calls.jsonl',
      },
      {
        files: {
          'train.jsonl': `${line('x')}\n"b"\n\n${line('y')}\n`,
          'calls.jsonl': JSON.stringify({
            tool: 'get_order',
            arguments: { order_id: '#W3' },
            value: { status: 'sent' },
          }),
        },
      },
    );
    assert.deepEqual(
      told.filter(({ severity }) => severity !== 'information'),
      [],
    );
    assert.deepEqual(
      config!.parts.train.map(({ id }) => id),
      ['x', 'b', 'y'],
    );
    assert.deepEqual(
      config!.parts.validation.map(({ id }) => id),
      ['a', 'own'],
    );
    assert.deepEqual(
      config!.environment.examples.map((example) => example.arguments),
      [{ order_id: '#W2' }, { order_id: '#W3' }],
    );
    assert.equal(config!.settings.tasksPerStep, 3, 'no more tasks a step than there are');
  });

  it('takes options of a launch instead of what the file says', async () => {
    const { config } = await load(
      { ...BASE, seed: 4 },
      { override: { seed: 2, steps: 7, variant: 'act-only' } },
    );
    const { seed, steps, variant } = config!.settings;
    assert.deepEqual([seed, steps, variant], [2, 7, 'act-only']);
    assert.equal((await load(BASE, { override: { variant: 'real' }, environment: SHOP })).config, null);
  });

  it('tells a wrong value at its place', async () => {
    const cases: [object, string, RegExp][] = [
      [{ steps: 'many' }, '"many"', /^"steps" must be an integer, is a string\.$/],
      [{ steps: '3' }, '"3"', /^"steps" must be an integer, is a string: write it without quotes\.$/],
      [{ groupSize: 1 }, '1', /^"groupSize" must be at least 2\.$/],
      [{ rank: 5000, weights: 'lora' }, '5000', /^"rank" must be at most 1024/],
      [{ groupSize: 1e9 }, '1000000000', /^"groupSize" must be at most 1024/],
      [{ concurrency: 1e15 }, '1000000000000000', /^"concurrency" must be at most 1024/],
      [{ steps: 1e300 }, '1e+300', /^"steps" must be at most 1000000/],
      [{ evaluation: { attempts: 1e9 } }, '1000000000', /^"evaluation\.attempts" must be at most 1024/],
      [{ learningRate: -1 }, '-1', /^"learningRate" must be more than 0/],
      [{ variant: 'dream' }, '"dream"', /^"variant" must be one of "rehearse", "/],
      [{ loss: { clip: 3 } }, '3', /^"loss\.clip" must be at most 1/],
      [{ stpes: 3 }, '"stpes"', /has no field "stpes"/],
      [{ loss: { clipp: 0.1 } }, '"clipp"', /^"loss" has no field "clipp"/],
      [{ start: 'shop' }, '"shop"', /names no checkpoint/],
      [{ tasksPerStep: 5 }, '5', /takes 5 tasks, and there are 4/],
      [{ learner: { kind: 'skyrl' } }, '{\n    "kind": "skyrl"\n  }', /has no address/],
      [{ weights: 'full', sampler: { kind: 'vllm', url: 'http://h:1' } }, '"vllm"', /takes adapters only/],
      [{ judge: { url: 'ftp://x', model: 'm' } }, '"ftp://x"', /no http address/],
      [{ judge: { url: 'https://u:p@x/v1', model: 'm' } }, '"https://u:p@x/v1"', /no http address/],
      [
        { judge: { url: 'https://x/v1', model: 'm', keyVariable: 'sk-123' } },
        '"sk-123"',
        /no name of an environment variable/,
      ],
      [{ replayShare: 0.1 }, '0.1', /no recorded calls to replay/],
      [{ environment: 'other.json' }, '"other.json"', /other\.json could not be read: there is no such file/],
      [{ environment: '/etc/passwd' }, '"/etc/passwd"', /not a name relative/],
      [{ examples: 3 }, '3', /^Examples are an array/],
    ];
    for (const [change, underlined, message] of cases) {
      const environment = 'replayShare' in change ? { ...ENVIRONMENT, examples: [] } : ENVIRONMENT;
      const found = await wrong(change, { environment });
      assert.equal(found.marked, underlined, JSON.stringify(change));
      assert.match(found.message, message);
      assert.ok(found.next, found.message);
    }
    assert.equal((await wrong({ stpes: 3 })).next, 'Did you mean "steps"?');
  });

  it('tells wrong tasks at their place', async () => {
    const tasked = (tasks: unknown) => wrong({ tasks });
    assert.deepEqual(await tasked({ train: ['a', 'zz'] }), {
      code: 'unknown-task',
      marked: '"zz"',
      message: 'The environment has no task "zz".',
      next: 'Its tasks are: a, b, c, d, e, f.',
    });
    const shared = await tasked({ train: ['a', 'b'], test: ['c', 'a'] });
    assert.deepEqual([shared.code, shared.marked], ['shared-task', '"a"']);
    assert.match(shared.message, /"a" is in "train" already/);
    assert.match((await tasked({ train: 'a' })).next!, /Write \["a"\]/);
    assert.match((await tasked({ train: [] })).message, /no tasks to train on/);
    assert.match((await tasked({})).message, /no tasks to train on/);
    assert.match((await tasked({ train: ['a'], valid: [] })).message, /no field "valid"/);
    assert.match((await tasked(['a'])).message, /object with the parts/);
    const { config, errors } = await load(
      { ...BASE, tasks: { train: 'train.jsonl' } },
      {
        files: {
          'train.jsonl': '{"id": "q", "instruction": "Go.", "checks": [{"kind": "calls", "expected": 3}]}\n',
        },
      },
    );
    assert.equal(config, null);
    assert.deepEqual(
      errors.map(({ file, marked }) => [file, marked]),
      [['train.jsonl', '3']],
    );
  });

  it('refuses to train on what rehearsal cannot decide, and only then', async () => {
    const state = {
      ...TASK,
      id: 'state',
      checks: [
        { kind: 'state' as const, equals: {} },
        { kind: 'answer' as const, weight: 0 },
      ],
    };
    const environment = { ...ENVIRONMENT, tasks: [...tasks, state] };
    const change = { tasks: { train: ['a', 'b', 'c', 'state'], validation: ['e'] } };
    const { code, marked, message } = await wrong(change, { environment });
    assert.deepEqual([code, marked], ['real-checks', '"state"']);
    assert.match(message, /only a real execution can decide/);
    assert.ok((await load({ ...BASE, ...change, variant: 'real' }, { environment })).config);
    const validated = { ...BASE, tasks: { ...BASE.tasks, validation: ['state'] } };
    assert.ok((await load(validated, { environment })).config, 'validation runs on the real tools');
  });

  it('trains on real tools in a sandbox only', async () => {
    const real = { variant: 'real' };
    const without = { ...ENVIRONMENT, executor: undefined };
    assert.equal((await wrong(real, { environment: without })).code, 'no-executor');
    const open = { ...ENVIRONMENT, executor: { kind: 'module', path: 'tools.mjs' } };
    const refused = await wrong(real, { environment: open });
    assert.deepEqual([refused.code, refused.marked], ['no-sandbox', '"real"']);
    assert.equal(
      (await wrong(real, { environment: { ...ENVIRONMENT, executor: { kind: 'vscode' } } })).code,
      'no-executor',
    );
    assert.ok((await load({ ...BASE, ...real })).config);
  });

  it('warns of what can be pleased, of leaks and of settings that do nothing', async () => {
    const pleasing = tasks.map((task) => ({
      ...task,
      checks: [{ kind: 'fromResult' as const, tool: 'get_order', path: '$.status' }],
    }));
    const codes = async (content: object, environment: Environment = ENVIRONMENT) => {
      const { config, told } = await load({ ...BASE, ...content }, { environment });
      assert.ok(config);
      return told.filter(({ severity }) => severity === 'warning').map(({ code, marked }) => [code, marked]);
    };
    const train = JSON.stringify(BASE.tasks.train, null, 2).replaceAll('\n', '\n    ');
    assert.deepEqual(await codes({}, { ...ENVIRONMENT, tasks: pleasing }), [['can-be-pleased', train]]);
    assert.deepEqual(await codes({ variant: 'real' }, { ...ENVIRONMENT, tasks: pleasing }), []);
    const twin = { ...tasks[4]!, instruction: tasks[0]!.instruction };
    assert.deepEqual(await codes({}, { ...ENVIRONMENT, tasks: [...tasks.slice(0, 4), twin, tasks[5]!] }), [
      ['same-task', '"e"'],
    ]);
    assert.deepEqual(await codes({ tasks: { train: BASE.tasks.train } }), [['no-validation', '"tasks"']]);
    assert.deepEqual(await codes({ variant: 'act-only', kl: { rehearse: 0.1 }, rank: 8 }), [
      ['no-effect', '0.1'],
      ['no-effect', '8'],
    ]);
    assert.deepEqual(await codes({ learningRate: 0.5 }), [['learning-rate', '0.5']]);
  });

  it('tells that the environment has errors', async () => {
    const { code, marked, message } = await wrong({}, { errors: ['Task x was left out.', 'And y.'] });
    assert.deepEqual([code, marked], ['environment', '"shop.rehearsal.json"']);
    assert.match(message, /Task x was left out\. And 1 more\./);
  });

  it('needs a judge for checks that one decides', async () => {
    const judged = {
      ...tasks[0]!,
      checks: [{ kind: 'judge', question: 'Polite?', passCondition: 'It is.' }],
    };
    const environment = { ...ENVIRONMENT, tasks: [judged, ...tasks.slice(1)] } as Environment;
    assert.equal((await wrong({}, { environment })).code, 'no-judge');
    const judge = { url: 'http://127.0.0.1:9/v1', model: 'big' };
    const { config } = await load({ ...BASE, judge }, { environment });
    assert.deepEqual(config!.settings.judge, { ...judge, timeoutSeconds: 60 });
  });

  it('never throws, and gives no run of broken text, whatever the text', async () => {
    for (const text of [
      '',
      ' ',
      '[]',
      '3',
      'null',
      '{',
      '{"tasks": {"train": ["a"',
      JSON.stringify(BASE).slice(0, -1),
    ])
      assert.equal((await load(text)).config, null, text);
    const good = JSON.stringify(BASE);
    await fc.assert(
      fc.asyncProperty(fc.nat(good.length), fc.string({ maxLength: 8 }), fc.nat(8), async (at, put, drop) => {
        const { diagnostics, config } = await load(good.slice(0, at) + put + good.slice(at + drop));
        if (!config) assert.ok(diagnostics.some(({ severity }) => severity === 'error'));
      }),
      { numRuns: 300 },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...Object.keys(BASE), 'steps', 'judge', 'examples', 'kl'),
        fc.jsonValue(),
        async (field, value) => {
          const { diagnostics, config } = await load({ ...BASE, [field]: value });
          if (!config) assert.ok(diagnostics.some(({ severity }) => severity === 'error'));
        },
      ),
      { numRuns: 300 },
    );
  });
});
