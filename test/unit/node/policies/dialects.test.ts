/** Other people's servers: as recorded where the recordings are, and in small fixtures of our own. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import type { Policy, SampledToken } from '../../../../src/core/policy';
import { connectPolicy } from '../../../../src/node/policies/connect';
import { displayText, formOf, readChunk } from '../../../../src/node/policies/dialects';
import { sharedLines } from '../../shared-data';
import { type Answer, type FakeServer, llama, modelServer, vllm } from '../../support/model-server';
import { ROOT } from '../../support/server';

const fixture = (name: string) =>
  fs.readFileSync(path.join(ROOT, 'test/fixtures/model-servers', name), 'utf8');

const VLLM_PROBE = {
  choices: [
    {
      text: ' a',
      token_ids: [20],
      logprobs: { tokens: ['token_id:20'], token_logprobs: [-1], top_logprobs: [{ 'token_id:20': -1 }] },
    },
  ],
  usage: { prompt_tokens: 3 },
};
const LLAMA_PROBE = {
  choices: [
    {
      text: ' a',
      logprobs: { content: [{ id: 20, token: 'a', bytes: [97], logprob: -1, top_logprobs: [] }] },
    },
  ],
  usage: { prompt_tokens: 3 },
};

const REQUEST = {
  prompt: [1, 11, 10],
  maxTokens: 20,
  seed: 7,
  temperature: 0.7,
  topP: 0.9,
  topK: -1,
  minP: 0,
  alternatives: 2,
  priority: 0,
};

async function all(tokens: AsyncIterable<SampledToken>): Promise<SampledToken[]> {
  const list: SampledToken[] = [];
  for await (const token of tokens) list.push(token);
  return list;
}

describe('dialects of model servers', () => {
  let server: FakeServer | null = null;
  afterEach(async () => {
    await server?.close();
    server = null;
  });

  async function connected(kind: typeof vllm, probe: object, stream: Answer): Promise<Policy> {
    server = await modelServer(kind(({ body }) => (body.stream ? stream : probe)));
    return connectPolicy({ baseUrl: `${server.url}/v1/`, apiKey: 'k' });
  }

  it('reads vLLM: ids, texts of alternatives, parts of characters, gaps, end', async () => {
    const policy = await connected(vllm, VLLM_PROBE, fixture('vllm-stream.txt'));
    assert.deepEqual(policy.info.endIds, [2]);
    assert.equal(policy.info.contextLength, 2048);
    const tokens = await all(policy.sample(REQUEST));
    assert.deepEqual(
      tokens.map(({ id, text, logprob, rank, end }) => [id, text, logprob, rank, end]),
      [
        [7042, ' Paris', -0.24, 1, undefined],
        [240, '', -1.5, null, undefined],
        [159, 'é', null, null, undefined],
        [2, '', -0.03, 1, 'stop'],
      ],
    );
    assert.deepEqual(
      tokens[0]!.alternatives.map(({ id, text, logprob }) => [id, text, logprob]),
      [
        [7042, ' Paris', -0.24],
        [260, ' the', -2.8],
      ],
    );
    assert.deepEqual(
      tokens[1]!.alternatives.map(({ id }) => id),
      [260, 28],
      'only as many as were asked for',
    );
    assert.deepEqual(tokens[2]!.alternatives, []);
    assert.equal(tokens[3]!.alternatives[0]!.text, '<|im_end|>', 'an end token can be seen and chosen');
    assert.equal(Buffer.from(tokens.flatMap(({ bytes }) => bytes)).toString(), ' Parisé');
  });

  it('reads llama.cpp: a special token is no end, the end token is', async () => {
    const policy = await connected(llama, LLAMA_PROBE, fixture('llama-stream.txt'));
    assert.deepEqual(policy.info.endIds, [2]);
    const tokens = await all(policy.sample(REQUEST));
    assert.deepEqual(
      tokens.map(({ id, text, end }) => [id, text, end]),
      [
        [7042, ' Paris', undefined],
        [240, '\\xc3', undefined],
        [159, '\\xa9', undefined],
        [5, '<tool_call>', undefined],
        [2, '', 'stop'],
      ],
    );
    assert.equal(Buffer.from(tokens.flatMap(({ bytes }) => bytes)).toString(), ' Parisé<tool_call>');
    assert.equal(tokens[2]!.logprob, null);
  });

  it('counts the limit itself where llama.cpp tells it too late', async () => {
    const policy = await connected(
      llama,
      LLAMA_PROBE,
      fixture('llama-stream.txt')
        .split('\n\n')
        .slice(0, 1)
        .concat('data: {"choices":[{"text":"","finish_reason":"length"}]}', 'data: [DONE]', '')
        .join('\n\n'),
    );
    const tokens = await all(policy.sample({ ...REQUEST, maxTokens: 1 }));
    assert.deepEqual(
      tokens.map(({ id, end }) => [id, end]),
      [[7042, 'length']],
    );
  });

  it('sends every sampling setting, and another seed at each position', async () => {
    const policy = await connected(vllm, VLLM_PROBE, fixture('vllm-stream.txt'));
    await all(policy.sample(REQUEST));
    await all(policy.sample({ ...REQUEST, prompt: [...REQUEST.prompt, 20] }));
    const [first, second] = server!.asked.filter(({ body }) => body.stream).map(({ body }) => body);
    const settings = {
      temperature: 0.7,
      top_p: 0.9,
      top_k: -1,
      min_p: 0,
      presence_penalty: 0,
      frequency_penalty: 0,
      repetition_penalty: 1,
    };
    for (const [name, value] of Object.entries(settings)) assert.equal(first![name], value, name);
    assert.deepEqual(first!.prompt, REQUEST.prompt);
    assert.notEqual(first!.seed, second!.seed);
  });

  it('ends an assistant’s message that llama.cpp would continue', async () => {
    const policy = await connected(llama, LLAMA_PROBE, fixture('llama-stream.txt'));
    const messages = [
      { role: 'user' as const, content: 'a' },
      { role: 'assistant' as const, content: 'b' },
    ];
    const ids = await policy.render({ messages, generationPrompt: false });
    assert.deepEqual(ids.slice(-2), [21, 2]);
  });

  it('scores with vLLM as it was recorded: the id that it samples all the same is no part of the text', async () => {
    const echo = JSON.parse(fixture('vllm-echo.json'));
    const probe = { prompt: [1, 2, 3], tokens: ['token_id:1', 'token_id:2', 'token_id:3'] };
    const probed = { ...echo.choices[0], logprobs: { ...probe, token_logprobs: [null, -1, -2] } };
    server = await modelServer(
      vllm(({ body }) =>
        !body.echo ? VLLM_PROBE : (body.prompt as []).length > 3 ? echo : { choices: [probed] },
      ),
    );
    const policy = await connectPolicy({ baseUrl: server.url });
    assert.equal(policy.info.canScore, true);
    const tokens = await policy.score!({ prompt: [5, 9, 30], ids: [31, 32, 40], priority: 1 });
    assert.deepEqual(
      tokens.map(({ id, logprob }) => [id, logprob]),
      [
        [31, -5.547921180725098],
        [32, -5.521345138549805],
        [40, -5.441824436187744],
      ],
    );
    const { body } = server.asked.findLast(({ path: at }) => at === '/v1/completions')!;
    assert.deepEqual([body.prompt, body.max_tokens], [[5, 9, 30, 31, 32, 40], 0]);
    // An answer about another text is not taken for this one.
    await assert.rejects(
      policy.score!({ prompt: [5, 9, 30], ids: [31, 32, 41], priority: 1 }),
      /cannot score/,
    );
  });

  it('asks vLLM for one score at a time: with an adapter it dies of several', async () => {
    const echo = JSON.parse(fixture('vllm-echo.json'));
    const probe = { prompt: [1, 2, 3], tokens: ['token_id:1', 'token_id:2', 'token_id:3'] };
    const probed = { ...echo.choices[0], logprobs: { ...probe, token_logprobs: [null, -1, -2] } };
    let [now, most, all] = [0, 0, 0];
    server = await modelServer(
      vllm(({ body }) => {
        if (!body.echo) return VLLM_PROBE;
        if ((body.prompt as []).length <= 3) return { choices: [probed] };
        most = Math.max(most, ++now);
        all++;
        return (response) =>
          setImmediate(() => {
            now--;
            if (all === 2) response.writeHead(500).end('{}');
            else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(echo));
          });
      }),
    );
    const policies = await Promise.all([1, 2].map(() => connectPolicy({ baseUrl: server!.url })));
    const asked = { prompt: [5, 9, 30], ids: [31, 32, 40], priority: 1 };
    const ends = await Promise.allSettled([...policies, ...policies].map((policy) => policy.score!(asked)));
    assert.deepEqual(
      ends.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
      'one that fails holds up none',
    );
    assert.equal(most, 1);
  });

  it('says that llama.cpp cannot score: it ignores echo and samples', async () => {
    const echo = JSON.parse(fixture('llama-echo.json'));
    server = await modelServer(llama(({ body }) => (body.echo ? echo : LLAMA_PROBE)));
    const policy = await connectPolicy({ baseUrl: server.url });
    assert.equal(policy.info.canScore, false);
    await assert.rejects(
      policy.score!({ prompt: [1], ids: [11], priority: 1 }),
      (error: Error & { code: string; next: string }) => {
        assert.equal(error.code, 'score-unsupported');
        assert.match(error.message, /^The server at http\S+ cannot score/);
        assert.match(error.next, /vLLM/);
        return true;
      },
    );
  });

  const tiers: [string, (exchange: { body: { [field: string]: unknown } }) => Answer, RegExp][] = [
    [
      'takes text only',
      () => (response) => response.writeHead(400).end('{"detail":"prompt must be a string."}'),
      /text only/,
    ],
    [
      'gives no log-probabilities',
      () => ({ choices: [{ text: 'a', logprobs: null }] }),
      /no log-probabilities/,
    ],
    [
      'gives no ids',
      () => ({ choices: [{ text: 'a', logprobs: { tokens: ['a'], token_logprobs: [-1] } }] }),
      /does not return token ids/,
    ],
    [
      'adds tokens of its own',
      () => ({ ...VLLM_PROBE, usage: { prompt_tokens: 4 } }),
      /4 tokens of a prompt of 3/,
    ],
    [
      'refuses unknown fields and ids',
      ({ body }) =>
        (response) =>
          response
            .writeHead(body.return_token_ids ? 422 : 400)
            .end('{"detail":"Unexpected fields in the request"}'),
      /does not take token ids/,
    ],
  ];
  for (const [what, answer, reason] of tiers) {
    it(`says what a server lacks that ${what}`, async () => {
      server = await modelServer(vllm(answer));
      await assert.rejects(connectPolicy({ baseUrl: server.url }), (error: Error & { code: string }) => {
        assert.equal(error.code, 'tier-unsupported');
        assert.match(error.message, /tier not supported yet/);
        assert.match(error.message, reason);
        return true;
      });
    });
  }

  it('reads what vLLM and llama.cpp were recorded to answer', function () {
    for (const [file, form] of [
      ['vllm-0.32.0-cpu.jsonl', 'legacy'],
      ['llama-server-11549.jsonl', 'content'],
    ] as const) {
      const cases = sharedLines(this, `model-servers/${file}`) as { case: string; body?: string }[];
      const body = (name: string) => cases.find((one) => one.case === name)!.body!;
      const asIds = JSON.parse(body('13-cmpl-tokens_as_ids'));
      assert.deepEqual(formOf(asIds), { form });
      const { tokens, finish } = readChunk(asIds, form);
      assert.deepEqual(
        tokens.map(({ id }) => id),
        [7042, 30],
      );
      assert.deepEqual(
        tokens[0]!.top.slice(0, 3).map(({ id }) => id),
        [7042, 260, 4528],
      );
      assert.equal(finish, 'length');
      const events = body('15-cmpl-stream')
        .split('\n\n')
        .filter((event) => event.startsWith('data: {'));
      const chunks = events.map((event) => readChunk(JSON.parse(event.slice(6)), form));
      assert.deepEqual(
        chunks.flatMap((chunk) => chunk.tokens.map(({ id }) => id)),
        [7042, 30, 198],
      );
      assert.equal(chunks.filter((chunk) => chunk.finish === 'length').length, 1);
    }
  });

  it('says what transformers serve lacks, by its recording', function () {
    const cases = sharedLines(this, 'model-servers/transformers-serve-5.19.0.jsonl') as {
      case: string;
      body: string;
    }[];
    const answer = JSON.parse(cases.find((one) => one.case === 'lp')!.body);
    assert.deepEqual(formOf(answer), { missing: 'it gives no log-probabilities' });
  });

  it('reads anything without an error', () => {
    fc.assert(
      fc.property(fc.anything(), fc.constantFrom('content' as const, 'legacy' as const), (event, form) => {
        formOf(event);
        const { tokens } = readChunk(event, form);
        for (const token of tokens) assert.ok(Number.isInteger(token.id));
      }),
    );
    const loose = fc.oneof(
      fc.integer(),
      fc.string(),
      fc.constant(null),
      fc.double(),
      fc.dictionary(fc.string(), fc.double()),
    );
    const logprobs = fc.record(
      {
        content: fc.anything(),
        tokens: fc.array(loose),
        token_logprobs: fc.array(loose),
        top_logprobs: fc.array(loose),
      },
      { requiredKeys: [] },
    );
    const choice = fc.record(
      { text: loose, token_ids: fc.array(loose), finish_reason: loose, logprobs },
      { requiredKeys: [] },
    );
    fc.assert(fc.property(choice, (one) => void readChunk({ choices: [one] }, 'legacy')));
    fc.assert(fc.property(choice, (one) => void readChunk({ choices: [one] }, 'content')));
  });

  it('shows bytes that are no text as such', () => {
    assert.equal(displayText([0xc3]), '\\xc3');
    assert.equal(displayText([0x61, 0xff, 0xc3, 0xa9, 0xe2, 0x82]), 'a\\xffé\\xe2\\x82');
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) =>
        assert.equal(displayText([...Buffer.from(text)]), text),
      ),
    );
  });
});
