/** Servers that are missing, refuse, hang or die: a clear message with the next step, and nothing lost. */
import assert from 'node:assert/strict';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Policy, SampledToken } from '../../../../src/core/policy';
import { NodeError, StreamDiedError } from '../../../../src/node/errors';
import { connectPolicy } from '../../../../src/node/policies/connect';
import { listModels } from '../../../../src/node/policies/models';
import { type Answer, type FakeServer, json, modelServer, vllm } from '../../support/model-server';

const PROBE = {
  choices: [
    {
      text: ' a',
      token_ids: [20],
      logprobs: { tokens: ['token_id:20'], token_logprobs: [-1], top_logprobs: [{ 'token_id:20': -1 }] },
    },
  ],
};
const TOKEN = `data: ${JSON.stringify({ choices: [{ ...PROBE.choices[0], finish_reason: null }] })}\n\n`;
const REQUEST = {
  prompt: [1],
  maxTokens: 9,
  seed: 0,
  temperature: 1,
  topP: 1,
  topK: -1,
  minP: 0,
  alternatives: 1,
  priority: 0,
};
const EVENTS = { 'content-type': 'text/event-stream' };

describe('a server that fails', () => {
  let server: FakeServer | null = null;
  afterEach(async () => {
    await server?.close();
    server = null;
  });

  async function connected(stream: Answer, stallMs?: number): Promise<Policy> {
    server = await modelServer(vllm(({ body }) => (body.stream ? stream : PROBE)));
    return connectPolicy({ baseUrl: server.url, stallMs });
  }

  async function fails(work: Promise<unknown>, code: string): Promise<NodeError> {
    const error = await work.then(
      () => assert.fail('it succeeded'),
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof NodeError, String(error));
    assert.equal(error.code, code);
    assert.ok(error.message.endsWith('.') && error.next.endsWith('.'), `${error.message} ${error.next}`);
    return error;
  }

  async function sampled(policy: Policy, into: SampledToken[] = []): Promise<SampledToken[]> {
    for await (const token of policy.sample(REQUEST)) into.push(token);
    return into;
  }

  it('is missing', async () => {
    const closed = http.createServer().listen(0);
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    const error = await fails(listModels(`http://127.0.0.1:${port}`), 'server-refused');
    assert.ok(error.message.includes(String(port)));
    assert.equal(error.action?.id, 'startServer');
  });

  it('is no model server', async () => {
    server = await modelServer(() => ({ hello: 1 }));
    await fails(connectPolicy({ baseUrl: server.url }), 'server-odd');
    await server.close();
    server = await modelServer(() => (response) => response.end('<html>'));
    await fails(connectPolicy({ baseUrl: server.url }), 'server-odd');
  });

  it('hangs before the first token', async () => {
    const policy = await connected(() => {}, 200);
    await fails(sampled(policy), 'server-hangs');
  });

  it('hangs after a token, which is kept', async () => {
    const policy = await connected((response) => response.writeHead(200, EVENTS).write(TOKEN), 200);
    const tokens: SampledToken[] = [];
    await fails(sampled(policy, tokens), 'server-hangs');
    assert.equal(tokens.length, 1);
  });

  for (const [how, end] of [
    ['closes the connection', (response: http.ServerResponse) => response.destroy()],
    ['ends the stream', (response: http.ServerResponse) => response.end()],
  ] as const) {
    it(`${how} in mid-stream; what came is kept`, async () => {
      const policy = await connected((response) => {
        response.writeHead(200, EVENTS).write(TOKEN + TOKEN);
        setTimeout(() => end(response), 50);
      });
      const tokens: SampledToken[] = [];
      const error = await fails(sampled(policy, tokens), 'server-died');
      assert.ok(error instanceof StreamDiedError);
      assert.match(error.message, /after 2 tokens/);
      assert.equal(tokens.length, 2);
    });
  }

  it('reports an error within the stream', async () => {
    const policy = await connected(`${TOKEN}data: {"error": {"message": "out of memory"}}\n\n`);
    const error = await fails(sampled(policy), 'server-error');
    assert.match(error.message, /out of memory/);
  });

  it('sends what is no JSON', async () => {
    await fails(sampled(await connected(`${TOKEN}data: {"choices": [\n\n`)), 'server-odd');
  });

  it('sends a line without an end', async () => {
    const policy = await connected(`${TOKEN}data: ${'x'.repeat(6 << 20)}`);
    const tokens: SampledToken[] = [];
    const error = await fails(sampled(policy, tokens), 'server-odd');
    assert.match(error.message, /longer than 4 MiB/);
    assert.equal(tokens.length, 1);
  });

  it('offers no model at all', async () => {
    server = await modelServer(() => ({ object: 'list', data: [] }));
    const error = await fails(connectPolicy({ baseUrl: server.url }), 'model-unknown');
    assert.match(error.message, /offers no model\.$/);
  });

  it('no longer has the model', async () => {
    const body = { error: { message: 'The model `smollm2` does not exist.', code: 404 } };
    await fails(sampled(await connected((response) => json(response, 404, body))), 'model-unknown');
  });

  it('has too short a context, as vLLM and llama.cpp say it', async () => {
    const bodies = [
      {
        error: {
          message:
            "This model's maximum context length is 2048 tokens, your prompt contains at least 2100 input tokens",
          param: 'input_tokens',
        },
      },
      {
        error: {
          type: 'exceed_context_size_error',
          n_ctx: 2048,
          n_prompt_tokens: 2100,
          message: 'the request exceeds the available context size',
        },
      },
    ];
    for (const body of bodies) {
      const error = await fails(
        sampled(await connected((response) => json(response, 400, body))),
        'context-too-long',
      );
      assert.match(error.message, /of 2100 tokens.*of 2048/);
      await server?.close();
    }
  });

  it('is asked again shortly where it says that it is not ready just now', async () => {
    let asked = 0;
    const policy = await connected((response) => {
      if (asked++ === 0) response.setHeader('retry-after', '0').writeHead(503).end('{}');
      else response.writeHead(200, EVENTS).end(TOKEN.replace('null', '"length"'));
    });
    assert.equal((await sampled(policy)).length, 1);
    assert.equal(asked, 2);
  });

  it('writes control characters into its error: they show as such', async () => {
    const error = await fails(
      sampled(await connected((response) => json(response, 500, { error: { message: 'a\u001b[31mb' } }))),
      'server-error',
    );
    assert.ok(error.message.includes('a\\x1b[31mb'));
  });

  it('is left quietly when the person cancels, also while it hangs', async () => {
    const policy = await connected(() => {});
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 50);
    const tokens: SampledToken[] = [];
    for await (const token of policy.sample(REQUEST, abort.signal)) tokens.push(token);
    assert.deepEqual(tokens, []);
  });
});
