/** Which server is asked for which weights, on our engine and a sampler that takes its adapters as vLLM does. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { Weights } from '../../../../server/runner/training/weights';
import type { Policy } from '../../../../src/core/policy';
import { RunStore } from '../../../../src/node/runs/store';
import { type StartedEngine, startEngine } from '../../support/engine';
import { temporary, tinyModel } from '../../support/server';
import { MODEL, tinyConfig } from '../../support/tiny-run';

describe('the weights of a run that samples elsewhere', function () {
  this.timeout(300_000);
  const home = temporary('weights');
  const root = path.join(home, 'runs');
  const asked: string[] = [];
  const taken: string[] = [];
  let engine: StartedEngine;
  let sampler: http.Server;
  let store: RunStore;

  before(async () => {
    fs.mkdirSync(root, { recursive: true });
    const more = ['--deterministic', '--threads', '1', '--checkpoints', root];
    engine = await startEngine({ [MODEL]: await tinyModel() }, ...more);
    // Samples as a real engine does, and takes adapters by the route that vLLM has for them.
    sampler = http.createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
    await once(sampler, 'listening');
    const { port } = sampler.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}`;
    store = RunStore.create(
      root,
      tinyConfig(home, { weights: 'lora', rank: 2, sampler: { kind: 'vllm', url } }),
    );
  });
  after(async () => {
    await store?.close();
    sampler?.close();
    await engine?.kill();
  });

  async function answer(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    let body = '';
    for await (const part of request) body += part;
    asked.push(request.url!);
    if (request.url === '/v1/load_lora_adapter') {
      const { lora_path } = JSON.parse(body) as { lora_path: string };
      taken.push(lora_path);
      const whole = fs.existsSync(path.join(lora_path, 'adapter_model.safetensors'));
      return void response.writeHead(whole ? 200 : 404).end();
    }
    const id = store.config.id;
    const given = await fetch(engine.baseUrl + request.url, {
      method: request.method,
      headers: { 'content-type': 'application/json' },
      ...(body ? { body: body.replaceAll(`"${id}"`, `"${MODEL}"`) } : {}),
    });
    response.writeHead(given.status, { 'content-type': given.headers.get('content-type') ?? '' });
    response.end((await given.text()).replaceAll(`"${MODEL}"`, `"${id}"`));
  }

  it('asks the sampler for the last, and our engine for those of a checkpoint', async () => {
    const ports = {
      engine: async () => ({ baseUrl: engine.baseUrl }),
      executor: null,
      now: () => new Date().toISOString(),
    };
    const weights = await Weights.open({ store, ports, signal: new AbortController().signal }, null);
    try {
      assert.equal(weights.policies.policy.info.model, store.config.id);
      assert.equal(asked.filter((route) => route === '/v1/load_lora_adapter').length, 1);
      const addresses = await weights.save(1);
      asked.length = 0;
      const start = await weights.policiesOf({ step: 0 });
      const first = await weights.policiesOf({ step: 1, addresses });
      assert.equal(start.policy.info.model, MODEL);
      assert.equal(first.policy.info.model, `${store.config.id}/step-1`);
      // Nothing was learned: both write the same.
      assert.deepEqual(await written(first.policy), await written(start.policy));
      assert.deepEqual(asked, [], 'the sampler has the last weights only');
      await weights.toSampler();
      assert.deepEqual(asked, ['/v1/load_lora_adapter'], 'it takes them in place');
      // By name and path vLLM knows what it has cached; of other weights, it must not be the same.
      assert.notEqual(taken[0], taken[1]);
      assert.deepEqual(
        taken.map((folder) => fs.existsSync(folder)),
        [false, true],
        'only the last is kept',
      );
    } finally {
      await weights.close();
    }
  });
});

async function written(policy: Policy): Promise<number[]> {
  const ids: number[] = [];
  const request = { prompt: [5, 9, 30], maxTokens: 8, seed: 3, alternatives: 0, priority: 1 };
  for await (const { id } of policy.sample({ ...request, temperature: 1, topP: 1, topK: -1, minP: 0 }))
    ids.push(id);
  return ids;
}
