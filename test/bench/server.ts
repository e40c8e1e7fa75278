/** What the rows over HTTP need: a model of nano's size with random weights, and a server of its own for it. */
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { build, upToDate } from '../../build.mjs';
import type { Policy } from '../../src/core/policy';
import { connectPolicy } from '../../src/node/policies/connect';
import { ensureServer, stopServer } from '../../src/node/server/ensure';
import type { Bench } from './row';

/** Folder of a Qwen3 of nano's shape with random weights. */
export function randomModel(bench: Bench): Promise<string> {
  return bench.shared('random model', async () => {
    const folder = path.join(bench.scratch, 'random');
    const cwd = path.join(bench.root, 'server/engine');
    await promisify(execFile)(bench.python, ['-m', 'rehearsal_engine.random_model', folder], { cwd });
    return { value: folder };
  });
}

export interface BenchServer {
  policy: Policy;
  /** A counter of the engine's `/metrics`, by its name without `rehearsal_`. */
  counter(name: string): Promise<number>;
}

/** Runner and engine as the product starts them, in a home of their own, with one model. */
export function serverFor(
  bench: Bench,
  name: string,
  model: string,
  engineArgs: readonly string[] = [],
): Promise<BenchServer> {
  return bench.shared(`server of ${name}`, async () => {
    if (!upToDate() && !upToDate(true)) await build();
    const home = path.join(bench.scratch, `home-${name}`);
    fs.mkdirSync(home, { recursive: true });
    const models = [`${name}=${model}`];
    const server = await ensureServer({
      sourceDir: bench.root,
      home,
      python: bench.python,
      models,
      engineArgs: [...engineArgs],
      onProgress: bench.log,
    });
    const policy = await connectPolicy({ baseUrl: server.url, apiKey: server.token });
    const counter = async (metric: string) => {
      const answer = await fetch(`${server.url}/metrics`, {
        headers: { authorization: `Bearer ${server.token}` },
      });
      const value = new RegExp(`^rehearsal_${metric} (\\S+)$`, 'm').exec(await answer.text())?.[1];
      if (value === undefined) throw new Error(`the engine counts no ${metric}`);
      return Number(value);
    };
    return { value: { policy, counter }, end: async () => void (await stopServer(home)) };
  });
}
