/** Training as a whole: the engine's memory over many steps, a step beside another trainer's, and how full its batches are. */
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { loadEnvironment } from '../../../src/core/environment/load';
import { TinkerSession } from '../../../src/node/learners/tinker';
import { planRollouts, runRollouts } from '../../../src/node/rollouts';
import { startEngine } from '../engine';
import type { Bench, Measured, Row } from '../row';
import { randomModel, serverFor } from '../server';

const STEPS = 200;
const FIRST = 20;
const SLOTS = 8;

export const trainingRows: Row[] = [
  {
    id: 'learner-memory',
    what: `memory of the engine after ${STEPS} steps of sampling and learning ÷ after ${FIRST}`,
    unit: '×',
    goal: 1.1,
    better: 'lower',
    peer: `the same process after ${FIRST} steps`,
    measure: memory,
  },
  {
    id: 'step-vs-trl',
    what: 'a whole GRPO step of TRL ÷ ours; 4 prompts × 8 of 654 tokens, 64 sampled, one turn, nano’s shape',
    unit: '×',
    goal: 2,
    better: 'higher',
    peer: 'TRL GRPOTrainer, same model, prompts, lengths and settings',
    measure: trl,
  },
  {
    id: 'batch-fill',
    what: `share of ${SLOTS} slots that are computed while more rollouts than slots are unfinished (nano, the shop’s tasks)`,
    unit: '',
    goal: 0.8,
    better: 'higher',
    peer: 'all slots in every forward pass',
    measure: fill,
  },
];

async function memory(bench: Bench): Promise<number[]> {
  const model = await randomModel(bench);
  const runs = path.join(bench.scratch, 'runs');
  const { baseUrl, process: engine } = await startEngine(bench, `random=${model}`, '--checkpoints', runs);
  try {
    const session = await TinkerSession.open({ baseUrl });
    const learner = await session.create('random', null, { run: 'memory' });
    const name = await learner.toSampler();
    let early = 0;
    for (let step = 1; step <= STEPS; step++) {
      const prompt = Array.from({ length: 120 }, (_, i) => 3 + ((i * step) % 250));
      const data = await sample(baseUrl, name, prompt, step);
      await learner.forwardBackward({ loss: 'ppo', data });
      await learner.optimStep({ learningRate: 1e-4, gradientClip: 1 });
      await learner.toSampler();
      if (step === FIRST) early = await resident(engine.pid!);
    }
    const late = await resident(engine.pid!);
    bench.log(`learner-memory: ${Math.round(early / 1024)} MiB, then ${Math.round(late / 1024)} MiB`);
    await session.close();
    return [late / early];
  } finally {
    engine.kill('SIGKILL');
  }
}

async function sample(baseUrl: string, model: string, prompt: number[], seed: number) {
  const body = {
    model,
    prompt,
    n: 8,
    max_tokens: 40,
    seed,
    temperature: 1,
    logprobs: 0,
    return_token_ids: true,
  };
  const response = await fetch(`${baseUrl}/v1/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const { choices } = (await response.json()) as {
    choices: { token_ids: number[]; logprobs: { content: { logprob: number }[] } }[];
  };
  const before = prompt.slice(1).map(() => 0);
  return choices.map(({ token_ids, logprobs }, i) => {
    const ids = [...prompt, ...token_ids];
    return {
      input: ids.slice(0, -1),
      target: ids.slice(1),
      logprobs: [...before, ...logprobs.content.map(({ logprob }) => logprob)],
      advantages: [...before, ...token_ids.map(() => (i - 3.5) / 1000)],
    };
  });
}

/** KiB of a process that are in memory. */
async function resident(pid: number): Promise<number> {
  return Number((await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)])).stdout);
}

/** In an environment of its own beside the engine's, since the product does not need TRL. */
async function trl(bench: Bench): Promise<Measured> {
  const folder = path.join(bench.root, '.cache/bench-trl');
  const python = path.join(folder, 'bin/python');
  const run = promisify(execFile);
  const stamp = path.join(folder, 'trl-1.16.0');
  if (!fs.existsSync(stamp)) {
    bench.log('installing TRL 1.16.0 …');
    await run(bench.python, ['-m', 'venv', folder]);
    const site = async (exe: string) =>
      (await run(exe, ['-c', 'import sysconfig; print(sysconfig.get_path("purelib"))'])).stdout.trim();
    fs.writeFileSync(path.join(await site(python), 'engine.pth'), `${await site(bench.python)}\n`);
    await run(python, ['-m', 'pip', 'install', '--quiet', 'trl==1.16.0', 'datasets==5.2.0']);
    fs.writeFileSync(stamp, '');
  }
  const cwd = path.join(bench.root, 'server/engine');
  const { stdout } = await run(python, ['-m', 'rehearsal_engine.learning.bench_trl'], { cwd });
  const measured = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Measured & {
    cpu_seconds: [number, number][];
  };
  for (const [own, peer] of measured.cpu_seconds)
    bench.log(`step-vs-trl: ours ${own} s, TRL ${peer} s of CPU`);
  return measured;
}

async function fill(bench: Bench): Promise<number[]> {
  const model = path.join(bench.root, 'server/nano/models/nano');
  const { policy, counter } = await serverFor(bench, 'slots', model, ['--max-batch', String(SLOTS)]);
  const file = path.join(bench.root, 'examples/shop/shop.rehearsal.json');
  const read = async (name: string) => fs.readFileSync(path.join(path.dirname(file), name), 'utf8');
  const { environment } = await loadEnvironment(fs.readFileSync(file, 'utf8'), { path: file, read });
  if (!environment) throw new Error(`${file} does not load`);
  const values: number[] = [];
  for (let seed = 0; seed < 3; seed++) {
    const count = 6 * SLOTS;
    const attempts = Math.ceil(count / environment.tasks.length);
    const requests = planRollouts(environment, environment.tasks, attempts).slice(0, count);
    const now = async () => [await counter('batched_sequences_total'), await counter('forward_passes_total')];
    const before = await now();
    let after = before;
    let open = count;
    await runRollouts(requests, {
      policy,
      sampling: { temperature: 1, topP: 1, topK: -1, minP: 0, seed, alternatives: 0 },
      folder: fs.mkdtempSync(path.join(bench.scratch, 'sessions-')),
      concurrency: count,
      onEnd: async ({ error }) => {
        if (error !== undefined) throw error;
        if (--open > SLOTS) after = await now();
      },
    });
    values.push((after[0]! - before[0]!) / (after[1]! - before[1]!) / SLOTS);
  }
  return values;
}
