/** A comparison from the first call to what the page is sent, without VS Code: the real core, file and messages. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { summarize } from '../../../src/core/fidelity/summary';
import { DEFAULT_OPTIONS } from '../../../src/core/rehearsal/options';
import { CompareFeed, noModelReason } from '../../../src/features/fidelity/feed';
import { LiveComparison } from '../../../src/features/fidelity/live';
import { compareModel } from '../../../src/features/fidelity/run';
import { usableEnvironment } from '../../../src/node/environments';
import { targetsForAnother } from '../../../src/node/fidelity/another-model';
import {
  conversationsFolder,
  conversationsOf,
  forgetConversations,
} from '../../../src/node/fidelity/conversations';
import { ComparisonWriter, readComparison } from '../../../src/node/fidelity/file';
import { askedFor, basisOf, type CompareRequest } from '../../../src/node/fidelity/request';
import { createExecutor } from '../../../src/node/tools';
import type { ToCompare } from '../../../webview/common/compare';
import { isToCompare } from '../../../webview/common/compare-validators.generated';
import { runOf } from '../../webview/comparison';
import { memoryPolicy } from '../support/memory-policy';
import { temporary } from '../support/server';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const FILE = path.join(ROOT, 'examples/shop/shop.rehearsal.json');
const NOT_FOUND = '<execution_result>{"error": "Order not found"}</execution_result>';
const sampling = { ...DEFAULT_OPTIONS };
const RECORDS: CompareRequest = { kind: 'records', part: 'all', execute: false };

async function started(request: CompareRequest = RECORDS) {
  const environment = await usableEnvironment(FILE);
  const asked = askedFor(environment, request);
  const folder = path.join(temporary('live'), '.rehearsal/comparisons');
  const about = {
    created: '2026-11-29T12:00:00.000Z',
    environment: 'shop',
    environmentFile: 'shop.rehearsal.json',
    what: asked.what,
    request,
    basis: basisOf(environment),
  };
  const { writer, head } = ComparisonWriter.create(folder, about);
  const live = new LiveComparison(writer.file, FILE, head, [], 'running');
  await live.judge(environment);
  return { environment, asked, writer, live };
}

function feedOf(live: LiveComparison) {
  const messages: ToCompare[] = [];
  const feed = new CompareFeed(
    live,
    (message) => messages.push(JSON.parse(JSON.stringify(message)) as ToCompare),
    () => null,
  );
  return { feed, messages };
}

describe('a comparison in the window', () => {
  it('is kept as it goes, and shown with core’s own figures', async () => {
    const { environment, asked, writer, live } = await started();
    const { feed, messages } = feedOf(live);
    const policy = memoryPolicy({ act: [], rehearse: [NOT_FOUND] });
    await compareModel(live, writer, {
      environment,
      targets: asked.targets,
      policy,
      executor: null,
      sampling,
    });
    await live.judge(environment);
    await feed.start();
    feed.receive({ type: 'filter', number: 1, filter: { side: 0, show: 'match' } });
    feed.receive({ type: 'pair', id: 0, side: 0 });
    feed.dispose();
    assert.ok(
      messages.every((message) => isToCompare(message)),
      'every message fits the protocol',
    );
    const { view } = messages.findLast((message) => message.type === 'comparison')!;
    const { pairs } = live.runs[0]!;
    const { fidelity, tools, anticipation } = summarize(pairs);
    const [side] = view.sides;
    assert.deepEqual([side!.fidelity, side!.anticipation], [fidelity, anticipation]);
    assert.deepEqual(
      side!.tools.map(({ tool, fields }) => ({ tool, fields })),
      tools.map(({ tool, fields }) => ({ tool, fields })),
    );
    assert.match(side!.noSurprise ?? '', /cannot score/);
    const { ids } = messages.findLast((message) => message.type === 'list')!;
    assert.equal(ids.length, side!.verdicts.match);
    assert.equal(live.status, 'done');
    const stored = await readComparison(writer.file);
    assert.equal(stored.complete, true);
    assert.deepEqual(stored.runs[0]!.pairs.length, pairs.length);
  });

  it('takes another model on the same calls, with the same real answers', async () => {
    const { environment, asked, writer, live } = await started();
    const run = (rehearse: string, model: string, targets = asked.targets) => {
      const policy = memoryPolicy({ act: [], rehearse: [rehearse] });
      const named = { ...policy, info: { ...policy.info, model } };
      return compareModel(live, writer, {
        environment,
        targets,
        policy: Object.assign(Object.create(policy), named),
        executor: null,
        sampling,
      });
    };
    await run(NOT_FOUND, 'first');
    await run(
      '<execution_result>{"other": 1}</execution_result>',
      'second',
      targetsForAnother(live.runs[0]!.pairs),
    );
    const { beside } = live.view();
    assert.deepEqual(beside!.models, ['first', 'second']);
    assert.equal(beside!.calls, asked.targets.length);
    assert.equal(beside!.differences[0]!.onlyFirst, 1);
    for (const pairs of live.calls.pairs) assert.deepEqual(pairs[0]!.real, pairs[1]!.real);
  });

  it('keeps the conversation of a task, so that another model can be added after a reload', async () => {
    const tasks: CompareRequest = { kind: 'tasks', tasks: ['order-without-hash'] };
    const { environment, asked, writer, live } = await started(tasks);
    const act = [
      '<tool_call>\n{"name": "get_order", "arguments": {"order_id": "W4284542"}}\n</tool_call>',
      'It is not there.',
    ];
    const policy = memoryPolicy({ act, rehearse: [NOT_FOUND] });
    const executor = createExecutor({ environment, folder: path.dirname(FILE) });
    const { targets } = asked;
    await compareModel(live, writer, { environment, targets, policy, executor, sampling });
    await executor.close();
    const { feed, messages } = feedOf(live);
    await feed.start();
    feed.dispose();
    assert.equal(messages.findLast((message) => message.type === 'comparison')!.head.noModel, null);
    const { head, runs, complete } = await readComparison(writer.file);
    assert.equal(complete, true);
    // Those of a comparison whose file is gone go with the next one.
    const left = conversationsFolder(writer.file.replace('.jsonl', '-gone.jsonl'));
    fs.mkdirSync(left);
    forgetConversations(writer.file);
    assert.ok(!fs.existsSync(left));
    const conversations = conversationsOf(writer.file, head.request, runs[0]!);
    assert.deepEqual(
      targetsForAnother(runs[0]!.pairs, { conversations }).map(({ kind }) => kind),
      ['conversation'],
    );
    // One that was made before conversations were kept says what to do.
    const { conversations: _, ...old } = runs[0]!;
    assert.match(
      noModelReason(new LiveComparison(writer.file, FILE, head, [old], 'done')) ?? '',
      /Compare again/,
    );
  });

  it('keeps what was compared when it is cancelled or cannot be written', async () => {
    const { environment, asked, writer, live } = await started();
    const policy = memoryPolicy({ act: [], rehearse: [NOT_FOUND] });
    live.on('change', () => live.runs[0]?.pairs.length === 1 && live.cancel());
    await compareModel(live, writer, {
      environment,
      targets: asked.targets,
      policy,
      executor: null,
      sampling,
    });
    assert.equal(live.status, 'cancelled');
    assert.ok(live.runs[0]!.pairs.length < asked.targets.length);
    assert.equal((await readComparison(writer.file)).complete, false);
    const other = await started();
    fs.rmSync(path.dirname(other.writer.file), { recursive: true });
    await compareModel(other.live, other.writer, {
      environment,
      targets: asked.targets,
      policy,
      executor: null,
      sampling,
    });
    assert.match((other.live.error as Error).message, /cannot be saved/);
    const { feed, messages } = feedOf(other.live);
    await feed.start();
    feed.dispose();
    const { head } = messages.find((message) => message.type === 'comparison')!;
    assert.match(head.error!.message, /cannot be saved.+compare again/);
  });

  it('sends ten thousand calls in parts, and a verdict as one row', async () => {
    const { environment, live } = await started();
    const many = new LiveComparison(live.file, FILE, live.head, [runOf('nano', 10_000, 0.5)], 'done');
    const { feed, messages } = feedOf(many);
    await feed.start();
    const rows = messages.flatMap((message) => (message.type === 'rows' ? [message.rows.length] : []));
    assert.equal(
      rows.reduce((sum, n) => sum + n, 0),
      10_000,
    );
    assert.ok(Math.max(...rows) <= 500);
    const pair = many.pairAt(7, 0)!;
    const { tool, arguments: args, real } = pair;
    const example = {
      tool,
      arguments: args,
      outcome: real.outcome,
      value: real.value,
      afterWrite: false,
      part: 'train' as const,
      verdict: 'real tool wrong' as const,
    };
    // By the same rules as before: only this call is judged otherwise.
    const rules = { ignore: ['$.tracking_id'], tolerances: [{ path: '$.total', number: { absolute: 1 } }] };
    await many.judge({ ...environment, ...rules, examples: [example] });
    messages.length = 0;
    for (let tries = 0; tries < 300 && !messages.some(({ type }) => type === 'rows'); tries++)
      await new Promise((ok) => setTimeout(ok, 50));
    feed.dispose();
    const changed = messages.flatMap((message) => (message.type === 'rows' ? message.rows : []));
    assert.deepEqual(
      changed.map(({ id, cells }) => [id, cells[0]!.author]),
      [[7, 'real tool wrong']],
    );
  });
});
