/** Many rollouts at once: seeds, session files, and what happens to the others when one fails. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Task } from '../../../src/core/environment/types';
import { DEFAULT_OPTIONS } from '../../../src/core/rehearsal/options';
import {
  attemptSeed,
  planRollouts,
  type RolloutOptions,
  type RolloutResult,
  runRollouts,
} from '../../../src/node/rollouts';
import { loadSession } from '../../../src/node/sessions/file';
import { type MemoryPolicy, memoryPolicy } from '../support/memory-policy';
import { setup } from '../support/shop';

const { environment } = setup();
const task = (id: string): Task => ({
  id,
  instruction: `Do ${id}.`,
  user: [],
  checks: [{ kind: 'answer', contains: 'done' }],
});

describe('many rollouts', () => {
  let folder: string;
  beforeEach(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'rehearsal-rollouts-'));
  });
  afterEach(() => fs.rmSync(folder, { recursive: true, force: true }));

  async function run(
    policy: MemoryPolicy,
    attempts: number,
    more: Partial<RolloutOptions> = {},
  ): Promise<RolloutResult[]> {
    const results: RolloutResult[] = [];
    const requests = planRollouts(environment, [task('a'), task('b')], attempts);
    const { seed, alternatives, temperature, topP, topK, minP } = { ...DEFAULT_OPTIONS, seed: 7 };
    await runRollouts(requests, {
      policy,
      sampling: { seed, alternatives, temperature, topP, topK, minP },
      folder,
      concurrency: 3,
      onEnd: (result) => void results.push(result),
      ...more,
    });
    return results;
  }

  it('give each attempt its own seed, the first the seed itself, and a session that can be read back', async () => {
    const results = await run(memoryPolicy({ act: ['It is done.'] }), 3);
    assert.equal(results.length, 6);
    const seeds = new Set(results.map(({ seed }) => seed));
    assert.deepEqual(seeds, new Set([7, attemptSeed(7, 1), attemptSeed(7, 2)]));
    assert.equal(seeds.size, 3);
    for (const { session, task: done, reward } of results) {
      assert.equal(reward.value, 1);
      const { header, session: stored } = loadSession(session!);
      assert.equal(header.setup.task.id, done.id);
      assert.equal(stored.tip.state.position.kind, 'done');
    }
    assert.equal(new Set(results.map(({ session }) => session)).size, 6);
  });

  it('end only the one that fails, without a score', async () => {
    const policy = memoryPolicy({ act: ['It is done.'] });
    let failures = 0;
    const failing: MemoryPolicy = {
      ...policy,
      async *sample(request, signal) {
        if (failures++ === 0) throw new Error('the server died');
        yield* policy.sample(request, signal);
      },
    };
    const results = await run(failing, 2);
    const unscored = results.filter(({ reward }) => reward.value === null);
    assert.equal(results.length, 4);
    assert.equal(unscored.length, 1);
    assert.match(String(unscored[0]!.error), /the server died/);
    assert.equal(results.filter(({ reward }) => reward.success).length, 3);
  });

  it('run no more at once than allowed', async () => {
    let running = 0;
    let most = 0;
    await run(memoryPolicy({ act: ['It is done.'] }), 4, {
      concurrency: 2,
      onStart: () => {
        running++;
        most = Math.max(most, running);
      },
      onEnd: () => void running--,
    });
    assert.equal(most, 2);
  });

  it('start no further one after they were cancelled', async () => {
    const abort = new AbortController();
    const ended: RolloutResult[] = [];
    await run(memoryPolicy({ act: ['It is done.'] }), 4, {
      concurrency: 1,
      signal: abort.signal,
      onEnd: (result) => {
        ended.push(result);
        abort.abort();
      },
    });
    assert.equal(ended.length, 1);
  });

  it('say why, where no session can be written', async () => {
    const file = path.join(folder, 'file');
    fs.writeFileSync(file, '');
    const [first] = await run(memoryPolicy({ act: ['It is done.'] }), 1, {
      folder: path.join(file, 'sessions'),
    });
    assert.equal(first!.reward.value, null);
    assert.equal(first!.session, null);
    assert.match(String(first!.error), /cannot be saved/);
  });

  it('leave one unscored whose check does not come to an end, and go on', async () => {
    const tasks: Task[] = [
      { ...task('a'), checks: [{ kind: 'answer', pattern: '^(a+)+$' }] },
      { ...task('b'), checks: [{ kind: 'answer', pattern: 'a!$' }] },
    ];
    const results: RolloutResult[] = [];
    const { seed, alternatives, temperature, topP, topK, minP } = DEFAULT_OPTIONS;
    await runRollouts(planRollouts(environment, tasks, 1), {
      policy: memoryPolicy({ act: [`${'a'.repeat(60)}!`] }),
      sampling: { seed, alternatives, temperature, topP, topK, minP },
      concurrency: 2,
      onEnd: (result) => void results.push(result),
    });
    const [hangs, ends] = ['a', 'b'].map((id) => results.find((one) => one.task.id === id)!);
    assert.equal(hangs!.reward.value, null);
    assert.match(hangs!.reward.checks[0]!.reason, /took longer than 3 s/);
    assert.equal(ends!.reward.value, 1);
  });
});
