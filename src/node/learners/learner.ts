/** One set of weights behind the Tinker protocol. */
import type { Adam, Learner, LossRequest, LossResult } from '../../core/grpo/learner';
import type { Signal } from '../../core/policy';
import { UserError } from '../../core/user-error';
import { type Backend, scaled } from './backend';
import { LearnerError } from './errors';
import type { Fields, TinkerHttp } from './http';
import { decodeResult, encodeRequest, type Sendable } from './proto';

/** What the protocol lets a request hold. Samples that share a prefix cost least in one request. */
const MOST_SAMPLES = 1024;
const MOST_TOKENS = 400_000;
/** Whose weights they are: names of checkpoints and of the sampler's model on our engine. Others ignore it. */
export interface Owner {
  /** Letters, digits, `.`, `_`, `-`. */
  run: string;
  /** Where a run trains several sets of weights. */
  adapter?: string;
}

/** Name of a checkpoint as a model of our engine. */
export function checkpointModel({ run, adapter }: Owner, name: string): string {
  return `${run}/${named(name, adapter)}`;
}

const named = (name: string, adapter?: string) => (adapter === undefined ? name : `${name}.${adapter}`);

export class TinkerLearner implements Learner {
  private seq = 0;
  /** Samples since the last step: sent, and said to be all of them. */
  private step = { sent: 0, all: 0 };

  constructor(
    private readonly http: TinkerHttp,
    readonly id: string,
    /** Absent while it is being found out: everything is sent as it is. */
    private readonly backend?: Backend,
    private readonly owner?: Owner,
  ) {}

  async forwardBackward(request: LossRequest, signal?: Signal): Promise<LossResult> {
    if (this.backend?.reduction !== 'mean' || request.forwardOnly) return this.send(request, signal);
    return this.averaged(request, signal);
  }

  /** The sum, of a server that averages. */
  private async averaged(request: LossRequest, signal?: Signal): Promise<LossResult> {
    const { data, more = 0 } = request;
    if (!this.step.sent) this.step.all = data.length + more;
    this.step.sent += data.length;
    if (this.step.sent > this.step.all) {
      throw new LearnerError(
        'refused',
        `The learner at ${this.http.url} averages over the samples of a step, and ${this.step.sent} came where ${this.step.all} were announced.`,
      );
    }
    if (request.loss !== 'cross_entropy') {
      const sent = { ...request, data: scaled(request.data, this.step.all) };
      return this.send(sent, signal);
    }
    // Weights are its mask; at a ratio of 1 the gradient of a policy loss is that of the weighted likelihood.
    const { logprobs } = await this.send({ ...request, forwardOnly: true }, signal);
    const policy = request.data.map(({ input, target, weights }, i) => ({
      input,
      target,
      logprobs: logprobs[i]!,
      advantages: weights,
    }));
    const sent = { loss: 'importance_sampling' as const, data: scaled(policy, this.step.all) };
    const { metrics } = await this.send(sent, signal);
    return { logprobs, metrics };
  }

  private async send(request: Sendable, signal?: Signal): Promise<LossResult> {
    const requests = parts(request).map((part) => {
      const bytes = encodeRequest({ model: this.id, seq: ++this.seq }, part);
      return this.http.result('forward_backward', bytes, signal);
    });
    const results = (await Promise.all(requests)).map((value) => {
      if (!(value instanceof Uint8Array))
        throw this.http.odd('forward_backward was answered without its message');
      return decodeResult(value);
    });
    const logprobs = results.flatMap((result) => result.logprobs);
    const { data } = request;
    if (logprobs.length !== data.length || logprobs.some((row, i) => row.length !== data[i]!.input.length)) {
      throw this.http.odd('log-probabilities and samples differ in number');
    }
    return { logprobs, metrics: together(results.map((result) => result.metrics)) };
  }

  async optimStep(adam: Adam, signal?: Signal): Promise<Record<string, number>> {
    const { sent, all } = this.step;
    this.step = { sent: 0, all: 0 };
    if (sent < all) {
      const message = `${all} samples were announced for this step and ${sent} came: a mean over them would be wrong.`;
      throw new LearnerError('refused', message);
    }
    const adam_params = {
      learning_rate: adam.learningRate,
      beta1: adam.beta1 ?? 0.9,
      beta2: adam.beta2 ?? 0.95,
      eps: adam.epsilon ?? 1e-12,
      weight_decay: adam.weightDecay ?? 0,
      grad_clip_norm: adam.gradientClip ?? 0,
    };
    const { metrics } = await this.ordered('optim_step', { adam_params }, signal);
    return (metrics ?? {}) as Record<string, number>;
  }

  /** On our engine the checkpoint is also a model, `checkpointModel(owner, name)`. */
  async save(name: string, signal?: Signal): Promise<string> {
    // A run that was killed after saving saves again under the same name.
    const path = named(name, this.owner?.adapter);
    return text(await this.ordered('save_weights', { path, overwrite: true }, signal), 'path');
  }

  async load(address: string, signal?: Signal): Promise<void> {
    await this.ordered('load_weights', { path: address, optimizer: true }, signal);
  }

  /** With an owner the name on our engine is always the same, `run/now`, and the weights under it change. */
  async toSampler(signal?: Signal): Promise<string> {
    const fields = { path: null, sampling_session_seq_id: this.seq + 1 };
    const value = await this.ordered('save_weights_for_sampler', fields, signal);
    return typeof value.model === 'string' ? value.model : text(value, 'sampling_session_id');
  }

  /** Writes the weights as an adapter that vLLM loads, over the one before. On our engine; returns the folder there. */
  async toFolder(name: string, signal?: Signal): Promise<string> {
    const fields = { path: named(name, this.owner?.adapter), overwrite: true };
    return text(await this.ordered('save_weights_for_sampler', fields, signal), 'folder');
  }

  /** Lets the server forget it; not every one can. */
  async unload(): Promise<void> {
    await this.http.beat('unload_model', { model_id: this.id, type: 'unload_model' });
  }

  /** Numbers are taken when a call is made, and a refused one has used its own, as the server counts it. */
  private async ordered(path: string, fields: Fields, signal?: Signal): Promise<Fields> {
    const body = { model_id: this.id, seq_id: ++this.seq, type: path, ...fields };
    const value = await this.http.result(path, body, signal);
    if (value instanceof Uint8Array) throw this.http.odd(`${path} was answered with a message`);
    return value;
  }
}

function text(value: Fields, name: string): string {
  const found = value[name];
  if (typeof found === 'string') return found;
  throw new UserError(`The learner's answer lacks ${name}.`, 'Check which server and version it is.');
}

/** The request in parts that the protocol accepts; gradients of all add up. */
function parts(request: Sendable): Sendable[] {
  const starts = [0];
  let tokens = 0;
  request.data.forEach(({ input }, i) => {
    tokens += input.length;
    const start = starts.at(-1)!;
    if (i === start || (i - start < MOST_SAMPLES && tokens <= MOST_TOKENS)) return;
    starts.push(i);
    tokens = input.length;
  });
  return starts.map((start, i) => ({ ...request, data: request.data.slice(start, starts[i + 1]) }));
}

/** Metrics of parts as those of the whole, each by the reduction that its name ends in. */
function together(all: readonly Record<string, number>[]): Record<string, number> {
  const whole: Record<string, number> = {};
  for (const name of new Set(all.flatMap(Object.keys))) {
    const values = all.flatMap((metrics) => (name in metrics ? [metrics[name]!] : []));
    const sum = values.reduce((a, b) => a + b, 0);
    if (name.endsWith(':sum')) whole[name] = sum;
    else if (name.endsWith(':max')) whole[name] = Math.max(...values);
    else if (name.endsWith(':min')) whole[name] = Math.min(...values);
    else whole[name] = sum / values.length;
  }
  return whole;
}
