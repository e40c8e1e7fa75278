import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import type { LossRequest, LossResult } from '../../../../src/core/grpo/learner';
import { backendOf, type Scratch, scaled } from '../../../../src/node/learners/backend';
import { TinkerHttp } from '../../../../src/node/learners/http';
import { decodeResult, decodeSamples, encodeRequest } from '../../../../src/node/learners/proto';

const FIXTURE = path.join(import.meta.dirname, '../../../fixtures/tinker/skyrl-0.4.0.jsonl');

interface Exchange {
  request: { path: string; body: { base64?: string; json?: Record<string, unknown> } | null };
  response: { body: { base64?: string; json?: Record<string, unknown> } | null };
}
const exchanges = fs
  .readFileSync(FIXTURE, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Exchange);
const bytesOf = (text?: string) => new Uint8Array(Buffer.from(text!, 'base64'));

const nothing = new TinkerHttp({
  baseUrl: 'http://127.0.0.1:1',
  fetch: async () => new Response('{}', { status: 404 }),
});

/** A model of one weight: the log-probability of each trained token is it, so the gradient is countable. */
function model(reduction: 'sum' | 'mean', clips: boolean, tells: boolean): Scratch {
  let weight = 0;
  let gradient = 0;
  let samples = 0;
  return {
    async forwardBackward({ data, forwardOnly }: LossRequest): Promise<LossResult> {
      for (const datum of data) {
        const weights = 'weights' in datum ? datum.weights : [];
        const sum = weights.reduce((total, value) => total + value, 0);
        if (!forwardOnly) gradient += reduction === 'sum' ? sum : 1;
        if (!forwardOnly) samples++;
      }
      const logprobs = data.map(({ input }) => input.map(() => weight));
      return { logprobs, metrics: tells ? { 'loss:sum': -weight } : {} };
    },
    async optimStep({ learningRate, epsilon = 1e-12, gradientClip = 0 }) {
      const whole = reduction === 'sum' ? gradient : gradient / samples;
      const used = clips && gradientClip ? Math.min(whole, gradientClip) : whole;
      weight += (learningRate * used) / (Math.abs(used) + epsilon);
      gradient = 0;
      samples = 0;
      return { 'some.server/grad_norm': whole };
    },
  };
}

describe('what a learner is like', () => {
  for (const reduction of ['sum', 'mean'] as const) {
    for (const clips of [true, false]) {
      it(`finds out a ${reduction} and ${clips ? '' : 'no '}clipping`, async () => {
        const found = await backendOf(nothing, async () => model(reduction, clips, clips));
        assert.deepEqual(
          [found.reduction, found.clipsGradient, found.tellsMetrics],
          [reduction, clips, clips],
        );
        assert.equal(found.lacks.length, clips ? 1 : 3);
      });
    }
  }

  it('learns nowhere where it cannot be found out', async () => {
    const silent = { ...model('sum', true, true), optimStep: async () => ({}) };
    await assert.rejects(
      backendOf(nothing, async () => silent),
      /could not be found out: it tells no gradient norm/,
    );
  });

  it('makes a mean over masked tokens and samples the sum that was asked for', () => {
    const row = fc
      .array(fc.oneof(fc.constant(0), fc.double({ min: -2, max: 2, noNaN: true })), {
        minLength: 1,
        maxLength: 9,
      })
      .map((advantages) => ({
        input: advantages.map(() => 1),
        target: advantages.map(() => 2),
        logprobs: advantages.map(() => -1),
        advantages,
      }));
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 6 }), (data) => {
        const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
        const asked = sum(data.map(({ advantages }) => sum(advantages)));
        const sent = scaled(data, data.length);
        const means = sent.map((d) => sum(d.advantages!.map((a, i) => a * d.weights![i]!)) / sum(d.weights!));
        assert.ok(Math.abs(sum(means) / data.length - asked) < 1e-9);
      }),
    );
  });
});

describe('what SkyRL 0.4.0 was sent and answered', () => {
  const sent = exchanges.filter(
    ({ request }) => request.path.endsWith('forward_backward') && request.body?.base64,
  );
  const ids = [5, 9, 30, 31, 32, 40, 41, 7];

  it('is sent by us byte for byte as by the official client', () => {
    const bytes = encodeRequest(
      { model: 'model_e425bfc0', seq: 1 },
      {
        loss: 'cross_entropy',
        forwardOnly: true,
        data: [{ input: ids.slice(0, -1), target: ids.slice(1), weights: [0, 0, 0, 1, 1, 1, 1] }],
      },
    );
    assert.equal(Buffer.from(bytes).toString('base64'), sent[0]!.request.body!.base64);
  });

  it('is read: log-probabilities of samples, and sequences', () => {
    const messages = exchanges.flatMap(({ request, response }) =>
      request.path.endsWith('retrieve_future') && response.body?.base64
        ? [bytesOf(response.body.base64)]
        : [],
    );
    const learned = decodeResult(messages[0]!);
    assert.equal(learned.logprobs[0]!.length, 7);
    assert.ok(learned.logprobs[0]!.every((value) => value < -4 && value > -8));
    assert.deepEqual(learned.metrics, {});
    assert.equal(decodeResult(messages[1]!).logprobs.length, 2);
    const at = exchanges.findIndex(({ request }) => request.path.endsWith('asample'));
    const asked = exchanges[at]!.request.body!.json!;
    const answer = exchanges.slice(at).find(({ request }) => request.path.endsWith('retrieve_future'))!;
    const samples = decodeSamples(bytesOf(answer.response.body!.base64));
    assert.equal(samples.length, asked.num_samples);
    assert.ok(
      samples.every(({ tokens, logprobs }) => tokens.length === logprobs.length && tokens.length <= 6),
    );
  });
});
