import assert from 'node:assert/strict';
import path from 'node:path';
import { compare as compareCommand } from '../../../../src/cli/compare';
import { run } from '../../../../src/cli/run';
import type { Terminal } from '../../../../src/cli/terminal';
import { createRenderer } from '../../../../src/core/conversation/render';
import type { ComparedCall, Uncompared } from '../../../../src/core/fidelity/comparison';
import { drive, toTheEnd } from '../../../../src/core/rehearsal/drivers';
import { start } from '../../../../src/core/rehearsal/machine';
import { DEFAULT_OPTIONS } from '../../../../src/core/rehearsal/options';
import { Session } from '../../../../src/core/rehearsal/session';
import type { Setup } from '../../../../src/core/rehearsal/types';
import { usableEnvironment } from '../../../../src/node/environments';
import { targetsForAnother } from '../../../../src/node/fidelity/another-model';
import {
  type CompareOptions,
  type CompareTarget,
  compareTargets,
} from '../../../../src/node/fidelity/compare';
import { junitOf } from '../../../../src/node/fidelity/junit';
import { createExecutor, executePort } from '../../../../src/node/tools';
import { memoryPolicy, textOf } from '../../support/memory-policy';
import { ROOT } from '../tools/support';

const FILE = path.join(ROOT, 'examples/shop/shop.rehearsal.json');
const answer = (value: object) => `<execution_result>${JSON.stringify(value)}</execution_result>`;
const call = (name: string, args: object) =>
  `<tool_call>\n${JSON.stringify({ name, arguments: args })}\n</tool_call>`;

async function compared(policy: ReturnType<typeof memoryPolicy>, what: 'records' | string, real = true) {
  const environment = await usableEnvironment(FILE);
  const executor = real ? createExecutor({ environment, folder: path.dirname(FILE) }) : null;
  const pairs: ComparedCall[] = [];
  const uncompared: Uncompared[] = [];
  try {
    const records = environment.examples.filter(({ afterWrite }) => !afterWrite);
    await compareTargets(
      what === 'records'
        ? records.map((example) => ({ kind: 'call', example }))
        : [{ kind: 'task', task: environment.tasks.find(({ id }) => id === what)! }],
      {
        environment,
        policy,
        executor,
        sampling: DEFAULT_OPTIONS,
        concurrency: 4,
        onPair: (pair) => pairs.push(pair),
        onUncompared: (one) => uncompared.push(one),
      },
    );
    return { pairs, uncompared, records };
  } finally {
    await executor?.close();
  }
}

describe('comparing with the real tools', () => {
  it('rehearses and executes every record, without showing the model its answer', async () => {
    const policy = memoryPolicy({ act: [], rehearse: [answer({ error: 'Order not found' })] });
    const { pairs, uncompared, records } = await compared(policy, 'records');
    assert.deepEqual(uncompared, []);
    assert.equal(pairs.length, records.length);
    for (const { real, index, comparison, recorded } of pairs) {
      // The shop answers as it was recorded.
      assert.deepEqual([real.outcome, real.value], [records[index]!.outcome, records[index]!.value]);
      assert.equal(recorded, false);
      const same = JSON.stringify(real.value) === '{"error":"Order not found"}';
      assert.equal(comparison.verdict, same ? 'match' : 'differs');
    }
    assert.ok(pairs.some(({ comparison }) => comparison.verdict === 'match'));
    const asked = policy.requests
      .map(({ prompt }) => textOf(prompt))
      .find((text) => /Call: get_order \{"order_id": "W7263910"\}<\|im_end/.test(text))!;
    assert.ok(asked.includes('# Recorded calls') && asked.includes('"#W4284542"'));
    assert.equal(asked.match(/"W7263910"/g)!.length, 1);
  });

  it('takes the recorded answers where nothing is to be executed', async () => {
    const { pairs } = await compared(
      memoryPolicy({ act: [], rehearse: [answer({ a: 1 })] }),
      'records',
      false,
    );
    assert.ok(pairs.length > 0 && pairs.every(({ recorded, durationMs }) => recorded && durationMs === null));
  });

  it('executes the calls of a rehearsed task in order, in one session', async () => {
    const policy = memoryPolicy({
      act: [
        call('cancel_order', { order_id: '#W4284542' }),
        call('get_order', { order_id: '#W4284542' }),
        'Done.',
      ],
      rehearse: [
        answer({ order_id: '#W4284542', status: 'cancelled', refund: 64 }),
        answer({ status: 'pending' }),
      ],
    });
    const { pairs } = await compared(policy, 'order-without-hash');
    assert.deepEqual(
      pairs.map(({ tool, comparison }) => [tool, comparison.verdict]),
      [
        ['cancel_order', 'match'],
        ['get_order', 'differs'],
      ],
    );
    const status = pairs[1]!.comparison.fields.find(({ path: at }) => at === '$.status')!;
    assert.deepEqual([status.rehearsed, status.real], ['pending', 'cancelled']);
  });

  it('asks another model for the same calls of a task, in the same conversation, and executes nothing', async () => {
    const id = '#W4284542';
    const environment = await usableEnvironment(FILE);
    const executor = createExecutor({ environment, folder: path.dirname(FILE) });
    const task = environment.tasks.find((one) => one.id === 'order-without-hash')!;
    const run = async (
      policy: ReturnType<typeof memoryPolicy>,
      targets: CompareTarget[],
      more: Partial<CompareOptions>,
    ) => {
      const pairs: ComparedCall[] = [];
      const uncompared: Uncompared[] = [];
      await compareTargets(targets, {
        ...{ environment, policy, executor: null, sampling: DEFAULT_OPTIONS, concurrency: 4, ...more },
        onPair: (pair) => pairs.push(pair),
        onUncompared: (one) => uncompared.push(one),
      });
      return { pairs, uncompared };
    };
    const cancelled = { order_id: id, status: 'cancelled', refund: 64 };
    const act = [
      call('cancel_order', { order_id: id }),
      call('cancel_order', { order: 'refused by a gate' }),
      call('get_order', { order_id: id }),
      'Done.',
    ];
    let session: Session | undefined;
    const own = (setup: Setup) => {
      session = new Session(setup);
      return { session, close: () => {} };
    };
    const first = await run(
      memoryPolicy({ act, rehearse: [answer(cancelled), answer({ status: 'pending' })] }),
      [{ kind: 'task', task }],
      { executor, session: own },
    );
    await executor.close();
    const conversations = new Map([[task.id, session!.state]]);
    const targets = targetsForAnother(first.pairs, { conversations });
    const other = memoryPolicy({ act: [], rehearse: [answer({ status: 'unknown' })] });
    const second = await run(other, targets, {});
    assert.deepEqual(second.uncompared, []);
    const sides = [first, second].map(({ pairs }) =>
      pairs.map(({ tool, index, real, task: of }) => [tool, index, real, of]),
    );
    assert.deepEqual(sides[1], sides[0]);
    assert.equal(sides[0]!.length, 2);
    assert.deepEqual(
      second.pairs.map(({ rehearsed, source }) => [rehearsed.value, source]),
      [1, 2].map(() => [{ status: 'unknown' }, 'rehearsed']),
    );
    // What the first model rehearsed is told, and is no answer of the other one's own.
    const last = textOf(other.requests.at(-1)!.prompt);
    assert.match(
      last,
      /Call: cancel_order .*"refund": ?64.*INVALID.*Call: get_order \{"order_id": ?"#W4284542"\}<\|im_end/s,
    );
    assert.doesNotMatch(last, /<execution_result>\{"order_id": "#W4284542", "status": "cancelled"/);
    // A conversation that has gone on otherwise is not compared.
    const gone = await run(
      other,
      targetsForAnother(first.pairs, { conversations: new Map([[task.id, start(session!.setup)]]) }),
      {},
    );
    assert.deepEqual([gone.pairs.length, gone.uncompared.length], [0, 2]);
    assert.match(gone.uncompared[0]!.reason, /compare again/);
  });

  it('writes a JUnit file that any text survives', async () => {
    const { pairs } = await compared(
      memoryPolicy({ act: [], rehearse: [answer({ x: '<&"\u0000\u001b' })] }),
      'records',
      false,
    );
    const gone = { task: null, index: 0, tool: 't', arguments: {}, reason: 'gone & away' };
    const xml = junitOf('shop <1>', [{ model: 'm', pairs, uncompared: [gone] }]);
    assert.match(xml, /testsuites name="shop &#60;1&#62;"/);
    assert.match(xml, /<failure message="\$\.\S+ (missing|extra|differs)/);
    assert.match(xml, /gone &#38; away/);
    assert.doesNotMatch(xml, /[\u0000-\u0008\u001b]/);
  });

  it('of the command line executes nothing without --allow', async () => {
    const terminal = { signal: new AbortController().signal } as Terminal;
    const refused = (pattern: RegExp) => (error: { code?: string; next?: string }) =>
      error.code === 'executor-refused' && pattern.test(error.next ?? '');
    await assert.rejects(compareCommand([FILE], terminal), refused(/--allow cancel_order/));
    await assert.rejects(
      run([FILE, '--observations', 'real'], terminal),
      refused(/--allow cancel_order --allow change_address/),
    );
  });

  it('gives a session observations from the real tools', async () => {
    const environment = await usableEnvironment(FILE);
    const executor = createExecutor({ environment, folder: path.dirname(FILE) });
    const policy = memoryPolicy({ act: [call('get_order', { order_id: '#W7263910' }), 'It is shipped.'] });
    const session = new Session({
      environment,
      task: environment.tasks[0]!,
      policy: policy.info,
      options: { ...DEFAULT_OPTIONS, observations: 'real' },
    });
    try {
      const execute = executePort(await executor.open());
      await drive(session, { policy, render: createRenderer(policy), execute }, toTheEnd);
    } finally {
      await executor.close();
    }
    const { observation } = session.state.turns[0]!.calls[0]!;
    assert.equal(observation!.source, 'real');
    assert.equal((observation!.value as { status: string }).status, 'shipped');
  });
});
