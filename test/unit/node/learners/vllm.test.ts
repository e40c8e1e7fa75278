import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { VllmSampler } from '../../../../src/node/learners/vllm';
import { ModelServer } from '../../../../src/node/policies/http';
import { modelCards } from '../../../../src/node/policies/models';

const FIXTURE = path.join(import.meta.dirname, '../../../fixtures/model-servers/vllm-lora.jsonl');

interface Exchange {
  case: string;
  request: { path: string; body: { load_inplace?: boolean } };
  status: number;
  body: string;
}

/** What vLLM 0.32 answered, in the order asked for; what is sent must be what was sent then. */
function recorded(...cases: string[]) {
  const all = fs.readFileSync(FIXTURE, 'utf8').trim().split('\n');
  const exchanges = all.map((line) => JSON.parse(line) as Exchange);
  const left = cases.map((name) => exchanges.find((exchange) => exchange.case === name)!);
  const replay = async (url: string | URL | Request, init?: RequestInit) => {
    const { request, status, body } = left.shift()!;
    assert.equal(new URL(String(url)).pathname, request.path);
    const { load_inplace, ...sent } = JSON.parse(String(init?.body));
    const { load_inplace: _, ...asked } = request.body;
    assert.deepEqual(sent, asked);
    assert.equal(load_inplace, request.path.includes('unload') ? undefined : true);
    return new Response(body, { status });
  };
  return new VllmSampler({ baseUrl: 'http://127.0.0.1:1/v1', fetch: replay });
}

const learner = (folder: string) => ({ toFolder: async () => folder });

describe('vLLM as the sampler', () => {
  it('takes an adapter in place under a name that stays', async () => {
    assert.equal(await recorded('lora-load-inplace').take(learner('FOLDER/lora2'), 'policy'), 'policy');
  });

  it('says why it does not, and how to start it', async () => {
    const bad = recorded('lora-bad-path').take(learner('FOLDER/none'), 'x');
    await assert.rejects(bad, (error: Error & { next: string }) => {
      assert.match(error.message, /does not take the adapter: Loading lora x failed: No adapter found/);
      assert.match(error.next, /--enable-lora/);
      return true;
    });
  });

  it('has a context as long as its base', async () => {
    const lines = fs.readFileSync(FIXTURE, 'utf8').trim().split('\n');
    const { body } = lines.map((line) => JSON.parse(line) as Exchange).find((one) => one.case === 'models2')!;
    const server = http.createServer((_, response) => response.end(body)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const cards = await modelCards(new ModelServer({ baseUrl: `http://127.0.0.1:${port}` }));
    server.close();
    assert.deepEqual(
      cards.map(({ id, contextLength }) => [id, contextLength]),
      [
        ['tiny', 512],
        ['policy', 512],
      ],
    );
  });

  it('forgets one, and says where it knows none', async () => {
    const sampler = recorded('lora-unload', 'lora-unload-unknown');
    await sampler.drop('policy');
    await assert.rejects(sampler.drop('nope'), /does not take the adapter/);
  });
});
