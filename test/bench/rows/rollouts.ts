/** Many headless rollouts at once, by the code that `rehearsal run` and the Test Explorer use. */
import fs from 'node:fs';
import path from 'node:path';
import { loadEnvironment } from '../../../src/core/environment/load';
import { planRollouts, runRollouts } from '../../../src/node/rollouts';
import type { Bench, Row } from '../row';
import { type BenchServer, NANO, nanoModel, serverFor, USABLE, usableModel } from '../server';

const REPETITIONS = 3;
const AT_ONCE = 16;

/** On a model of a usable size, and on nano. */
export const rolloutRows: Row[] = [
  row('rollouts-16', USABLE, 3, 4, async (bench) =>
    serverFor(bench, 'usable', await usableModel(bench, 'nano')),
  ),
  row('rollouts-16-nano', NANO, 4, 6, (bench) => serverFor(bench, 'nano', nanoModel(bench, 'nano'))),
];

/**
 * @param single how many rollouts are run one at a time
 * @param rounds how many times `AT_ONCE` are run at once
 */
function row(
  id: string,
  model: string,
  single: number,
  rounds: number,
  server: (bench: Bench) => Promise<BenchServer>,
): Row {
  return {
    id,
    what: `tokens a second of ${AT_ONCE} rollouts at once ÷ one at a time (${model}, the shop's tasks)`,
    unit: '×',
    goal: 4,
    better: 'higher',
    peer: 'the same rollouts one at a time',
    measure: async (bench) => ratios(bench, id, await server(bench), single, rounds),
  };
}

async function ratios(bench: Bench, id: string, server: BenchServer, single: number, rounds: number) {
  await speed(bench, server, 2, 2, 99); // both sides warm
  const values: number[] = [];
  for (let repetition = 0; repetition < REPETITIONS; repetition++) {
    const one = await speed(bench, server, single, 1, 2 * repetition);
    const many = await speed(bench, server, rounds * AT_ONCE, AT_ONCE, 2 * repetition + 1);
    bench.log(`${id}: ${many.toFixed(0)} ÷ ${one.toFixed(0)} tokens/s`);
    values.push(many / one);
  }
  return values;
}

/** Sampled tokens a second over `count` rollouts, for as long as `concurrency` of them run. */
async function speed(
  bench: Bench,
  { policy, counter }: BenchServer,
  count: number,
  concurrency: number,
  seed: number,
): Promise<number> {
  const file = path.join(bench.root, 'examples/shop/shop.rehearsal.json');
  const read = async (name: string) => fs.readFileSync(path.join(path.dirname(file), name), 'utf8');
  const { environment } = await loadEnvironment(fs.readFileSync(file, 'utf8'), { path: file, read });
  if (!environment) throw new Error(`${file} does not load`);
  const attempts = Math.ceil(count / environment.tasks.length);
  const requests = planRollouts(environment, environment.tasks, attempts).slice(0, count);
  const folder = fs.mkdtempSync(path.join(bench.scratch, 'sessions-'));
  const sampling = { temperature: 1, topP: 1, topK: -1, minP: 0, seed, alternatives: 5 };
  const now = async () => ({
    tokens: await counter('generated_tokens_total'),
    seconds: performance.now() / 1000,
  });
  const before = await now();
  let open = count;
  let after: ReturnType<typeof now> | null = null;
  await runRollouts(requests, {
    policy,
    sampling,
    folder,
    concurrency,
    onEnd: ({ error }) => {
      if (error !== undefined) throw error;
      if (--open < concurrency) after ??= now();
    },
  });
  const { tokens, seconds } = await (after ?? now());
  return (tokens - before.tokens) / (seconds - before.seconds);
}
