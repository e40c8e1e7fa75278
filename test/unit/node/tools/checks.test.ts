import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import path from 'node:path';
import { DEFAULT_OPTIONS } from '../../../../src/core/rehearsal/options';
import type { Check } from '../../../../src/core/reward/types';
import { usableEnvironment } from '../../../../src/node/environments';
import { type RolloutResult, runRollouts } from '../../../../src/node/rollouts';
import { createExecutor } from '../../../../src/node/tools';
import { memoryPolicy } from '../../support/memory-policy';
import { children, ROOT, scratch, until } from './support';

const SHOP = path.join(ROOT, 'examples/shop');
const call = (name: string, args: object) =>
  `<tool_call>\n${JSON.stringify({ name, arguments: args })}\n</tool_call>`;

/** A rollout with real tools that cancels an order, and these checks. */
async function rollout(checks: Check[], script: string, allowed = true): Promise<RolloutResult> {
  const folder = await scratch({ after: (f) => after(f as () => Promise<void>) });
  await fs.writeFile(path.join(folder, 'check.mjs'), script);
  const environment = await usableEnvironment(path.join(SHOP, 'shop.rehearsal.json'));
  const executor = createExecutor({ environment, folder: SHOP });
  const policy = memoryPolicy({ act: [call('cancel_order', { order_id: '#W4284542' }), 'Cancelled.'] });
  const results: RolloutResult[] = [];
  try {
    await runRollouts([{ environment, task: { ...environment.tasks[0]!, checks }, attempt: 0 }], {
      policy,
      executor,
      checks: {
        folder,
        gate: async () => {
          if (!allowed) throw new Error('You said no.');
        },
      },
      sampling: { ...DEFAULT_OPTIONS },
      folder: path.join(folder, 'sessions'),
      concurrency: 1,
      onEnd: (result) => void results.push(result),
    });
  } finally {
    await executor.close();
  }
  return results[0]!;
}

const command: Check = { kind: 'command', command: [process.execPath, 'check.mjs'], timeoutSeconds: 10 };
const READ =
  "let text = ''; for await (const part of process.stdin) text += part; const input = JSON.parse(text);";

describe('checks of a real execution', () => {
  it('see the final state, and ask a program', async () => {
    const script = `${READ} console.log('looking'); console.log(JSON.stringify({
      holds: input.state.orders['#W4284542'].status === 'cancelled' && input.answer === 'Cancelled.' && input.calls[0].tool === 'cancel_order',
      reason: 'as it should be' }));`;
    const { reward } = await rollout(
      [{ kind: 'state', path: "$.orders['#W4284542'].status", equals: 'cancelled' }, command],
      script,
    );
    assert.deepEqual(
      reward.checks.map(({ verdict, reason }) => [verdict, reason]),
      [
        ['holds', "The final state at $.orders['#W4284542'].status is as expected."],
        ['holds', 'as it should be'],
      ],
    );
    assert.equal(reward.value, 1);
  });

  for (const [what, script, reason] of [
    ['says nothing', '', /ended before it answered/],
    ['says something else', 'console.log("fine")', /no \{"holds"/],
    ['exits with an error', 'throw new Error("broken check")', /exit code 1/],
  ] as const) {
    it(`are unscored where the program ${what}`, async () => {
      const { reward } = await rollout([command], script);
      assert.equal(reward.checks[0]!.verdict, 'unscored');
      assert.match(reward.checks[0]!.reason, reason);
      assert.equal(reward.value, null);
    });
  }

  it('are unscored where the program hangs or may not run, and no process is left', async () => {
    const hangs = await rollout([{ ...command, timeoutSeconds: 1 } as Check], 'setInterval(() => {}, 1000)');
    assert.match(hangs.reward.checks[0]!.reason, /within 1 s/);
    await until(() => !children().some((line) => line.includes('check.mjs')));
    const refused = await rollout([command], '', false);
    assert.match(refused.reward.checks[0]!.reason, /You said no/);
  });
});
