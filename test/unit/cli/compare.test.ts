/** `rehearsal compare` with recorded answers on the real engine: surprise, and two models in one table. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { compare } from '../../../src/cli/compare';
import { styleFor } from '../../../src/cli/style';
import type { Terminal } from '../../../src/cli/terminal';
import { type ComparedCall, recordsOf } from '../../../src/core/fidelity/comparison';
import type { ModelsSummary } from '../../../src/core/fidelity/models';
import type { SurpriseSummary } from '../../../src/core/fidelity/surprise';
import type { NodeError } from '../../../src/node/errors';
import { sharedServer, temporary } from '../support/server';

const ANSWERS = [{ lamp: 'hall', on: true }, { error: 'No such lamp' }];
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
  examples: ANSWERS.map((value, i) => ({ tool: 'switch', arguments: { lamp: `l${i}` }, value })),
  tasks: [
    {
      id: 'any',
      instruction: 'Say something.',
      checks: [{ kind: 'forbidden', calls: [{ tool: 'switch' }] }],
    },
  ],
};

describe('rehearsal compare', function () {
  this.timeout(180_000);
  let file: string;
  let server: string[];

  before(async () => {
    const shared = await sharedServer();
    file = path.join(temporary('compare'), 'lamp.rehearsal.json');
    fs.writeFileSync(file, JSON.stringify(ENVIRONMENT));
    process.env.COMPARE_TOKEN = shared.token;
    server = ['--server', shared.url, '--token-env', 'COMPARE_TOKEN', '--recorded'];
  });
  after(() => {
    delete process.env.COMPARE_TOKEN;
  });

  async function ran(args: string[]) {
    const lines: { type: string; [field: string]: unknown }[] = [];
    const shown: string[] = [];
    const said: string[] = [];
    const terminal: Terminal = {
      page: { print: (line) => void shown.push(line), style: styleFor({}) },
      json: (value) => void lines.push(JSON.parse(JSON.stringify(value))),
      say: (line) => void said.push(line),
      signal: new AbortController().signal,
      interactive: false,
    };
    const code = await compare([file, ...server, ...args], terminal);
    return { code, lines, shown: shown.join('\n'), said: said.join('\n') };
  }

  it('tells the surprise of the real answers, per token, per tool and overall', async () => {
    const { code, lines } = await ran(['--json']);
    assert.equal(code, 1);
    const pairs = lines.filter(({ type }) => type === 'pair') as unknown as ComparedCall[];
    assert.equal(pairs.length, 2);
    for (const { surprise, real } of pairs) {
      const text = surprise!.marks.filter(({ counted }) => counted).map((mark) => mark.text);
      assert.deepEqual(JSON.parse(text.join('')), real.value);
      const bits = surprise!.marks.reduce((sum, mark) => sum + (mark.counted ? mark.bits! : 0), 0);
      assert.ok(Math.abs(bits - surprise!.bits) < 1e-6);
    }
    const { surprise } = lines.at(-1) as unknown as { surprise: SurpriseSummary };
    const tokens = pairs.reduce((sum, pair) => sum + pair.surprise!.tokens, 0);
    assert.deepEqual([surprise.tokens, surprise.unscored, surprise.tools[0]!.tool], [tokens, 0, 'switch']);
    assert.ok(surprise.bitsPerToken! > 1 && surprise.bitsPerByte! > 0);
  });

  it('prints what the compare page exports of the same pairs', async () => {
    const { lines } = await ran(['--json']);
    const pairs = lines
      .filter(({ type }) => type === 'pair')
      .sort((a, b) => Number(a.index) - Number(b.index));
    const calls = pairs.map(({ type: _, model: __, author, ...call }) => ({
      ...call,
      author: author ?? undefined,
    })) as unknown as ComparedCall[];
    const run = { model: String(pairs[0]!.model), pairs: calls, uncompared: [] };
    const exported = JSON.parse(JSON.stringify(recordsOf('lamp', [run]))) as unknown;
    assert.deepEqual(exported, [...pairs, lines.at(-1)]);
  });

  it('holds two models against the same calls: one that is compared with itself is as good', async () => {
    const { lines } = await ran(['--json', '--model', 'tiny', '--against', 'tiny']);
    assert.equal(lines.filter(({ type }) => type === 'pair').length, 4);
    assert.equal(lines.filter(({ type }) => type === 'summary').length, 2);
    const { models, calls, fidelity, surprise, tools, differences } = lines.at(
      -1,
    ) as unknown as ModelsSummary;
    const [{ onlyFirst, onlyThis }] = differences as [(typeof differences)[0]];
    assert.equal(lines.at(-1)!.type, 'models');
    assert.deepEqual([models, calls, onlyFirst, onlyThis], [['tiny', 'tiny'], 2, 0, 0]);
    assert.deepEqual(fidelity[0], fidelity[1]);
    assert.ok(Math.abs(surprise[0]!.bits - surprise[1]!.bits) < 0.01);
    assert.equal(tools[0]!.surprise[0]!.tokens, surprise[0]!.tokens);
  });

  it('takes any number of models, and writes all of them into the JUnit file', async () => {
    const junit = path.join(path.dirname(file), 'junit.xml');
    const { lines } = await ran(['--json', '--against', 'tiny', '--against', 'tiny', '--junit', junit]);
    const last = lines.at(-1) as unknown as ModelsSummary;
    assert.deepEqual([last.models.length, last.differences.length], [3, 2]);
    assert.deepEqual([last.differences[1]!.fidelity!.value, last.differences[1]!.onlyThis], [0, 0]);
    assert.equal(fs.readFileSync(junit, 'utf8').match(/<testsuite name="switch \(/g)!.length, 3);
  });

  it('shows both in one table', async () => {
    const { shown } = await ran(['--against', 'tiny']);
    assert.match(shown, /^2 calls +tiny +tiny$/m);
    assert.match(shown, /^fidelity +0 % \(0 of 2; .+\) +0 % \(0 of 2; .+\)$/m);
    assert.match(
      shown,
      /^surprise +[\d.]+ bits\/token +[\d.]+ bits\/token\n +[\d.]+ bits\/byte +[\d.]+ bits\/byte$/m,
    );
    assert.match(shown, /^ {2}switch +[\d.]+ bits\/byte +[\d.]+ bits\/byte$/m);
  });

  it('says which recorded calls are broken, and that none is left', async () => {
    const records = path.join(path.dirname(file), 'calls.jsonl');
    const broken = [JSON.stringify({ tool: 'switch' }), '{"tool": "switch", "arguments"'];
    const written = { ...ENVIRONMENT, examples: 'calls.jsonl' };
    fs.writeFileSync(file, JSON.stringify(written));
    try {
      fs.writeFileSync(records, `${broken.join('\n')}\n`);
      await assert.rejects(ran([]), (error: NodeError) => {
        assert.match(error.message, /No recorded call .*calls\.jsonl:2:\d+: .*calls\.jsonl:1:1: .*value/s);
        assert.equal(error.code, 'environment-broken');
        return true;
      });
      fs.writeFileSync(records, `${[...broken, JSON.stringify(ENVIRONMENT.examples[0])].join('\n')}\n`);
      const { lines, said } = await ran(['--json']);
      assert.equal(lines.filter(({ type }) => type === 'pair').length, 1);
      assert.match(said, /calls\.jsonl:1:1: A recorded call of switch was left out/);
      fs.writeFileSync(records, '');
      await assert.rejects(ran([]), /has no recorded call that can be compared/);
    } finally {
      fs.writeFileSync(file, JSON.stringify(ENVIRONMENT));
    }
  });
});
