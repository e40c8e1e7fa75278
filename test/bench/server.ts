/** What the rows over HTTP need: models to measure, and a server of its own for each. */
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

/** What the models of a row are, for people. */
export const USABLE = "nano's answers at the cost of 102 million parameters";
export const NANO = 'nano as it is, 1.45 million parameters';

/**
 * Folder of a model that gives the answers of nano (or nano-novice) at the cost of one that people use: 102 million
 * parameters in 16 layers. See `rehearsal_engine.widened` for why its answers are the same.
 */
export function usableModel(bench: Bench, of: 'nano' | 'nano-novice'): Promise<string> {
  return bench.shared(`usable ${of}`, async () => {
    const folder = path.join(bench.scratch, `usable-${of}`);
    const cwd = path.join(bench.root, 'server/engine');
    const args = ['-m', 'rehearsal_engine.widened', nanoModel(bench, of), folder];
    await promisify(execFile)(bench.python, args, { cwd });
    return { value: folder };
  });
}

export function nanoModel({ root }: Bench, name: 'nano' | 'nano-novice'): string {
  return path.join(root, 'server/nano/models', name);
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
