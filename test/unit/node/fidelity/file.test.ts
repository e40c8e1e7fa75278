import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import type { Environment, Example } from '../../../../src/core/environment/types';
import { compareAnswers } from '../../../../src/core/fidelity/compare';
import { type ComparedCall, judged, recordsOf } from '../../../../src/core/fidelity/comparison';
import type { Json } from '../../../../src/core/json';
import { usableEnvironment } from '../../../../src/node/environments';
import {
  ComparisonWriter,
  environmentFileOf,
  listComparisons,
  readComparison,
} from '../../../../src/node/fidelity/file';
import { askedFor, basisOf, staleTools } from '../../../../src/node/fidelity/request';
import { temporary } from '../../support/server';
import { ROOT } from '../tools/support';

const result = (value: Json) => ({ outcome: 'result' as const, value });

function call(index: number, rehearsed: Json, real: Json = { status: 'open' }): ComparedCall {
  const pair = { tool: 'get', arguments: { id: index }, rehearsed: result(rehearsed), real: result(real) };
  return {
    ...pair,
    comparison: compareAnswers(pair.rehearsed, pair.real),
    task: null,
    index,
    source: 'rehearsed',
    recorded: true,
    afterWrite: false,
    durationMs: null,
    author: undefined,
  };
}

const CREATED = '2026-11-29T12:00:00.000Z';
const HEAD = {
  created: CREATED,
  environment: 'shop',
  environmentFile: 'sub/shop.rehearsal.json',
  what: '2 recorded calls',
  request: { kind: 'records' as const, part: 'all' as const, execute: false },
  basis: { rest: 'r', tools: {} },
};

function written(): { file: string; pairs: ComparedCall[] } {
  const folder = path.join(temporary('comparisons'), '.rehearsal/comparisons');
  const { writer } = ComparisonWriter.create(folder, HEAD);
  const pairs = [call(0, { status: 'open' }), call(1, { status: 'lost', __proto__: 1 })];
  writer.model('nano');
  for (const pair of pairs) writer.pair(pair, 'nano');
  writer.uncompared({ task: null, index: 2, tool: 'get', arguments: {}, reason: 'it timed out' }, 'nano');
  writer.done('nano');
  return { file: writer.file, pairs };
}

describe('a comparison on disk', () => {
  it('is not waited for where it is a pipe', async function () {
    if (process.platform === 'win32') return this.skip();
    const folder = temporary('comparisons');
    execFileSync('mkfifo', [path.join(folder, 'pipe.jsonl')]);
    assert.deepEqual(listComparisons(folder), []);
    await assert.rejects(readComparison(path.join(folder, 'pipe.jsonl')), /it is no regular file/);
  });

  it('is read back as it was, and stays out of repositories', async () => {
    const { file, pairs } = written();
    const { head, runs, complete, notice } = await readComparison(file);
    assert.deepEqual([head.environment, head.request, complete, notice], ['shop', HEAD.request, true, null]);
    assert.deepEqual(runs, [
      {
        model: 'nano',
        pairs,
        uncompared: [{ task: null, index: 2, tool: 'get', arguments: {}, reason: 'it timed out' }],
      },
    ]);
    const root = path.dirname(path.dirname(path.dirname(file)));
    assert.equal(environmentFileOf(file, head), path.join(root, 'sub/shop.rehearsal.json'));
    assert.equal(fs.readFileSync(path.join(root, '.rehearsal/.gitignore'), 'utf8'), '*\n');
    assert.deepEqual(
      listComparisons(path.dirname(file)).map((one) => one.file),
      [file],
    );
  });

  it('is usable up to where a process was killed, and says that it is not whole', async () => {
    const { file } = written();
    const text = fs.readFileSync(file, 'utf8');
    for (let cut = text.indexOf('\n') + 1; cut < text.length; cut += 37) {
      fs.writeFileSync(file, text.slice(0, cut));
      const { runs, complete, notice } = await readComparison(file);
      assert.equal(notice, null);
      assert.equal(complete, false);
      assert.ok((runs[0]?.pairs.length ?? 0) <= 2);
    }
  });

  it('leaves out what is no record, and refuses what is no comparison', async () => {
    const { file } = written();
    const lines = fs.readFileSync(file, 'utf8').split('\n');
    const bad = [
      'nonsense',
      '{"type":"pair","model":"nano","tool":"x"}',
      '{"type":"pair","model":"nano","tool":"x","arguments":{},"rehearsed":1,"real":2,"index":0}',
    ];
    fs.writeFileSync(file, [lines[0], ...bad, ...lines.slice(1)].join('\n'));
    const { runs, notice } = await readComparison(file);
    assert.equal(runs[0]!.pairs.length, 2);
    assert.match(notice!, /^3 lines of .+ were left out\.$/);
    for (const head of ['', '{}', '{"type":"comparison","version":2}', '{"type":"comparison","version":1}']) {
      fs.writeFileSync(file, `${head}\n`);
      await assert.rejects(readComparison(file), /cannot be opened/);
      assert.deepEqual(listComparisons(path.dirname(file)), []);
    }
  });

  it('is exported as the records that the command line prints, of all models', async () => {
    const { pairs } = written();
    const runs = ['a', 'b'].map((model) => ({ model, pairs, uncompared: [] }));
    const records = recordsOf('shop', runs).map(
      (record) => JSON.parse(JSON.stringify(record)) as { type: string },
    );
    assert.deepEqual(
      records.map(({ type }) => type),
      ['pair', 'pair', 'summary', 'pair', 'pair', 'summary', 'models'],
    );
  });

  it('is judged by the rules and verdicts of the environment as it is now', () => {
    const pairs = [call(0, { status: 'lost' }), call(1, { status: 'gone' })];
    const verdict: Example = {
      tool: 'get',
      arguments: { id: 1 },
      outcome: 'result',
      value: { status: 'open' },
      rehearsed: { status: 'gone' },
      afterWrite: false,
      part: 'train',
      verdict: 'tolerable',
    };
    const by = (more: Partial<Environment>) =>
      judged(pairs, { ignore: [], examples: [], ...more }).map(({ comparison, author }) => [
        comparison.verdict,
        author,
      ]);
    assert.deepEqual(by({}), [
      ['differs', undefined],
      ['differs', undefined],
    ]);
    assert.deepEqual(by({ ignore: ['$.status'] }), [
      ['tolerable', undefined],
      ['tolerable', undefined],
    ]);
    assert.deepEqual(by({ examples: [verdict] }), [
      ['differs', undefined],
      ['differs', 'tolerable'],
    ]);
  });
});

describe('what was asked to compare', () => {
  const shop = () => usableEnvironment(path.join(ROOT, 'examples/shop/shop.rehearsal.json'));

  it('are the records that stand at the beginning of a session, or tasks', async () => {
    const environment = await shop();
    const held = askedFor(environment, { kind: 'records', part: 'held-out', execute: false });
    assert.deepEqual(
      [held.what, held.targets.length, held.executes],
      ['2 held-out recorded calls', 2, false],
    );
    const all = askedFor(environment, { kind: 'records', part: 'all', execute: true });
    assert.deepEqual(
      [all.targets.length, all.executes, all.tools!.includes('cancel_order')],
      [7, true, true],
    );
    const tasks = askedFor(environment, { kind: 'tasks', tasks: null });
    assert.deepEqual([tasks.targets.length, tasks.tools], [environment.tasks.length, null]);
    assert.throws(() => askedFor(environment, { kind: 'tasks', tasks: ['gone'] }), /no task gone/);
    assert.throws(
      () => askedFor({ ...environment, examples: [] }, { kind: 'records', part: 'all', execute: false }),
      /no recorded calls/,
    );
  });

  it('is stale where what the model is told of a tool is another now, and not by a verdict', async () => {
    const environment = await shop();
    const names = environment.tools.map(({ name }) => name);
    const then = basisOf(environment);
    const stale = (more: Partial<Environment>) =>
      staleTools(then, basisOf({ ...environment, ...more }), names);
    assert.deepEqual(stale({}), []);
    assert.deepEqual(stale({ ignore: ['$.x'] }), []);
    assert.deepEqual(stale({ policy: 'Another.' }), names);
    const [first, ...rest] = environment.tools;
    assert.deepEqual(stale({ tools: [{ ...first!, description: 'Another.' }, ...rest] }), [first!.name]);
    const record: Example = {
      tool: 'get_product',
      arguments: { product_id: 'P1' },
      outcome: 'result',
      value: 1,
      afterWrite: false,
      part: 'train',
    };
    assert.deepEqual(stale({ examples: [...environment.examples, record] }), ['get_product']);
    assert.deepEqual(stale({ examples: [...environment.examples, { ...record, verdict: 'match' }] }), []);
    const [known, ...others] = environment.examples;
    assert.deepEqual(stale({ examples: [{ ...known!, verdict: 'wrong rehearsal' }, ...others] }), []);
    assert.deepEqual(stale({ examples: others }), [known!.tool]);
  });
});
