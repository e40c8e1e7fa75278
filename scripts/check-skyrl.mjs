/**
 * A real SkyRL (JAX on the CPU) as the learner, by the client that trains on our engine. usage: npm run check:skyrl
 * Installs it the first time (2.2 GB), trains a tiny random model for five steps, and writes docs/checks/skyrl.md.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { buildBatch } from '../src/core/grpo/batch.ts';
import { TinkerHttp } from '../src/node/learners/http.ts';
import { decodeSamples } from '../src/node/learners/proto.ts';
import { TinkerSession } from '../src/node/learners/tinker.ts';
import {
  cacheFolder,
  freePort,
  installOnce,
  Report,
  requirements,
  startEngine,
  startServer,
} from './lib/check.mjs';
import { capture, must, ROOT } from './lib/process.mjs';
import { findPython } from './lib/python.mjs';
import { ensureVenv, venvPython } from './lib/test-machine.mjs';

const SKYRL = '0.4.0';
const STEPS = 5;
const PROMPTS = [
  [5, 9, 30, 31],
  [40, 41, 7, 5],
];
const log = (line) => console.error(`· ${line}`);

const folder = cacheFolder(`skyrl-${SKYRL}`);
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'check-skyrl-'));
await ensureVenv(log);
const python = await install();
const model = path.join(scratch, 'tiny');
await must(venvPython, ['-m', 'rehearsal_engine.random_model', model, '--tiny'], {
  cwd: path.join(ROOT, 'server/engine'),
});

const ends = [];
let code = 1;
try {
  code = await run();
} finally {
  for (const end of ends.reverse()) await end().catch(() => {});
  fs.rmSync(scratch, { recursive: true, force: true });
}
process.exit(code);

async function install() {
  const found = await findPython();
  if (found.problem) throw new Error(found.problem);
  const old = /^3\.11\./.test(found.version); // SkyRL asks for 3.12 and runs on 3.11 with two changes
  return installOnce(folder, found.command, log, async (venv, pip) => {
    const wheel = path.join(folder, 'wheel');
    const any = ['--quiet', '--no-deps', '--ignore-requires-python'];
    await pip('packaging');
    await must(venv, ['-m', 'pip', 'download', ...any, '-d', wheel, `skyrl==${SKYRL}`]);
    const instead = old ? { flax: 'flax==0.12.8' } : {};
    const list = path.join(folder, 'requirements.txt');
    const wanted = await requirements(venv, wheel, { extras: ['tinker', 'jax'], instead });
    fs.writeFileSync(list, [...wanted, 'torch==2.13.0', 'aiohttp', 'uv', 'typing_extensions'].join('\n'));
    await pip('-r', list);
    await pip(
      '--no-deps',
      '--ignore-requires-python',
      ...fs.readdirSync(wheel).map((name) => path.join(wheel, name)),
    );
    if (old) await patchTypes(venv);
  });
}

/** pydantic wants the TypedDict of typing_extensions before Python 3.12. */
async function patchTypes(venv) {
  const { output } = await capture(venv, ['-c', 'import sysconfig; print(sysconfig.get_path("purelib"))']);
  const file = path.join(output.trim().split('\n').at(-1), 'skyrl/tinker/types.py');
  const text = fs.readFileSync(file, 'utf8');
  const line = 'from typing import Annotated, Any, Literal, TypedDict';
  fs.writeFileSync(
    file,
    text.replace(line, 'from typing import Annotated, Any, Literal\nfrom typing_extensions import TypedDict'),
  );
}

async function startSkyrl() {
  const port = await freePort();
  const bin = path.dirname(python);
  const args = [
    'run',
    '--no-project',
    '--offline',
    '--python',
    python,
    '-m',
    'skyrl.tinker.api',
    '--base-model',
    model,
  ];
  args.push('--backend', 'jax', '--backend-config', '{"max_lora_adapters":8,"max_lora_rank":8}');
  args.push('--checkpoints-base', path.join(scratch, 'skyrl'), '--database-url', `sqlite:///${scratch}/t.db`);
  args.push('--host', '127.0.0.1', '--port', String(port));
  const baseUrl = `http://127.0.0.1:${port}`;
  const server = await startServer(path.join(bin, 'uv'), args, {
    cwd: scratch,
    logFile: path.join(folder, 'server.log'),
    ready: `${baseUrl}/api/v1/healthz`,
    seconds: 3600,
    env: {
      PATH: `${bin}:${process.env.PATH}`,
      VIRTUAL_ENV: path.dirname(bin),
      JAX_PLATFORMS: 'cpu',
      JAX_COMPILATION_CACHE_DIR: path.join(folder, 'jax-cache'),
      HF_HUB_OFFLINE: '1',
    },
  });
  ends.push(server.stop);
  return { baseUrl, seconds: server.seconds };
}

async function run() {
  const skyrl = await startSkyrl();
  const engine = await startEngine(venvPython, { tiny: model }, path.join(scratch, 'runs'));
  ends.push(engine.stop);
  const { output } = await capture(python, [
    '-c',
    'from importlib.metadata import version as v; print(*[v(n) for n in ("skyrl", "jax", "flax")])',
  ]);
  const [version, jax, flax] = output.trim().split('\n').at(-1).split(' ');
  const report = new Report('skyrl', 'SkyRL as the learner', {
    SkyRL: version,
    JAX: jax,
    Flax: flax,
    Node: process.version,
  });
  report.say(`SkyRL was ready after ${skyrl.seconds} s`);

  const there = await TinkerSession.open({ baseUrl: skyrl.baseUrl });
  const here = await TinkerSession.open({ baseUrl: engine.baseUrl });
  ends.push(
    () => there.close(),
    () => here.close(),
  );
  const { reduction, clipsGradient, tellsMetrics, lacks } = there.backend;
  report.check(
    'how it adds up is found out when connecting',
    reduction === 'mean' && !tellsMetrics,
    `${reduction}, ${clipsGradient ? 'clips' : 'does not clip'} gradients`,
  );
  for (const lack of lacks) report.say(`       ${lack}`);

  const http = new TinkerHttp({ baseUrl: skyrl.baseUrl });
  const name = there.offered[0];
  const lora = { rank: 8, seed: 1 };
  const [mine, theirs, loop] = [
    await here.create('tiny', { ...lora, trainUnembed: false }),
    await there.create(name, lora),
    await there.create(name, lora),
  ];
  const sampler = await theirs.toSampler();
  const data = buildBatch(await groups(http, sampler, 0), 'act-only').adapters[0].data;

  const before = await Promise.all([mine, theirs].map((learner) => scores(learner, data)));
  const most = Math.max(
    ...before[0].flatMap((row, i) => row.map((value, t) => Math.abs(value - before[1][i][t]))),
  );
  report.check(
    'log-probabilities of the same tokens before training, largest difference in nats',
    most < 1e-3,
    most.toExponential(2),
  );

  const norms = [];
  for (const learner of [mine, theirs]) {
    await learner.forwardBackward({ loss: 'ppo', data });
    norms.push(
      Object.entries(await learner.optimStep({ learningRate: 1e-3 })).find(([key]) =>
        /grad_norm/.test(key),
      )[1],
    );
  }
  // The adapters' random factors differ, and with them the gradients; a mean would be a hundredth of a sum.
  const ratio = norms[1] / norms[0];
  report.check('gradient norm there ÷ here, both a sum', ratio > 0.2 && ratio < 5, ratio.toFixed(3));
  const after = await Promise.all([mine, theirs].map((learner) => scores(learner, data)));
  for (const [where, i] of [
    ['engine', 0],
    ['SkyRL', 1],
  ]) {
    for (const [what, sign] of [
      ['rewarded', 1],
      ['punished', -1],
    ]) {
      const change = moved(data, before[i], after[i], sign);
      report.check(
        `${where}: ${what} tokens became ${sign > 0 ? 'likelier' : 'less likely'}`,
        Math.sign(change) === sign,
        `${change.toFixed(4)} nats`,
      );
    }
  }

  const rewards = [];
  for (let step = 1; step <= STEPS; step++) {
    const rollouts = await groups(http, await loop.toSampler(), step);
    rewards.push(mean(rollouts.flat().map((rollout) => rollout.reward)));
    const batch = buildBatch(rollouts, 'act-only').adapters[0];
    const known = await scores(loop, batch.data);
    const apart = mean(
      batch.data.flatMap((d, i) =>
        d.advantages.flatMap((a, t) => (a ? [Math.abs(d.logprobs[t] - known[i][t])] : [])),
      ),
    );
    report.check(
      `step ${step}: sampler and learner, mean difference in nats`,
      apart < 1e-3,
      apart.toExponential(2),
    );
    await loop.forwardBackward({ loss: 'ppo', data: batch.data });
    await loop.optimStep({ learningRate: 2e-2 });
  }
  report.say(`       mean reward by step: ${rewards.map((reward) => reward.toFixed(2)).join(' ')}`);
  const address = await loop.save('end');
  const resumed = await there.resume(address);
  const [one, other] = [await scores(loop, data), await scores(resumed, data)];
  const kept = Math.max(...one.flatMap((row, i) => row.map((value, t) => Math.abs(value - other[i][t]))));
  report.check(
    'a checkpoint is resumed from, largest difference in nats',
    kept < 1e-4,
    kept.toExponential(2),
  );
  return report.end();
}

/** Four rollouts of each prompt; the reward is the share of even ids, which a random model writes half of the time. */
async function groups(http, session, step) {
  const found = [];
  for (const [i, prompt] of PROMPTS.entries()) {
    const body = {
      num_samples: 4,
      prompt: { chunks: [{ type: 'encoded_text', tokens: prompt }] },
      sampling_params: { max_tokens: 12, seed: 1000 * step + 10 * i, temperature: 1, top_k: -1, top_p: 1 },
      sampling_session_id: session,
      seq_id: 2 * step + i,
      prompt_logprobs: false,
      type: 'sample',
    };
    const sequences = decodeSamples(await http.result('asample', body));
    found.push(
      sequences.map(({ tokens, logprobs }) => ({
        reward: tokens.filter((id) => id % 2 === 0).length / tokens.length,
        outputs: [
          {
            role: 'act',
            prompt,
            tokens: tokens.map((id, t) => ({ id, logprob: logprobs[t], sampled: true })),
          },
        ],
      })),
    );
  }
  return found;
}

async function scores(learner, data) {
  const still = data.map(({ input, target, advantages }) => ({
    input,
    target,
    weights: advantages.map((a) => (a ? 1 : 0)),
  }));
  return (await learner.forwardBackward({ loss: 'cross_entropy', data: still, forwardOnly: true })).logprobs;
}

/** Change of the log-probabilities of tokens whose advantage has this sign, together. */
function moved(data, before, after, sign) {
  let total = 0;
  for (const [i, { advantages }] of data.entries()) {
    for (const [t, advantage] of advantages.entries())
      if (Math.sign(advantage) === sign) total += after[i][t] - before[i][t];
  }
  return total;
}

function mean(values) {
  return values.reduce((total, value) => total + value, 0) / values.length;
}
