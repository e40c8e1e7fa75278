/**
 * Role-wise GRPO in rehearsal (EnvACE, arXiv 2608.06197; `docs/training.md`): sample tasks → groups of rollouts → rewards
 * → role-wise advantages → batch → learner → new weights to the sampler → metrics. One step after the other, each
 * sampled whole with that step's weights. What happens on faults: `train.ts`.
 */
import { type Batch, buildBatch } from '../../../src/core/grpo/batch';
import { mixSeed } from '../../../src/core/rehearsal/seed';
import { measureRollouts } from '../../../src/core/training/measure';
import { measureLearning } from '../../../src/core/training/measure-learning';
import { watch } from '../../../src/core/training/pleasing';
import type { Evaluation, Metrics, Warning } from '../../../src/core/training/run.types';
import type { Part } from '../../../src/core/training/types';
import { DIFFERENCE_STOPS, warningsOf } from '../../../src/core/training/warnings';
import { UserError } from '../../../src/core/user-error';
import { evaluateTasks } from '../../../src/node/training/evaluate';
import { isDue, keep } from './checkpoints';
import { collapseAt } from './collapse';
import { withDivergence } from './divergence';
import { changedInputs } from './inputs';
import { update } from './learn';
import { Phases } from './phases';
import { groupsOf, rolloutsOf } from './rollouts';
import type { TrainingRun } from './run';
import type { Policies, Weights } from './weights';

/**
 * Trains from the step after `from` to the last. Where the run is told to stop, ends after a whole step.
 * @returns the warning that ended it before its last step (`onPleasing: "stop"`), or null
 */
export async function trainFrom(run: TrainingRun, weights: Weights, from: number): Promise<Warning | null> {
  const { settings } = run.store.config;
  if (from === 0) await begin(run, weights);
  for (let step = from + 1; step <= settings.steps; step++) {
    run.signal.throwIfAborted();
    await trainStep(run, weights, step);
    const pleases = run.store.status.warnings.find((one) => one.code === 'pleasing' && one.step === step);
    if (pleases && settings.onPleasing === 'stop' && step < settings.steps) return pleases;
  }
  return null;
}

async function trainStep(run: TrainingRun, weights: Weights, step: number): Promise<void> {
  const { settings } = run.store.config;
  const phases = phasesOf(run, step);
  const evaluates = isDue(step, settings.evaluation.every, settings.steps);

  const sampled = await phases.time('sample', () => rolloutsOf(run, weights.policies, step));
  const { learned, batch, kl, replayLoss } = await phases.time('learn', async () => {
    const { rollouts, kl } = await withDivergence(run, weights, sampled, evaluates);
    const batch = buildBatch(groupsOf(rollouts, settings.groupSize), settings.variant, settings.advantage);
    const rehearsals = rollouts.flatMap(({ outputs }) => outputs).filter(({ role }) => role === 'rehearse');
    return { ...(await update(run, weights, batch, step, rehearsals.length)), batch, kl };
  });
  await phases.time('sync', () => weights.toSampler());
  const evaluation = evaluates
    ? await phases.time('evaluate', () => evaluate(run, weights.policies, 'validation'))
    : null;

  await finish(run, weights, phases, {
    step,
    ...measureRollouts(sampled),
    ...batchFigures(batch),
    ...measureLearning(learned, settings.loss.clip),
    collapse: await collapseAt(run, weights.policies, step, sampled),
    kl,
    replayLoss,
    evaluation,
  });
}

/** Step 0: how good the start is. Nothing is learned. */
async function begin(run: TrainingRun, weights: Weights): Promise<void> {
  if ((await run.store.metrics()).length > 0) return;
  const { settings } = run.store.config;
  const phases = phasesOf(run, 0);
  const evaluation = settings.evaluation.every
    ? await phases.time('evaluate', () => evaluate(run, weights.policies, 'validation'))
    : null;
  await finish(run, weights, phases, {
    step: 0,
    ...measureRollouts([]),
    ...batchFigures(null),
    ...measureLearning([], settings.loss.clip),
    collapse: [],
    kl: { act: null, rehearse: null },
    replayLoss: null,
    evaluation,
  });
}

/**
 * How good some weights are at a part's tasks; null where it has none, or where the run is told to stop meanwhile.
 * With the same seeds whenever it is asked: what differs are the weights alone.
 */
export async function evaluate(
  { store: { config }, ports, signal }: TrainingRun,
  policies: Policies,
  part: Exclude<Part, 'train'>,
): Promise<Evaluation | null> {
  const { environment, parts, settings } = config;
  if (parts[part].length === 0) return null;
  try {
    return await evaluateTasks({
      environment,
      tasks: parts[part],
      ...policies,
      executor: ports.executor,
      checks: ports.checks,
      judge: ports.judge,
      part,
      attempts: settings.evaluation.attempts,
      seed: mixSeed(settings.seed, 'evaluate', part),
      concurrency: settings.concurrency,
      recorded: settings.evaluation.recorded,
      signal,
    });
  } catch (error) {
    if (signal.aborted) return null;
    throw error;
  }
}

/** Warnings of no step's row: a row that is computed again does not bring them back. */
const OF_THE_RUN = new Set<Warning['code']>(['checkpoint', 'other']);

type Figures = Omit<Metrics, 'time' | 'seconds' | 'warnings'>;

/** Keeps a checkpoint where one is due, writes the row, and says what a person should look at. */
async function finish(run: TrainingRun, weights: Weights, phases: Phases, figures: Figures): Promise<void> {
  const { store, ports } = run;
  const { status } = store;
  const before = await store.metrics();
  const earlier = status.warnings.filter(({ step, code }) => step < figures.step || OF_THE_RUN.has(code));
  const warnings = [
    ...warningsOf(figures, before, earlier),
    ...(figures.evaluation ? await changedInputs(run, figures.step) : []),
  ];
  const rehearses = store.config.settings.variant !== 'real';
  const pleases = rehearses ? watch([...before, { ...figures, warnings }]) : null;
  if (pleases) warnings.push(pleases);
  const list = await keep(run, weights, phases, figures);
  const seconds = phases.result;
  await store.appendMetrics({ ...figures, warnings, time: ports.now(), seconds });
  await list();
  const recent = [...before.slice(-20).map((row) => row.seconds.total), seconds.total];
  const perStep = recent.reduce((sum, one) => sum + one, 0) / recent.length;
  store.setStatus({
    warnings: [...earlier, ...warnings],
    secondsLeft: perStep * (status.steps - figures.step),
  });
  const { difference } = figures;
  if (difference && difference.mean > DIFFERENCE_STOPS) {
    throw new UserError(
      `Sampler and learner disagree by ${difference.mean.toFixed(2)} nats a token: they do not run the same weights.`,
      'Check that the sampler takes the weights after each step and runs at the same precision.',
    );
  }
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

const DOING = {
  sample: 'sampling',
  reward: 'rewarding',
  learn: 'learning',
  sync: 'handing over the weights',
  evaluate: 'evaluating',
  save: 'saving',
};

function phasesOf({ store }: TrainingRun, step: number): Phases {
  return new Phases((phase) => void store.setStatus({ step, phase: DOING[phase] }, false));
}
