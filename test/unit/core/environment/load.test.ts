import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { type Diagnostic, loadEnvironment } from '../../../../src/core/environment/load';

type Files = Record<string, string>;

function load(text: string, files: Files = {}, name = 'shop.rehearsal.json') {
  return loadEnvironment(text, {
    path: name,
    read: async (file) => {
      if (Object.hasOwn(files, file)) return files[file]!;
      throw Object.assign(new Error(`ENOENT: no such file or directory, open '/home/x/${file}'`), {
        code: 'ENOENT',
      });
    },
  });
}

const brief = (diagnostics: Diagnostic[]) => diagnostics.map((d) => `${d.severity} ${d.code}: ${d.message}`);
/** The text that a diagnostic underlines. */
const marked = (text: string, d: Diagnostic) => text.slice(d.offset, d.offset + d.length);

const GET = {
  name: 'get',
  inputSchema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
  annotations: { readOnlyHint: true },
};
const CANCEL = {
  type: 'function',
  function: {
    name: 'cancel',
    description: 'Cancels.',
    parameters: { type: 'object', properties: { id: { type: 'string' } } },
  },
};
const TASK = {
  id: 't',
  instruction: 'Go.',
  checks: [{ kind: 'calls', expected: [{ tool: 'get', arguments: { id: 'A' } }] }],
};
const base = { tools: [GET, CANCEL], tasks: [TASK] };
const text = (changes: object = {}) => JSON.stringify({ ...base, ...changes }, null, 2);

describe('loading an environment', () => {
  it('fills in defaults and reads both forms of tools', async () => {
    const { environment, diagnostics, locations } = await load(text());
    assert.deepEqual(diagnostics, []);
    assert.equal(environment!.name, 'shop');
    assert.deepEqual(
      environment!.tools.map((t) => [t.name, t.readOnly, t.description]),
      [
        ['get', true, ''],
        ['cancel', false, 'Cancels.'],
      ],
    );
    assert.deepEqual(environment!.tasks[0]!.user, []);
    assert.equal(environment!.gates, 'check');
    assert.equal(environment!.reuseExamples, true);
    assert.equal(environment!.maxTurns, 30);
    assert.ok(environment!.limits.act > 0 && environment!.limits.rehearse > 0);
    assert.deepEqual([...locations.tools.keys()], ['get', 'cancel']);
  });

  it('takes comments, trailing commas and a byte order mark', async () => {
    const source = `\uFEFF// shop\n{ "tools": [ /* one */ {"name": "f"}, ], "tasks": [], }`;
    const { environment, diagnostics } = await load(source);
    assert.deepEqual(diagnostics, []);
    assert.deepEqual(environment!.tools[0]!.parameters, { type: 'object', properties: {} });
  });

  it('reads lists and the policy from files, also what an MCP server answers', async () => {
    const { environment, diagnostics, locations } = await load(
      JSON.stringify({
        policy: 'policy.md',
        tools: 'tools.json',
        tasks: 'tasks.jsonl',
        examples: 'calls.jsonl',
      }),
      {
        'policy.md': '# Be kind\n\nAlways.\n',
        'tools.json': JSON.stringify({ result: { tools: [GET] } }),
        'tasks.jsonl': `\n${JSON.stringify(TASK)}\r\n\n${JSON.stringify({ ...TASK, id: 'u' })}\n`,
        'calls.jsonl': JSON.stringify({
          tool: 'get',
          arguments: { id: 'B' },
          value: { error: 'No such order' },
        }),
      },
    );
    assert.deepEqual(diagnostics, []);
    assert.equal(environment!.policy, '# Be kind\n\nAlways.');
    assert.deepEqual(
      environment!.tasks.map((task) => task.id),
      ['t', 'u'],
    );
    assert.equal(environment!.examples[0]!.outcome, 'error');
    const first = `\n${JSON.stringify(TASK)}\r\n\n`;
    const place = locations.tasks.get('u')!;
    assert.deepEqual([place.file, place.offset], ['tasks.jsonl', first.length]);
  });

  it('says where checks stand, in place and in another file', async () => {
    const source = text();
    const inPlace = (await load(source)).locations.checks.get('t')![0]!;
    assert.deepEqual(
      JSON.parse(source.slice(inPlace.offset, inPlace.offset + inPlace.length)),
      TASK.checks[0],
    );
    const lines = `${JSON.stringify({ ...TASK, id: 'first' })}\n${JSON.stringify(TASK)}`;
    const other = (await load(text({ tasks: 'tasks.jsonl' }), { 'tasks.jsonl': lines })).locations.checks.get(
      't',
    )![0]!;
    assert.equal(other.file, 'tasks.jsonl');
    assert.deepEqual(JSON.parse(lines.slice(other.offset, other.offset + other.length)), TASK.checks[0]);
  });

  it('drops a wrong tool or task alone, with one diagnostic at what is wrong', async () => {
    const source = text({
      tools: [
        GET,
        { description: 'no name' },
        CANCEL,
        { name: 'get' },
        { name: 'bad', parameters: { type: 'dict', properties: { x: { type: 'float' } } } },
      ],
      tasks: [
        TASK,
        { id: 'u', instruction: 3, checks: [] },
        { ...TASK },
        { ...TASK, id: 'v', checks: [{ kind: 'calls' }] },
      ],
    });
    const { environment, diagnostics } = await load(source);
    assert.deepEqual(
      environment!.tools.map((t) => t.name),
      ['get', 'cancel', 'bad'],
    );
    assert.match(environment!.tools[2]!.problem!, /"dict" at \/ \(write "object"\)/);
    assert.deepEqual(
      environment!.tasks.map((t) => t.id),
      ['t'],
    );
    assert.deepEqual(
      diagnostics.map((d) => d.code),
      ['tool', 'duplicate-tool', 'tool-schema', 'task', 'duplicate-task', 'check'],
    );
    assert.equal(marked(source, diagnostics[1]!), '"get"');
    assert.equal(marked(source, diagnostics[3]!), '3');
    assert.match(
      diagnostics[5]!.message,
      /Task v was left out: check 1 \(calls\): required field "expected" is missing/,
    );
    for (const diagnostic of diagnostics) assert.ok(diagnostic.next, 'a next step');
  });

  it('drops a task with a wrong check, since without it the task would be easier', async () => {
    for (const check of [
      { kind: 'calls', expected: 'get' },
      { kind: 'call' },
      {},
      7,
      { kind: 'answer', contain: 'x' },
    ]) {
      const { environment, diagnostics } = await load(
        text({ tasks: [{ ...TASK, checks: [...TASK.checks, check] }] }),
      );
      assert.deepEqual(environment!.tasks, [], JSON.stringify(check));
      assert.deepEqual(
        diagnostics.map((d) => d.code),
        ['check'],
        JSON.stringify(check),
      );
    }
  });

  it('uses the default of a setting that is wrong and says so', async () => {
    const source = text({
      gates: 'off',
      maxTurns: 0,
      limits: { act: 'many' },
      polcy: 'x',
      ignore: ['$.a[', '$.b'],
    });
    const { environment, diagnostics } = await load(source);
    assert.equal(environment!.gates, 'check');
    assert.equal(environment!.maxTurns, 30);
    assert.equal(environment!.limits.act, 1024);
    const at = Object.fromEntries(diagnostics.map((d) => [marked(source, d), d.code]));
    assert.deepEqual(at, {
      '"off"': 'environment',
      '0': 'environment',
      '"many"': 'environment',
      '"polcy"': 'unknown-field',
      '"$.a["': 'path',
    });
  });

  it('says what is missing or unreadable and goes on', async () => {
    const { environment, diagnostics } = await load(
      JSON.stringify({
        tools: 'tools.json',
        policy: '/etc/passwd.txt',
        tasks: 'C:\\x.json',
        examples: 'https://x.org/y.json',
      }),
    );
    assert.deepEqual(environment!.tools, []);
    assert.equal(environment!.policy, '');
    const messages = brief(diagnostics).join('\n');
    assert.match(messages, /tools\.json could not be read: there is no such file/);
    assert.doesNotMatch(messages, /home\/x/, 'no path of the machine');
    assert.equal(messages.match(/not a name relative/g)?.length, 3);
  });

  it('drops broken lines of a JSONL file alone', async () => {
    const lines = `${JSON.stringify(TASK)}\n{"id": "half\n[]\n${JSON.stringify({ ...TASK, id: 'z' })}`;
    const { environment, diagnostics } = await load(text({ tasks: 'tasks.jsonl' }), { 'tasks.jsonl': lines });
    assert.deepEqual(
      environment!.tasks.map((t) => t.id),
      ['t', 'z'],
    );
    assert.deepEqual(
      diagnostics.map((d) => [d.code, d.file]),
      [
        ['syntax', 'tasks.jsonl'],
        ['task', 'tasks.jsonl'],
      ],
    );
    assert.equal(lines.slice(0, diagnostics[0]!.offset).split('\n').length, 2, 'on its line');
  });

  it('tells nonsense from an environment', async () => {
    for (const nonsense of ['', '  \n', '[]', '42', 'null', 'hello', '\u0000\u0001', '['.repeat(50_000)]) {
      const { environment, diagnostics } = await load(nonsense);
      assert.equal(environment, null, nonsense.slice(0, 20));
      assert.ok(diagnostics.some((d) => d.severity === 'error'));
    }
    assert.match(brief((await load('{}')).diagnostics).join(), /no tools/);
  });

  it('warns of a key that stands twice', async () => {
    const source = '{"tools": [{"name": "f"}], "name": "a", "name": "b"}';
    const { environment, diagnostics } = await load(source);
    assert.equal(environment!.name, 'b');
    assert.deepEqual(
      diagnostics.map((d) => d.code),
      ['duplicate-key'],
    );
    assert.equal(diagnostics[0]!.offset, source.lastIndexOf('"name"'));
  });

  it('takes the last of two lists of one name, as it says', async () => {
    const { environment } = await load(
      '{"tools": [{"name": "first"}], "tasks": [], "tools": [{"name": "last"}]}',
    );
    assert.deepEqual(
      environment!.tools.map(({ name }) => name),
      ['last'],
    );
  });

  it('uses the default of every setting that is wrong, however many are', async () => {
    const { environment, diagnostics } = await load(
      '{"name": [], "policy": 5, "tools": [], "tasks": [], "gates": 9, "limits": "x", "maxTurns": 1e999, ' +
        '"reasoning": {}, "ignore": "a", "tolerances": [5], "onGateFailed": 0, "reuseExamples": "no", "executor": []}',
    );
    const {
      name,
      policy,
      gates,
      limits,
      maxTurns,
      reasoning,
      ignore,
      tolerances,
      onGateFailed,
      reuseExamples,
    } = environment!;
    const { environment: plain } = await load('{"tools": [], "tasks": []}');
    assert.deepEqual(
      { name, policy, gates, limits, maxTurns, reasoning, ignore, tolerances, onGateFailed, reuseExamples },
      {
        name: plain!.name,
        policy: plain!.policy,
        gates: plain!.gates,
        limits: plain!.limits,
        maxTurns: plain!.maxTurns,
        reasoning: plain!.reasoning,
        ignore: plain!.ignore,
        tolerances: plain!.tolerances,
        onGateFailed: plain!.onGateFailed,
        reuseExamples: plain!.reuseExamples,
      },
    );
    assert.equal(environment!.executor, undefined);
    for (const field of [
      'name',
      'policy',
      'gates',
      'limits',
      'maxTurns',
      'reasoning',
      'ignore',
      'tolerances',
    ]) {
      assert.ok(
        diagnostics.some(({ message }) => message.startsWith(`"${field}`)),
        field,
      );
    }
  });

  it('takes __proto__ as a name like any other', async () => {
    const source =
      '{"tools": [{"name": "f", "parameters": {"type": "object", "properties": {"__proto__": {"type": "integer"}}}}], "__proto__": 1}';
    const { environment, diagnostics } = await load(source);
    assert.deepEqual(Object.keys(environment!.tools[0]!.parameters.properties as object), ['__proto__']);
    assert.deepEqual(
      diagnostics.map((d) => d.code),
      ['unknown-field'],
    );
  });

  it('keeps of a truncated file what is whole, and says that it ends too early', async () => {
    const source = text({ tasks: [TASK, { ...TASK, id: 'u' }] });
    for (let length = 1; length < source.length - 1; length += 7) {
      const { environment, diagnostics } = await load(source.slice(0, length));
      const errors = diagnostics.filter((d) => d.severity === 'error');
      assert.ok(errors.length >= 1, `cut at ${length}`);
      assert.ok(errors.every((d) => d.offset <= length));
      for (const task of environment?.tasks ?? []) assert.deepEqual(task.checks, TASK.checks);
    }
    const cut = await load(source.slice(0, source.lastIndexOf('"u"')));
    assert.deepEqual(
      cut.environment!.tasks.map((t) => t.id),
      ['t'],
    );
    assert.deepEqual(brief(cut.diagnostics), [
      'error truncated: The file ends too early: a value is missing.',
    ]);
  });

  it('reads any text without an exception, and marks places inside it', async () => {
    const source = text();
    const damaged = fc
      .tuple(
        fc.nat(source.length),
        fc.nat(20),
        fc.oneof(fc.string(), fc.constantFrom('{', '}', '[', ']', '"', ',', '/*', 'null', '1e999')),
      )
      .map(([at, length, insert]) => source.slice(0, at) + insert + source.slice(at + length));
    await fc.assert(
      fc.asyncProperty(fc.oneof(damaged, fc.json(), fc.string()), async (input) => {
        const { diagnostics } = await load(input);
        for (const d of diagnostics) {
          assert.ok(d.offset >= 0 && d.length >= 0 && d.offset <= input.length);
          assert.ok(d.message && !/undefined|\[object/.test(d.message), d.message);
        }
      }),
      { numRuns: 150 },
    );
  });
});

describe('the examples', () => {
  const root = path.resolve(import.meta.dirname, '../../../../examples');
  const files = fs
    .readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.rehearsal.json'));

  it('are there', () => assert.ok(files.length >= 2));
  for (const file of files) {
    it(`${file} loads without a diagnostic`, async () => {
      const at = path.join(root, file);
      const { environment, diagnostics } = await loadEnvironment(fs.readFileSync(at, 'utf8'), {
        path: at,
        read: async (name) => fs.readFileSync(path.join(path.dirname(at), name), 'utf8'),
      });
      assert.deepEqual(diagnostics, []);
      assert.ok(environment!.tasks.length > 0);
    });
  }
});

describe('docs/environment.md', () => {
  it('shows an environment that loads without a diagnostic', async () => {
    const page = fs.readFileSync(
      path.resolve(import.meta.dirname, '../../../../docs/environment.md'),
      'utf8',
    );
    const { environment, diagnostics } = await load(/```jsonc\n([\s\S]*?)```/.exec(page)![1]!);
    assert.deepEqual(diagnostics, []);
    assert.equal(environment!.tools.length, 2);
  });
});
