import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import type { Adam, LossRequest } from '../../../../src/core/grpo/learner';
import { LearnerError } from '../../../../src/node/learners/errors';
import { checkpointModel, type TinkerLearner, TinkerSession } from '../../../../src/node/learners/tinker';
import { type StartedEngine, startEngine } from '../../support/engine';
import { ROOT, temporary } from '../../support/server';

const NOVICE = path.join(ROOT, 'server/nano/models/nano-novice');
const ADAM: Adam = { learningRate: 1e-3, gradientClip: 1 };

interface Completion {
  choices: {
    token_ids: number[];
    logprobs: { content: { id: number; logprob: number | null }[] };
  }[];
}
interface Models {
  data: { id: string; parent: string | null }[];
}

/** What a training run asks of the engine, on the model that the product ships. */
describe('training nano-novice on our engine', function () {
  this.timeout(180_000);
  const folder = temporary('runs');
  let engine: StartedEngine;
  let session: TinkerSession;
  let prompt: number[];

  const start = async () => {
    engine = await startEngine({ novice: NOVICE }, '--deterministic', '--checkpoints', folder);
    session = await TinkerSession.open({ baseUrl: engine.baseUrl });
  };
  before(async () => {
    await start();
    const messages = [{ role: 'user', content: 'Cancel my order #W1234567.' }];
    prompt = (await engine.post<{ tokens: number[] }>('/tokenize', { messages })).tokens;
  });
  after(async () => {
    await session?.close();
    await engine?.kill();
  });

  /** A group of rollouts, and what a learner is sent for them: the first is rewarded, the last is punished. */
  const rollouts = async (model: string, seed: number) => {
    const answer = await engine.post<Completion>('/v1/completions', {
      model,
      prompt,
      n: 4,
      max_tokens: 24,
      seed,
      temperature: 1,
      logprobs: 0,
      return_token_ids: true,
    });
    return answer.choices.map(({ token_ids, logprobs }, i) => {
      const ids = [...prompt, ...token_ids];
      const before = new Array<number>(prompt.length - 1).fill(0);
      return {
        input: ids.slice(0, -1),
        target: ids.slice(1),
        logprobs: [...before, ...logprobs.content.map(({ logprob }) => logprob ?? 0)],
        advantages: [...before, ...token_ids.map(() => (i - 1.5) / 100)],
      };
    });
  };
  const step = async (learner: TinkerLearner, model: string, seed: number, loss: 'ppo' | 'cispo' = 'ppo') => {
    const data = await rollouts(model, seed);
    const { metrics } = await learner.forwardBackward({ loss, data });
    await learner.optimStep(ADAM);
    assert.equal(await learner.toSampler(), model);
    return metrics;
  };
  const score = async (model: string, ids: readonly number[]) => {
    const body = { model, prompt: ids, max_tokens: 0, echo: true, logprobs: 0 };
    const [choice] = (await engine.post<Completion>('/v1/completions', body)).choices;
    return choice!.logprobs.content.slice(1).map(({ logprob }) => logprob!);
  };
  const names = async () => (await engine.get<Models>('/v1/models')).data.map(({ id }) => id);

  for (const [kind, lora] of [
    ['every weight', null],
    ['an adapter', { rank: 8, seed: 1 }],
  ] as const) {
    it(`trains ${kind}: what is sampled is what is learned, and the sampler has new weights after each step`, async () => {
      const run = lora ? 'lora' : 'full';
      const learner = await session.create('novice', lora, { run });
      const model = await learner.toSampler();
      assert.equal(model, `${run}/now`);
      const base = await score('novice', prompt);
      assert.deepEqual(await score(model, prompt), base); // nothing is learned yet
      for (const seed of [1, 2]) {
        const metrics = await step(learner, model, seed);
        const apart = metrics['logprob_difference:sum']! / metrics['trained_tokens:sum']!;
        assert.ok(apart < 1e-4, `sampler and learner differ by ${apart} nats`);
      }
      const learned = await score(model, prompt); // the prompt is cached under the weights before
      const weights = prompt.slice(1).map(() => 1);
      const supervised: LossRequest = {
        loss: 'cross_entropy',
        forwardOnly: true,
        data: [{ input: prompt.slice(0, -1), target: prompt.slice(1), weights }],
      };
      const own = (await learner.forwardBackward(supervised)).logprobs[0]!;
      own.forEach((value, i) => {
        assert.ok(Math.abs(value - learned[i]!) < 1e-4);
      });
      assert.notDeepEqual(learned, base);
      assert.deepEqual(await score('novice', prompt), base);
    });
  }

  it('takes each of the losses', async () => {
    const learner = await session.create('novice', null, { run: 'losses' });
    const data = await rollouts(await learner.toSampler(), 5);
    const policy = ['importance_sampling', 'ppo', 'cispo'] as const;
    for (const loss of policy) await learner.forwardBackward({ loss, data });
    await learner.forwardBackward({
      loss: 'cross_entropy',
      data: data.map((d) => ({ ...d, weights: d.advantages })),
    });
    const { 'grad_norm:mean': norm } = await learner.optimStep(ADAM);
    assert.ok(norm! > 0);
  });

  it('has a model for each role of a run', async () => {
    const learners = await Promise.all(
      ['act', 'rehearse'].map((adapter) =>
        session.create('novice', { rank: 4, seed: 1 }, { run: 'roles', adapter }),
      ),
    );
    const models = await Promise.all(learners.map((learner) => learner.toSampler()));
    assert.deepEqual(models, ['roles/now.act', 'roles/now.rehearse']);
    await step(learners[0]!, models[0]!, 3, 'cispo');
    assert.deepEqual(await score(models[1]!, prompt), await score('novice', prompt));
    assert.notDeepEqual(await score(models[0]!, prompt), await score(models[1]!, prompt));
    assert.equal(await learners[1]!.save('step-1'), 'tinker://roles/weights/step-1.rehearse');
    assert.ok((await names()).includes('roles/step-1.rehearse'));
  });

  it('offers checkpoints as models, and ends killed runs in the same bits', async () => {
    const owner = { run: 'resumed' };
    const learner = await session.create('novice', { rank: 8, seed: 1 }, owner);
    const now = await learner.toSampler();
    await step(learner, now, 1);
    const address = await learner.save('step-1');
    const saved = checkpointModel(owner, 'step-1');
    const atOne = await score(now, prompt);
    await step(learner, now, 2);
    await step(learner, now, 3);
    const straight = await score(now, prompt);
    assert.deepEqual(await score(saved, prompt), atOne);
    assert.ok(fs.existsSync(path.join(folder, 'resumed/checkpoints/step-1/adapter_model.safetensors')));

    await engine.kill();
    await start();
    const listed = (await engine.get<Models>('/v1/models')).data.find(({ id }) => id === saved);
    assert.equal(listed?.parent, 'novice');
    assert.deepEqual(await score(saved, prompt), atOne);
    const again = await session.resume(address, owner);
    assert.equal(await again.toSampler(), now);
    await step(again, now, 2);
    await step(again, now, 3);
    assert.deepEqual(await score(now, prompt), straight);
  });

  it('keeps the weights where a loss is no number, and says so', async () => {
    const learner = await session.create('novice', null, { run: 'broken' });
    const model = await learner.toSampler();
    const data = (await rollouts(model, 1)).map((d) => ({ ...d, logprobs: d.logprobs.map(() => -1e4) }));
    const before = await score(model, prompt);
    const spoiled = (error: unknown) => error instanceof LearnerError && error.code === 'not_finite';
    await assert.rejects(learner.forwardBackward({ loss: 'importance_sampling', data }), spoiled);
    await assert.rejects(learner.optimStep(ADAM), spoiled);
    await learner.toSampler();
    assert.deepEqual(await score(model, prompt), before);
    await step(learner, model, 2);
    assert.notDeepEqual(await score(model, prompt), before);
  });

  it('says which checkpoint is damaged, and what is lost when the engine was started again', async () => {
    const learner = await session.create('novice', { rank: 4, seed: 1 }, { run: 'damaged' });
    await learner.save('step-1');
    const address = await learner.save('step-2');
    fs.truncateSync(path.join(folder, 'damaged/checkpoints/step-2/optimizer.pt'), 100);
    const code = (wanted: string) => (error: unknown) =>
      error instanceof LearnerError && error.code === wanted;
    await assert.rejects(session.resume(address), code('damaged'));
    await session.resume(address.replace('step-2', 'step-1'));
    await assert.rejects(session.resume('tinker://damaged/weights/step-3'), code('not_found'));

    // The address stays, as it does behind the runner.
    const moving = (url: string | URL | Request, init?: RequestInit) => {
      const target = new URL(String(url));
      target.port = new URL(engine.baseUrl).port;
      return fetch(target, init);
    };
    const before = await TinkerSession.open({ baseUrl: engine.baseUrl, fetch: moving });
    const left = await before.create('novice', { rank: 4, seed: 1 });
    await engine.kill();
    await start();
    await assert.rejects(left.optimStep(ADAM), code('lost'));
    await assert.rejects(before.create('novice', { rank: 4 }), code('lost'));
  });

  it('offers nothing that is not a checkpoint', async () => {
    for (const model of [
      'resumed/../resumed/step-1',
      '../runs/x',
      'resumed/.step-1.abc',
      'resumed/none',
      '/etc/passwd',
    ]) {
      await assert.rejects(score(model, prompt), /404.*does not exist/);
    }
  });
});
