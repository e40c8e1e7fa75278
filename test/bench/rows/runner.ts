/** The runner's own part in training: its share of a step, and whether it still answers while many rollouts run. */
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { train } from '../../../server/runner/training/train';
import type { Environment, Task } from '../../../src/core/environment/types';
import type { Policy } from '../../../src/core/policy';
import type { Settings } from '../../../src/core/training/types';
import { connectPolicy } from '../../../src/node/policies/connect';
import { runRollouts } from '../../../src/node/rollouts';
import { RunStore } from '../../../src/node/runs/store';
import { readTraining } from '../../../src/node/training-files';
import { startEngine } from '../engine';
import type { Bench, Row } from '../row';
import { NANO, nanoModel, USABLE, usableModel } from '../server';

const MANY = 200;
const TICK_MS = 20;

export const runnerRows: Row[] = [
  shareRow('runner-share', `${USABLE}, LoRA, 2 of the shop's tasks × 8 rollouts`, {
    start: async (bench) => learning(bench, 'usable', await usableModel(bench, 'nano-novice')),
    run: { steps: 4, warm: 1, settings: { weights: 'lora', tasksPerStep: 2, groupSize: 8 } },
  }),
  shareRow('runner-share-nano', `${NANO}, nano-novice, the shop's default run`, {
    start: novice,
    run: { steps: 6, warm: 2, settings: {} },
  }),
  {
    id: 'rollouts-200',
    what: `longest gap between events of a stream, sent every ${TICK_MS} ms by a process that runs ${MANY} rollouts at once`,
    unit: 'ms',
    goal: 250,
    better: 'lower',
    peer: 'the same stream on an idle process: no more than the interval',
    measure: gaps,
  },
];

interface Run {
  steps: number;
  /** Of these, the first, which compile and connect. */
  warm: number;
  /** What differs from the shop's own run. */
  settings: Partial<Settings>;
}

function shareRow(
  id: string,
  what: string,
  { start, run }: { start: (bench: Bench) => Promise<Learning>; run: Run },
): Row {
  return {
    id,
    what: `CPU time of the runner's own process ÷ time of a step (${what})`,
    unit: '',
    goal: 0.05,
    better: 'lower',
    peer: 'the whole step',
    measure: async (bench) => share(bench, id, await start(bench), run),
  };
}

/** Rows of a short run by the very loop that the server runs, in this process. */
async function share(
  bench: Bench,
  id: string,
  { baseUrl, runs, model }: Learning,
  { steps, warm, settings }: Run,
) {
  const { config } = await readTraining(path.join(bench.root, 'examples/shop/shop.training.json'));
  if (!config) throw new Error('shop.training.json does not load');
  const short: Settings = {
    ...config.settings,
    model,
    steps,
    evaluation: { every: 0, attempts: 1, recorded: false },
    checkpoints: { every: steps, keep: 1 },
    ...settings,
  };
  const store = RunStore.create(runs, { ...config, settings: short, parts: { ...config.parts, test: [] } });
  const ports = { engine: async () => ({ baseUrl }), executor: null, now: () => new Date().toISOString() };
  await train({ store, ports, signal: new AbortController().signal });
  if (store.status.state !== 'done') throw new Error(store.status.message);
  const rows = store.metrics().filter(({ step }) => step > warm);
  await store.close();
  return rows.map(({ step, seconds }) => {
    bench.log(`${id}: step ${step}, ${seconds.other.toFixed(3)} of ${seconds.total.toFixed(2)} s`);
    return seconds.other / seconds.total;
  });
}

/** Longest pause that a client of this process sees, three times. */
async function gaps(bench: Bench): Promise<number[]> {
  const { baseUrl } = await novice(bench);
  const policy = await connectPolicy({ baseUrl });
  const { config } = await readTraining(path.join(bench.root, 'examples/shop/shop.training.json'));
  if (!config) throw new Error('shop.training.json does not load');
  const { environment, parts } = config;
  await longestGap(policy, environment, parts.train, 8); // compiled, connected
  const values: number[] = [];
  for (let i = 0; i < 3; i++) values.push(await longestGap(policy, environment, parts.train, MANY));
  return values;
}

async function longestGap(
  policy: Policy,
  environment: Environment,
  tasks: readonly Task[],
  count: number,
): Promise<number> {
  const stream = await eventStream();
  const requests = Array.from({ length: count }, (_, attempt) => ({
    environment,
    task: tasks[attempt % tasks.length]!,
    attempt,
  }));
  await runRollouts(requests, {
    policy,
    sampling: { temperature: 1, topP: 1, topK: -1, minP: 0, seed: count, alternatives: 0 },
    concurrency: count,
    onEnd: ({ error }) => {
      if (error !== undefined) throw error;
    },
  });
  return stream.end();
}

/** A stream of events as the page of a run reads one, and the longest time that its reader waited. */
async function eventStream(): Promise<{ end(): number }> {
  const server = http.createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const timer = setInterval(() => response.write('data: 1\n\n'), TICK_MS);
    response.once('close', () => clearInterval(timer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  let last = performance.now();
  let longest = 0;
  http.get({ port: (server.address() as AddressInfo).port }, (answer) => {
    last = performance.now();
    answer.on('data', () => {
      const now = performance.now();
      longest = Math.max(longest, now - last);
      last = now;
    });
    answer.on('error', () => {});
  });
  return {
    end() {
      server.closeAllConnections();
      server.close();
      return longest;
    },
  };
}

interface Learning {
  baseUrl: string;
  /** Folder of runs, in which the engine keeps checkpoints. */
  runs: string;
  /** Its name there. */
  model: string;
}

function learning(bench: Bench, name: string, folder: string): Promise<Learning> {
  return bench.shared(`${name} that learns`, async () => {
    const runs = path.join(bench.scratch, `${name}/runs`);
    fs.mkdirSync(runs, { recursive: true });
    const engine = await startEngine(bench, `${name}=${folder}`, '--checkpoints', runs);
    return {
      value: { baseUrl: engine.baseUrl, runs, model: name },
      end: async () => void engine.process.kill('SIGKILL'),
    };
  });
}

function novice(bench: Bench): Promise<Learning> {
  return learning(bench, 'novice', nanoModel(bench, 'nano-novice'));
}
