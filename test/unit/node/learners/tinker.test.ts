import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import type { Datum } from '../../../../src/core/grpo/batch';
import type { Policy, SampledToken } from '../../../../src/core/policy';
import { type TinkerLearner, TinkerSession } from '../../../../src/node/learners/tinker';
import { connectPolicy } from '../../../../src/node/policies/connect';
import { PYTHON, ROOT, tinyModel } from '../../support/server';

const IDS = [5, 9, 30, 31, 32, 40, 41, 7];
const datum = (logprobs: number[], advantage: number, ids = IDS): Datum => ({
  input: ids.slice(0, -1),
  target: ids.slice(1),
  logprobs,
  advantages: logprobs.map((_, i) => (i < 3 ? 0 : advantage)),
});
const supervised = {
  loss: 'cross_entropy',
  data: [{ ...datum([], 0), weights: IDS.slice(1).map(() => 1) }],
} as const;
const PLAIN = { temperature: 1, topP: 1, topK: -1, minP: 0 };
const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);

describe('learner over the Tinker protocol', function () {
  this.timeout(120_000);
  let engine: ChildProcess;
  let session: TinkerSession;
  let baseUrl: string;
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'rehearsal-learner-'));

  before(async () => {
    const args = ['-m', 'rehearsal_engine', '--model', `tiny=${await tinyModel()}`, '--device', 'cpu'];
    engine = spawn(PYTHON, [...args, '--port', '0', '--checkpoints', folder, '--exit-with-parent'], {
      cwd: path.join(ROOT, 'server/engine'),
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    for await (const line of readline.createInterface({ input: engine.stdout! })) {
      const event = JSON.parse(line);
      if (event.event === 'ready') {
        baseUrl = `http://127.0.0.1:${event.port}`;
        break;
      }
    }
    session = await TinkerSession.open({ baseUrl });
  });

  after(async () => {
    await session?.close();
    engine?.kill();
    fs.rmSync(folder, { recursive: true, force: true });
  });

  const start = () => session.create('tiny', { rank: 4, seed: 1 });
  const scores = async (learner: TinkerLearner) =>
    (await learner.forwardBackward({ ...supervised, forwardOnly: true })).logprobs[0]!;

  it('names the models that the server trains', () => {
    assert.deepEqual(session.offered, ['tiny']);
  });

  it('makes rewarded tokens likelier and punished ones less so', async () => {
    for (const advantage of [1, -1]) {
      const learner = await start();
      const old = await scores(learner);
      const { metrics } = await learner.forwardBackward({ loss: 'ppo', data: [datum(old, advantage)] });
      assert.ok(Math.abs(metrics['logprob_difference:sum']!) < 1e-3); // what was sampled is what is learned
      await learner.optimStep({ learningRate: 1e-3 });
      const change = total((await scores(learner)).slice(3)) - total(old.slice(3));
      assert.equal(Math.sign(change), advantage);
    }
  });

  it('computes what samples share once, and sums over all of them', async () => {
    const learner = await start();
    const old = await scores(learner);
    const data = [10, 11, 12].map((last) => datum(old, 1, [...IDS.slice(0, -1), last]));
    const { logprobs, metrics } = await learner.forwardBackward({ loss: 'importance_sampling', data });
    assert.deepEqual([metrics['nodes:sum'], metrics['tokens:sum']], [7, 21]);
    assert.equal(logprobs.length, 3);
    const terms = logprobs.flatMap((row) => row.slice(3).map((lp, i) => Math.exp(lp - old[i + 3]!)));
    assert.ok(Math.abs(metrics['loss:sum']! + total(terms)) < 1e-3);
  });

  it('continues a saved run as if it had not stopped', async () => {
    const learner = await start();
    const step = async (one: TinkerLearner) => {
      await one.forwardBackward(supervised);
      await one.optimStep({ learningRate: 1e-2, gradientClip: 1 });
    };
    await step(learner);
    const address = await learner.save('one');
    await step(learner);
    const resumed = await session.resume(address);
    await step(resumed);
    const [straight, again] = [await scores(learner), await scores(resumed)];
    for (const [i, value] of straight.entries()) assert.ok(Math.abs(value - again[i]!) < 1e-5);
  });

  it('hands weights to the sampler, which knows them by name', async () => {
    const learner = await start();
    await learner.forwardBackward(supervised);
    await learner.optimStep({ learningRate: 1e-2 });
    const model = await learner.toSampler();
    const response = await fetch(`${baseUrl}/v1/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model, prompt: IDS, max_tokens: 0, echo: true, logprobs: 1 }),
    });
    const scored = (
      (await response.json()) as { choices: { logprobs: { content: { logprob: number }[] } }[] }
    ).choices[0]!;
    const learned = await scores(learner);
    for (const [i, value] of learned.entries()) {
      assert.ok(Math.abs(value - scored.logprobs.content[i + 1]!.logprob) < 1e-4);
    }
  });

  it('samples where it learns, as the OpenAI routes do', async () => {
    const like = await connectPolicy({ baseUrl, model: 'tiny' });
    const learner = await start();
    await learner.forwardBackward(supervised);
    await learner.optimStep({ learningRate: 1e-2 });
    const name = await learner.toSampler();
    const request = { prompt: IDS, maxTokens: 12, alternatives: 0, priority: 1, ...PLAIN };
    const drawn = async (policy: Policy, seed: number) => {
      const tokens: SampledToken[] = [];
      for await (const token of policy.sample({ ...request, seed })) tokens.push(token);
      return tokens;
    };
    const [one, other] = [
      await drawn(session.policy(name, like), 6), // seeds of the protocol have one bit less
      await drawn(await connectPolicy({ baseUrl, model: name }), 3),
    ];
    assert.equal(one.length, other.length);
    assert.equal(one.at(-1)!.end, other.at(-1)!.end);
    for (const [i, token] of one.entries()) assert.ok(Math.abs(token.logprob! - other[i]!.logprob!) < 1e-4);
    const bytes = (tokens: SampledToken[]) => Buffer.from(tokens.flatMap((token) => token.bytes)).toString();
    assert.equal(bytes(one), bytes(other));
  });

  it('says what a server refuses, and goes on', async () => {
    const learner = await start();
    await assert.rejects(
      learner.forwardBackward({
        loss: 'ppo',
        data: [
          datum(
            IDS.slice(1).map(() => -1),
            1,
          ),
        ],
        config: { beta: 1 },
      }),
      /cannot do forward_backward: .*beta.*not supported/,
    );
    assert.equal((await scores(learner)).length, 7);
    await assert.rejects(session.create('other', { rank: 4 }), /'other' does not exist/);
    await assert.rejects(session.resume('tinker://none/weights/none'), /no checkpoint/);
  });
});
