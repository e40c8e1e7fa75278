/**
 * A real SkyRL (JAX on the CPU) as the learner of the runner, beside our engine. usage: npm run check:skyrl
 * Installs it the first time (2.2 GB), trains a tiny random model for five steps, and writes docs/checks/skyrl.md.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
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
import { checkRun, trainedRun } from './lib/check-run.mjs';
import { capture, must, ROOT } from './lib/process.mjs';
import { findPython } from './lib/python.mjs';
import { ensureVenv, venvPython } from './lib/test-machine.mjs';

const SKYRL = '0.4.0';
const STEPS = 5;
/** Random weights seldom end an output. With this row for <|im_end|> most do, and half of those are rewarded. */
const ENDING = `
import sys
from safetensors.torch import load_file, save_file
weights = load_file(sys.argv[1])
weights["model.embed_tokens.weight"][2] *= -3
save_file(weights, sys.argv[1], {"format": "pt"})
`;
const log = (line) => console.error(`· ${line}`);

const folder = cacheFolder(`skyrl-${SKYRL}`);
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'check-skyrl-'));
await ensureVenv(log);
const python = await install();
const model = path.join(scratch, 'tiny');
await must(venvPython, ['-m', 'rehearsal_engine.random_model', model, '--tiny'], {
  cwd: path.join(ROOT, 'server/engine'),
});
await must(venvPython, ['-c', ENDING, path.join(model, 'model.safetensors')]);

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
    'tiny', // the folder in `scratch`: one name for both servers
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

  const at = { scratch, engine, log };
  const elsewhere = { kind: 'skyrl', url: skyrl.baseUrl };
  const store = await trainedRun(at, { learner: elsewhere, steps: STEPS });
  const what = `the runner trains ${STEPS} steps on it and samples there`;
  if (!checkRun(report, store, what)) return report.end();

  // The same tokens on our engine, by the same runner: rollouts that are stored are not sampled again.
  const own = await trainedRun(at, { learner: { kind: 'engine' }, steps: 1 }, await store.rolloutsOf(1));
  report.check(
    'the runner trains a step on our engine from the same tokens',
    own.status.state === 'done',
    own.status.message || own.status.state,
  );

  const refused = await trainedRun(at, { learner: elsewhere, model: 'other', steps: 1 });
  report.check(
    'a model that it does not train is refused by name',
    refused.status.state === 'failed' && /does not train other, but tiny/.test(refused.status.message),
    refused.status.state,
  );

  const there = await TinkerSession.open({ baseUrl: skyrl.baseUrl });
  const here = await TinkerSession.open({ baseUrl: engine.baseUrl });
  ends.push(
    () => there.close(),
    () => here.close(),
  );
  const { reduction, clipsGradient, tellsMetrics } = there.backend;
  report.check(
    'how it adds up is found out when connecting',
    reduction === 'mean' && !tellsMetrics,
    `${reduction}, ${clipsGradient ? 'clips' : 'does not clip'} gradients`,
  );
  const first = samplesOf(await store.rolloutsOf(1));
  const lora = { rank: 8, seed: 1 };
  const [mine, theirs] = [await here.create('tiny', lora), await there.create('tiny', lora)];
  const before = [await scores(mine, first), await scores(theirs, first)];
  await theirs.unload();
  const tokens = first.reduce((total, { weights }) => total + weights.filter(Boolean).length, 0);
  report.check(
    `log-probabilities of the same ${tokens} tokens before training, engine and SkyRL, largest difference in nats`,
    apart(before[0], before[1], first) < 1e-3,
    apart(before[0], before[1], first).toExponential(2),
  );
  const sampled = first.map(({ logprobs }) => logprobs);
  report.check(
    'the same, engine and what SkyRL sampled with in the run',
    apart(before[0], sampled, first) < 1e-3,
    apart(before[0], sampled, first).toExponential(2),
  );
  const after = await here.resume(addressAt(own, 1));
  signs(report, 'engine: step 1', first, before[0], await scores(after, first));
  for (let step = 1; step <= STEPS; step++) {
    const samples = samplesOf(await store.rolloutsOf(step));
    const learner = await there.resume(addressAt(store, step));
    const old = samples.map(({ logprobs }) => logprobs);
    const after = await scores(learner, samples);
    if (step === 1) signs(report, 'SkyRL: step 1', samples, old, after);
    else moved(report, step, samples, old, after);
    await learner.unload();
  }
  for (const one of [store, own, refused]) await one.close();
  return report.end();
}

function addressAt(store, step) {
  return store.status.checkpoints.find((one) => one.step === step).addresses.shared;
}

/** Outputs of stored rollouts, as samples whose written tokens count; the advantage is that of the output. */
function samplesOf(records) {
  return records.flatMap(({ outputs }) =>
    outputs.map(({ prompt, ids, logprobs, advantage }) => {
      const all = [...prompt, ...ids];
      const none = prompt.slice(1).map(() => 0);
      return {
        advantage,
        input: all.slice(0, -1),
        target: all.slice(1),
        logprobs: [...none, ...logprobs.map((value) => value ?? 0)],
        weights: [...none, ...logprobs.map((value) => (value === null ? 0 : 1))],
      };
    }),
  );
}

async function scores(learner, samples) {
  const data = samples.map(({ input, target, weights }) => ({ input, target, weights }));
  return (await learner.forwardBackward({ loss: 'cross_entropy', data, forwardOnly: true })).logprobs;
}

function apart(one, other, samples) {
  const all = samples.flatMap(({ weights }, i) =>
    weights.map((on, t) => (on ? Math.abs(one[i][t] - other[i][t]) : 0)),
  );
  return all.reduce((most, value) => Math.max(most, value), 0);
}

/** Changes of the written tokens of outputs whose advantage has this sign, in nats. */
function changes(samples, before, after, sign) {
  return samples.flatMap(({ advantage, weights }, i) =>
    Math.sign(advantage ?? 0) === sign
      ? weights.flatMap((on, t) => (on ? after[i][t] - before[i][t] : []))
      : [],
  );
}

/** From fresh weights: rewarded tokens become likelier together, and punished ones less likely. */
function signs(report, what, samples, before, after) {
  for (const sign of [1, -1]) {
    const all = changes(samples, before, after, sign);
    const change = all.reduce((total, value) => total + value, 0);
    report.check(
      `${what}: ${all.length} ${sign > 0 ? 'rewarded tokens became likelier' : 'punished tokens became less likely'}`,
      Math.sign(change) === sign,
      `${change.toFixed(4)} nats`,
    );
  }
}

/** Adam carries the steps before along, which moves all tokens: rewarded ones gain on punished ones all the same. */
function moved(report, step, samples, before, after) {
  const [up, down] = [1, -1].map((sign) => changes(samples, before, after, sign));
  if (!up.length || !down.length) return report.say(`       SkyRL: step ${step}: no signal`);
  const mean = (values) => values.reduce((total, value) => total + value, 0) / values.length;
  const told = `${mean(up).toFixed(4)} and ${mean(down).toFixed(4)} nats a token`;
  report.check(`SkyRL: step ${step}: rewarded tokens gained on punished ones`, mean(up) > mean(down), told);
}
