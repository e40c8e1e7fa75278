/** The port to what learns. An adapter (`src/node/learners`) implements it over the Tinker protocol. */
import type { Signal } from '../policy';
import type { Datum } from './batch';

export type LossName = 'importance_sampling' | 'ppo' | 'cispo';

/** A sample that is learned as it stands: the weighted log-likelihood of its targets. */
export interface Supervised {
  input: readonly number[];
  target: readonly number[];
  weights: readonly number[];
}

export type LossRequest = (
  | { loss: 'cross_entropy'; data: readonly Supervised[] }
  | { loss: LossName; data: readonly Datum[]; config?: Readonly<Record<string, number>> }
) & {
  forwardOnly?: boolean;
  /** Samples of further requests before the next step: a server that averages over a step must know them. */
  more?: number;
};

export interface LossResult {
  /** The learner's log-probabilities of each sample's targets, nats. */
  logprobs: number[][];
  /** Named `name:reduction`. */
  metrics: Record<string, number>;
}

export interface Adam {
  learningRate: number;
  beta1?: number;
  beta2?: number;
  epsilon?: number;
  weightDecay?: number;
  /** Largest norm of the gradient; 0 is off. */
  gradientClip?: number;
}

/** One set of weights in training. Calls run in the order in which they are made. */
export interface Learner {
  /** Adds the gradients of the sum over all samples to what has been accumulated. */
  forwardBackward(request: LossRequest, signal?: Signal): Promise<LossResult>;
  /** One step with what has been accumulated. */
  optimStep(adam: Adam, signal?: Signal): Promise<Record<string, number>>;
  /** Saves weights and optimizer; returns the address for `load`. */
  save(name: string, signal?: Signal): Promise<string>;
  load(address: string, signal?: Signal): Promise<void>;
  /** Hands the weights to the sampler; returns the name by which it knows them. */
  toSampler(signal?: Signal): Promise<string>;
}
