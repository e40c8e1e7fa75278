/**
 * How long a run would take, and whether it fits: a few rollouts are sampled and learned once, with weights that are
 * thrown away. What is measured is scaled to a step; nothing is assumed of the machine.
 */
import { buildBatch } from '../../../src/core/grpo/batch';
import { outputsOf } from '../../../src/core/grpo/chains';
import type { Learner } from '../../../src/core/grpo/learner';
import { DEFAULT_OPTIONS } from '../../../src/core/rehearsal/options';
import { planStep } from '../../../src/core/training/plan';
import type { RunConfig, Settings } from '../../../src/core/training/types';
import { TinkerSession } from '../../../src/node/learners/tinker';
import { connectPolicy } from '../../../src/node/policies/connect';
import { type RolloutResult, runRollouts } from '../../../src/node/rollouts';
import type { RunEstimate } from '../../../src/node/runs/client';
import { runErrors } from '../../../src/node/runs/errors';
import type { NewRun } from '../../../src/node/runs/store';
import type { Address } from '../training/run';

export interface ProbeServer {
  engine(signal: AbortSignal): Promise<Address>;
  /** Something else is at work: figures are then too high. */
  busy: boolean;
}

const MOST_ROLLOUTS = 16;
const LONGEST_MS = 60_000;

/** Throws `NodeError` where the model does not fit, before it is loaded for training. */
export async function probe(given: NewRun, server: ProbeServer, signal: AbortSignal): Promise<RunEstimate> {
  const config: RunConfig = { ...given, id: 'probe', created: '' };
  const { settings } = config;
  if (settings.learner.kind !== 'engine' || settings.sampler.kind !== 'engine')
    return nothing('Only runs on our own engine are measured; another server has its own pace.');
  const { baseUrl, apiKey } = await server.engine(signal);
  const session = await TinkerSession.open({ baseUrl, apiKey: `tml-${apiKey}` }, signal);
  try {
    const model = settings.model ?? session.offered[0];
    if (!model) return nothing('The server offers no model.');
    const memoryBytes = await fitting(session, model, settings, signal);
    const policy = await connectPolicy({ baseUrl, ...(apiKey ? { apiKey } : {}), model }, signal);
    const sampled = await sample(config, policy, signal);
    if (!sampled.results.length)
      return { ...nothing(`No rollout was done within ${LONGEST_MS / 1000} s.`), memoryBytes };
    const learning = await learn(sampled.results, session, model, settings, signal);
    return {
      ...estimate(config, sampled, learning),
      memoryBytes,
      why: whyOf(sampled.results, policy.info.contextLength, server.busy),
    };
  } finally {
    await session.close();
  }
}

const nothing = (why: string): RunEstimate => ({
  secondsPerStep: null,
  tokensPerStep: null,
  seconds: null,
  memoryBytes: null,
  why,
});

function whyOf(results: readonly RolloutResult[], contextLength: number, busy: boolean): string {
  const cut = results.filter(({ state }) => {
    const position = state?.position;
    return position?.kind === 'done' && position.stop === 'context_limit';
  });
  return [
    `Measured on ${results.length} rollouts and one learning step.`,
    ...(cut.length
      ? [`${cut.length} of them did not fit into the model's context of ${contextLength} tokens.`]
      : []),
    ...(busy ? ['Another run is at work: alone it is faster.'] : []),
  ].join(' ');
}

/** Bytes that training the model needs. */
async function fitting(
  session: TinkerSession,
  model: string,
  { weights, rank }: Settings,
  signal: AbortSignal,
): Promise<number> {
  const { fits, needBytes, freeBytes } = await session.fit(
    model,
    weights === 'full' ? null : { rank },
    signal,
  );
  if (fits) return needBytes.total;
  const gb = (bytes: number) => `${(bytes / 2 ** 30).toFixed(1)} GiB`;
  throw runErrors.tooLarge(model, gb(needBytes.total), gb(freeBytes), weights);
}

interface Sampled {
  results: RolloutResult[];
  seconds: number;
}

/** As many rollouts of the first step as run at the same time. What is not done in a minute is left out. */
async function sample(
  config: RunConfig,
  policy: Awaited<ReturnType<typeof connectPolicy>>,
  signal: AbortSignal,
): Promise<Sampled> {
  const { environment, settings } = config;
  const plan = planStep(config, 1).slice(0, Math.min(settings.concurrency, MOST_ROLLOUTS));
  const results: RolloutResult[] = [];
  const limit = AbortSignal.any([signal, AbortSignal.timeout(LONGEST_MS)]);
  const started = performance.now();
  await runRollouts(
    plan.map(({ task, attempt, seed }) => ({ environment, task, attempt, seed })),
    {
      policy,
      // The real tools are not asked: what they take is not the model's time, and nobody has agreed yet.
      sampling: { ...DEFAULT_OPTIONS, alternatives: 0, seed: settings.seed },
      concurrency: settings.concurrency,
      signal: limit,
      onEnd: (result) => {
        if (result.cancelled) return;
        if (result.error !== undefined) throw result.error;
        results.push(result);
      },
    },
  );
  signal.throwIfAborted();
  return { results, seconds: (performance.now() - started) / 1000 };
}

/** Seconds of one learning step on these rollouts, every second one rewarded so that each has a gradient. */
async function learn(
  results: readonly RolloutResult[],
  session: TinkerSession,
  model: string,
  settings: Settings,
  signal: AbortSignal,
): Promise<number> {
  const rollouts = results.map(({ state }, i) => ({ reward: i % 2, outputs: state ? outputsOf(state) : [] }));
  const batch = buildBatch([rollouts], settings.variant, { ...settings.advantage, singleton: 'reward' });
  let seconds = 0;
  for (const { data } of batch.adapters) {
    if (!data.length) continue;
    const lora = settings.weights === 'full' ? null : { rank: settings.rank, seed: 0 };
    const learner: Learner = await session.create(model, lora, undefined, signal);
    const started = performance.now();
    await learner.forwardBackward({ loss: 'importance_sampling', data }, signal);
    await learner.optimStep({ learningRate: 1e-9 }, signal);
    seconds += (performance.now() - started) / 1000;
  }
  return seconds;
}

function estimate(config: RunConfig, { results, seconds }: Sampled, learning: number) {
  const { settings, parts, environment } = config;
  const { tasksPerStep, groupSize, steps, evaluation } = settings;
  const tokens = results.reduce(
    (sum, { state }) =>
      sum + (state ? outputsOf(state).reduce((n, output) => n + output.tokens.length, 0) : 0),
    0,
  );
  const scale = (tasksPerStep * groupSize) / results.length;
  const secondsPerStep = (seconds + learning) * scale;
  // Each side of an evaluation is as many rollouts; the start and the end are evaluated too, test at the end twice.
  const sides = environment.executor && config.allowed.length ? 2 : 1;
  const rollout = seconds / results.length;
  const times = evaluation.every > 0 ? 1 + Math.ceil(steps / evaluation.every) : 0;
  const evaluated = (times * parts.validation.length + 2 * parts.test.length) * evaluation.attempts * sides;
  return {
    secondsPerStep,
    tokensPerStep: Math.round(tokens * scale),
    seconds: secondsPerStep * steps + evaluated * rollout,
  };
}
