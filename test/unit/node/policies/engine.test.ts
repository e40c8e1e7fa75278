/** The policy on the real runner and engine. */
import assert from 'node:assert/strict';
import type { Policy, SampledToken, SampleRequest } from '../../../../src/core/policy';
import { NodeError } from '../../../../src/node/errors';
import { connectPolicy } from '../../../../src/node/policies/connect';
import { listModels } from '../../../../src/node/policies/models';
import { sharedServer } from '../../support/server';

const SETTINGS = { temperature: 1, topP: 1, topK: -1, minP: 0, alternatives: 5, priority: 0, seed: 3 };

async function all(tokens: AsyncIterable<SampledToken>): Promise<SampledToken[]> {
  const list: SampledToken[] = [];
  for await (const token of tokens) list.push(token);
  return list;
}

describe('a policy on our engine', function () {
  this.timeout(120_000);
  let policy: Policy;
  let prompt: number[];
  let server: Awaited<ReturnType<typeof sharedServer>>;
  const request = (change: Partial<SampleRequest> = {}): SampleRequest => ({
    prompt,
    maxTokens: 12,
    ...SETTINGS,
    ...change,
  });

  before(async () => {
    server = await sharedServer();
    policy = await connectPolicy({ baseUrl: server.url, apiKey: server.token });
    prompt = await policy.render({ messages: [{ role: 'user', content: 'hi' }], generationPrompt: true });
  });

  async function computedTokens(): Promise<number> {
    const answer = await fetch(`${server.url}/metrics`, {
      headers: { authorization: `Bearer ${server.token}` },
    });
    return Number(/^rehearsal_computed_tokens_total (\d+)/m.exec(await answer.text())![1]);
  }

  it('knows the model, its context, its end tokens and its template', async () => {
    // Checkpoints of runs that other tests trained on this server come behind.
    assert.equal((await listModels(server.url, server.token))[0], 'tiny');
    const { model, tier, contextLength, endIds, dialect, templateShowsTools } = policy.info;
    assert.deepEqual(
      { model, tier, contextLength, dialect, templateShowsTools },
      {
        model: 'tiny',
        tier: 'token-exact',
        contextLength: 4096,
        dialect: 'hermes',
        templateShowsTools: true,
      },
    );
    assert.equal(await policy.decode(endIds), '<|im_end|>');
  });

  it('renders and decodes', async () => {
    assert.equal(await policy.decode(prompt), '<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n');
  });

  it('gives tokens with their probabilities, entropy, rank and alternatives', async () => {
    const tokens = await all(policy.sample(request()));
    assert.equal(tokens.length, 12);
    for (const token of tokens) {
      assert.ok(token.logprob! < 0 && token.entropy! > 0 && token.rank! >= 1);
      assert.equal(token.alternatives.length, 5);
      const probabilities = token.alternatives.map((other) => other.logprob);
      assert.deepEqual(
        probabilities,
        [...probabilities].sort((a, b) => b - a),
      );
      if (token.rank! <= 5) assert.equal(token.alternatives[token.rank! - 1]!.id, token.id);
    }
    assert.equal(tokens.at(-1)!.end, 'length');
    assert.ok(tokens.slice(0, -1).every((token) => token.end === undefined));
  });

  it('scores a text as likely as it was when it was sampled', async () => {
    const tokens = await all(policy.sample(request()));
    const ids = tokens.map(({ id }) => id);
    assert.equal(policy.info.canScore, true);
    const scored = await policy.score!({ prompt, ids, priority: 1 });
    assert.deepEqual(
      scored.map(({ id, bytes }) => [id, bytes]),
      tokens.map(({ id, bytes }) => [id, bytes]),
    );
    for (const [index, { logprob }] of scored.entries())
      assert.ok(Math.abs(logprob! - tokens[index]!.logprob!) < 1e-3);
    const again = await policy.encode!('{"order_id": "#W1", "note": "é"}');
    const spelt = await policy.score!({ prompt, ids: again, priority: 1 });
    assert.equal(
      Buffer.from(spelt.flatMap(({ bytes }) => bytes)).toString(),
      '{"order_id": "#W1", "note": "é"}',
    );
  });

  it('samples n tokens one by one as it does at once, and others with another seed', async () => {
    const whole = (await all(policy.sample(request()))).map((token) => token.id);
    const steps: number[] = [];
    while (steps.length < whole.length) {
      const [token] = await all(policy.sample(request({ prompt: [...prompt, ...steps], maxTokens: 1 })));
      steps.push(token!.id);
    }
    assert.deepEqual(steps, whole);
    const other = (await all(policy.sample(request({ seed: 4 })))).map((token) => token.id);
    assert.notDeepEqual(other, whole);
  });

  it('gives a rollout the same tokens, many at a time', async () => {
    const asked = request({ maxTokens: 150, temperature: 0.7 });
    const watched = await all(policy.sample(asked));
    const unwatched = await all(policy.sample({ ...asked, unwatched: true }));
    const told = (tokens: SampledToken[]) =>
      tokens.map(({ id, bytes, rank, end, alternatives }) => [
        id,
        bytes,
        rank,
        end,
        alternatives.map((a) => a.id),
      ]);
    assert.ok(watched.length > 64 || watched.at(-1)!.end === 'stop');
    assert.deepEqual(told(unwatched), told(watched));
  });

  it('stops the engine when a rollout is aborted', async () => {
    const abort = new AbortController();
    const before = await computedTokens();
    const rollout = all(policy.sample(request({ maxTokens: 3000, unwatched: true }), abort.signal));
    while ((await computedTokens()) === before) await new Promise((resolve) => setTimeout(resolve, 5));
    abort.abort();
    assert.ok((await rollout).length < 3000);
    await settled();
  });

  it('stops the engine at once when it is aborted, and ends quietly', async () => {
    const abort = new AbortController();
    let count = 0;
    for await (const _ of policy.sample(request({ maxTokens: 3000 }), abort.signal))
      if (++count === 3) abort.abort();
    assert.equal(count, 3);
    await settled();
  });

  it('stops the engine when the loop is left', async () => {
    for await (const _ of policy.sample(request({ maxTokens: 3000 }))) break;
    await settled();
  });

  /** The engine computes nothing any more: two readings a while apart are equal. */
  async function settled(): Promise<void> {
    let before = await computedTokens();
    for (let tries = 0; tries < 50; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      const now = await computedTokens();
      if (now === before) return;
      before = now;
    }
    assert.fail('the engine goes on');
  }

  it('gives nothing for a signal that is aborted already', async () => {
    assert.deepEqual(await all(policy.sample(request(), AbortSignal.abort())), []);
  });

  const refusals: [string, () => Promise<unknown>, string, RegExp][] = [
    [
      'a wrong token',
      () => connectPolicy({ baseUrl: server.url, apiKey: 'wrong' }),
      'server-unauthorized',
      /does not accept the token/,
    ],
    [
      'an unknown model',
      () => connectPolicy({ baseUrl: server.url, apiKey: server.token, model: 'x' }),
      'model-unknown',
      /no model called x/,
    ],
    [
      'a context that is too long',
      () => all(policy.sample(request({ prompt: new Array(5000).fill(5) }))),
      'context-too-long',
      /5000 tokens.*4096/,
    ],
    [
      'a text that is too long to score',
      () => policy.score!({ prompt, ids: new Array(5000).fill(5), priority: 1 }),
      'context-too-long',
      /50\d\d tokens.*4096/,
    ],
  ];
  for (const [what, ask, code, message] of refusals) {
    it(`says what to do about ${what}`, async () => {
      await assert.rejects(ask, (error: NodeError) => {
        assert.ok(error instanceof NodeError);
        assert.equal(error.code, code);
        assert.match(error.message, message);
        assert.ok(error.next.length > 0);
        return true;
      });
    });
  }
});
