/**
 * Role-wise GRPO in rehearsal (EnvACE, arXiv 2608.06197; `docs/method.md`): sample tasks → groups of rollouts → rewards
 * → role-wise advantages → batch → learner → new weights to the sampler → metrics. One step after the other, each
 * sampled whole with that step's weights. What happens on faults: `resume.ts`.
 */
import { type Batch, buildBatch } from '../../../src/core/grpo/batch';
import type { LossRequest } from '../../../src/core/grpo/learner';
import { mixSeed } from '../../../src/core/rehearsal/seed';
import { measureRollouts } from '../../../src/core/training/measure';
import { type Learned, measureLearning } from '../../../src/core/training/measure-learning';
import type { Evaluation, Metrics } from '../../../src/core/training/run.types';
import type { Part, Settings } from '../../../src/core/training/types';
import { evaluateTasks } from '../../../src/node/training/evaluate';
import { isDue, keep } from './checkpoints';
import { Phases } from './phases';
import { groupsOf, rolloutsOf } from './rollouts';
import type { TrainingRun } from './run';
import type { Policies, Weights } from './weights';

/** Trains from the step after `from` to the last. Stops between two steps where the run is told to. */
export async function trainFrom(run: TrainingRun, weights: Weights, from: number): Promise<void> {
  const { settings } = run.store.config;
  if (from === 0) await begin(run, weights);
  for (let step = from + 1; step <= settings.steps; step++) {
    run.signal.throwIfAborted();
    await trainStep(run, weights, step);
  }
}

/** Step 0: how good the start is. */
async function begin(run: TrainingRun, weights: Weights): Promise<void> {
  if ((await run.store.metrics()).length > 0) return;
  const phases = phasesOf(run, 0);
  const evaluation = run.store.config.settings.evaluation.every
    ? await phases.time('evaluate', () => evaluate(run, weights.policies, 'validation', 0))
    : null;
  const rollouts = measureRollouts([]);
  const learning = measureLearning([], run.store.config.settings.loss.clip);
  await finish(run, weights, phases, {
    step: 0,
    ...rollouts,
    ...batchFigures(null),
    ...learning,
    collapse: [],
    kl: { act: null, rehearse: null },
    replayLoss: null,
    evaluation,
    warnings: [],
  });
}

async function trainStep(run: TrainingRun, weights: Weights, step: number): Promise<void> {
  const { settings } = run.store.config;
  const phases = phasesOf(run, step);

  const rollouts = await phases.time('sample', () => rolloutsOf(run, weights.policies, step));
  const groups = groupsOf(rollouts, settings.groupSize);
  const batch = buildBatch(groups, settings.variant, settings.advantage);
  const learned = await phases.time('learn', () => learn(run, weights, batch));
  await phases.time('sync', () => weights.toSampler());
  const evaluation = isDue(step, settings.evaluation.every, settings.steps)
    ? await phases.time('evaluate', () => evaluate(run, weights.policies, 'validation', step))
    : null;

  await finish(run, weights, phases, {
    step,
    ...measureRollouts(rollouts),
    ...batchFigures(batch),
    ...measureLearning(learned, settings.loss.clip),
    collapse: [],
    kl: { act: null, rehearse: null },
    replayLoss: null,
    evaluation,
    warnings: [],
  });
}

/** One update of each set of weights. What has no advantage was left out of the batch and costs nothing. */
async function learn({ store, signal }: TrainingRun, weights: Weights, batch: Batch): Promise<Learned[]> {
  const { loss, learningRate } = store.config.settings;
  const learned: Learned[] = [];
  for (const one of batch.adapters) {
    if (one.data.length === 0) continue;
    const learner = weights.learner(one.adapter);
    const result = await learner.forwardBackward(lossRequest(one.data, loss), signal);
    const { weightDecay, gradientClip } = loss;
    const step = await learner.optimStep({ learningRate, weightDecay, gradientClip }, signal);
    learned.push({ batch: one, result, step });
  }
  return learned;
}

function lossRequest(data: Batch['adapters'][number]['data'], { name, clip }: Settings['loss']): LossRequest {
  const config =
    name === 'importance_sampling'
      ? undefined
      : { clip_low_threshold: 1 - clip, clip_high_threshold: 1 + clip };
  return { loss: name, data, ...(config ? { config } : {}) };
}

/** The same seed at every step: checkpoints differ by their weights alone. */
function evaluate(
  { store: { config }, ports, signal }: TrainingRun,
  policies: Policies,
  part: Exclude<Part, 'train'>,
  step: number,
): Promise<Evaluation | null> {
  const { environment, parts, settings } = config;
  void step;
  if (parts[part].length === 0) return Promise.resolve(null);
  return evaluateTasks({
    environment,
    tasks: parts[part],
    ...policies,
    executor: ports.executor,
    checks: ports.checks,
    part,
    attempts: settings.evaluation.attempts,
    seed: mixSeed(settings.seed, 'evaluate', part),
    concurrency: settings.concurrency,
    recorded: settings.evaluation.recorded,
    signal,
  });
}

type Figures = Omit<Metrics, 'time' | 'seconds'>;

/** Keeps a checkpoint where one is due, and writes the row. */
async function finish(run: TrainingRun, weights: Weights, phases: Phases, figures: Figures): Promise<void> {
  const kept = await keep(run, weights, phases, figures);
  await run.store.appendMetrics({ ...figures, time: run.ports.now(), seconds: phases.result });
  await kept();
}

function batchFigures(
  batch: Batch | null,
): Pick<Metrics, 'groups' | 'groupsWithoutSignal' | 'advantageSpread'> {
  return {
    groups: batch?.groups ?? 0,
    groupsWithoutSignal: batch?.groupsWithoutSignal ?? 0,
    advantageSpread: batch?.spread ?? { act: null, rehearse: null },
  };
}

const WORDS = {
  sample: 'sampling',
  reward: 'rewarding',
  learn: 'learning',
  sync: 'handing the weights to the sampler',
  evaluate: 'evaluating',
  save: 'saving',
};

function phasesOf({ store }: TrainingRun, step: number): Phases {
  return new Phases((phase) => void store.setStatus({ step, phase: WORDS[phase] }));
}
