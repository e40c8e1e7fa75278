/** One update of each set of weights from a step's batch, and what the learner says of it. */
import { adapterOf, type Batch, type Datum } from '../../../src/core/grpo/batch';
import type { Learner, LossRequest, Supervised } from '../../../src/core/grpo/learner';
import type { Learned } from '../../../src/core/training/measure-learning';
import type { Settings } from '../../../src/core/training/types';
import { UserError } from '../../../src/core/user-error';
import { LearnerError } from '../../../src/node/learners/errors';
import { replayLoss, replaySamples, supervised } from './replay';
import type { TrainingRun } from './run';
import type { Weights } from './weights';

export interface Update {
  learned: Learned[];
  /** Nats a token of the recorded calls that were learned; null where none were. */
  replayLoss: number | null;
}

/** What has no advantage was left out of the batch and costs nothing; the recorded calls of `replayShare` are added. */
export async function update(
  run: TrainingRun,
  weights: Weights,
  batch: Batch,
  step: number,
  rehearsals: number,
): Promise<Update> {
  const { settings } = run.store.config;
  const replayed = await replayFor(run, weights, step, rehearsals);
  const result: Update = { learned: [], replayLoss: null };
  for (const adapter of weights.adapters) {
    const own = batch.adapters.find((one) => one.adapter === adapter);
    const learner = weights.learner(adapter);
    const recorded = adapter === adapterOf(settings.variant, 'rehearse') ? replayed : [];
    if (!own?.data.length && recorded.length === 0) continue;
    const answer = own?.data.length
      ? await gradient(
          learner,
          { ...lossRequest(own.data, settings.loss), more: recorded.length },
          step,
          own.sources,
        )
      : null;
    if (recorded.length) {
      const request = { loss: 'cross_entropy' as const, data: recorded };
      const { logprobs } = await learner.forwardBackward(request);
      result.replayLoss = replayLoss(recorded, logprobs);
    }
    const { weightDecay, gradientClip } = settings.loss;
    const optimizer = await learner.optimStep({
      learningRate: settings.learningRate,
      weightDecay,
      gradientClip,
    });
    if (own && answer) {
      const after = await moved(learner, own.data);
      result.learned.push({ batch: own, result: answer, step: optimizer, after });
    }
  }
  return result;
}

async function replayFor(
  run: TrainingRun,
  weights: Weights,
  step: number,
  rehearsals: number,
): Promise<Supervised[]> {
  const { variant, replayShare } = run.store.config.settings;
  if (!adapterOf(variant, 'rehearse')) return [];
  const { policy, rehearser } = weights.policies;
  return supervised(await replaySamples(run, rehearser ?? policy, step, rehearsals), replayShare);
}

function lossRequest(data: readonly Datum[], { name, clip }: Settings['loss']): PolicyGradient {
  if (name === 'importance_sampling') return { loss: name, data };
  return { loss: name, data, config: { clip_low_threshold: 1 - clip, clip_high_threshold: 1 + clip } };
}

type PolicyGradient = Extract<LossRequest, { data: readonly Datum[] }>;

/** A loss that is no number changes nothing; which rollouts it came from is found out and told. */
async function gradient(learner: Learner, request: PolicyGradient, step: number, sources: readonly number[]) {
  try {
    return await learner.forwardBackward(request);
  } catch (error) {
    if (!(error instanceof LearnerError) || error.code !== 'not_finite') throw error;
    const wrong = await notFinite(learner, request.data, sources);
    throw new NotFiniteError(step, wrong.length ? wrong : [...new Set(sources)], { cause: error });
  }
}

/** Rollouts whose samples have a log-probability, or a ratio, that is no number. */
async function notFinite(
  learner: Learner,
  data: readonly Datum[],
  sources: readonly number[],
): Promise<number[]> {
  try {
    const { logprobs } = await learner.forwardBackward(onlyForward(data));
    const wrong = sources.filter((_, i) => {
      const { advantages, logprobs: old } = data[i]!;
      return logprobs[i]!.some((now, t) => !Number.isFinite(Math.exp(now - old[t]!) * advantages[t]!));
    });
    return [...new Set(wrong)];
  } catch {
    return []; // then it may be any of them
  }
}

export class NotFiniteError extends UserError {
  constructor(
    readonly step: number,
    /** Indexes of the rollouts in the step. */
    readonly rollouts: readonly number[],
    options: { cause: unknown },
  ) {
    const shown = rollouts.slice(0, 10).join(', ') + (rollouts.length > 10 ? ', …' : '');
    super(
      `The loss of step ${step} is not a number. It comes from rollouts ${shown} of that step.`,
      'The weights before that step are kept. Look at the rollouts, lower the learning rate, then branch from the checkpoint.',
      undefined,
      options,
    );
  }
}

/** So many samples tell how far an update went; more would cost time and say the same. */
const PROBED = 8;

/** The samples' log-probabilities under the new weights, of a few of them spread over the batch. */
async function moved(learner: Learner, data: readonly Datum[]): Promise<Learned['after']> {
  const every = Math.ceil(data.length / PROBED);
  const some = data.filter((_, i) => i % every === 0);
  const { logprobs } = await learner.forwardBackward(onlyForward(some));
  return some.map((datum, i) => ({ datum, logprobs: logprobs[i]! }));
}

function onlyForward(data: readonly Datum[]): LossRequest {
  return {
    loss: 'cross_entropy',
    forwardOnly: true,
    data: data.map(({ input, target }) => ({
      input,
      target,
      weights: new Array<number>(input.length).fill(0),
    })),
  };
}
