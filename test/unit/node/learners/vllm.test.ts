import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { VllmSampler } from '../../../../src/node/learners/vllm';

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

  it('forgets one, and says where it knows none', async () => {
    const sampler = recorded('lora-unload', 'lora-unload-unknown');
    await sampler.drop('policy');
    await assert.rejects(sampler.drop('nope'), /does not take the adapter/);
  });
});
