/** A learner behind the Tinker protocol: our engine, Tinker, or SkyRL. */
import type { Adam, Learner, LossRequest, LossResult } from '../../core/grpo/learner';
import type { Signal } from '../../core/policy';
import { UserError } from '../../core/user-error';
import { type Json, type TinkerAddress, TinkerHttp } from './http';
import { decodeResult, encodeRequest } from './proto';

/** What the protocol lets a request hold. Samples that share a prefix cost least in one request. */
const MOST_SAMPLES = 1024;
const MOST_TOKENS = 400_000;
const HEARTBEAT_MS = 10_000;

export interface LoraOptions {
  rank: number;
  seed?: number;
  trainAttn?: boolean;
  trainMlp?: boolean;
  trainUnembed?: boolean;
}

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

/** A session with a server. Close it: until then the server keeps its models in memory. */
export class TinkerSession {
  private models = 0;
  private readonly beat: NodeJS.Timeout;

  private constructor(
    private readonly http: TinkerHttp,
    private readonly id: string,
    /** Names of the models that the server trains. */
    readonly offered: readonly string[],
  ) {
    this.beat = setInterval(() => {
      void http.beat('session_heartbeat', { session_id: id, type: 'session_heartbeat' });
    }, HEARTBEAT_MS);
    this.beat.unref();
  }

  /** Throws `UserError` where nobody answers, or not in this protocol. */
  static async open(address: TinkerAddress, signal?: Signal): Promise<TinkerSession> {
    const http = new TinkerHttp(address);
    const { supported_models } = await http.get('get_server_capabilities', signal);
    if (!Array.isArray(supported_models)) throw http.odd('it names no models');
    const body = { tags: [], user_metadata: null, sdk_version: '0.38.0', type: 'create_session' };
    const { session_id } = await http.post('create_session', body, signal);
    if (typeof session_id !== 'string') throw http.odd('it gave no session');
    const names = supported_models.map((model) => String((model as Json)?.model_name));
    return new TinkerSession(http, session_id, names);
  }

  /** A fresh set of weights over a model: an adapter, or with `lora` null a copy of which every weight is trained. */
  create(model: string, lora: LoraOptions | null, owner?: Owner, signal?: Signal): Promise<TinkerLearner> {
    const lora_config = lora && {
      rank: lora.rank,
      seed: lora.seed ?? null,
      train_attn: lora.trainAttn ?? true,
      train_mlp: lora.trainMlp ?? true,
      train_unembed: lora.trainUnembed ?? true,
    };
    return this.start('create_model', { base_model: model, lora_config }, owner, signal);
  }

  /** The weights of a checkpoint, with their optimizer's state. */
  resume(address: string, owner?: Owner, signal?: Signal): Promise<TinkerLearner> {
    return this.start('load_weights', { path: address, optimizer: true }, owner, signal);
  }

  private async start(path: string, fields: Json, owner?: Owner, signal?: Signal): Promise<TinkerLearner> {
    const user_metadata = owner
      ? { rehearsal_run: owner.run, rehearsal_adapter: owner.adapter ?? null }
      : null;
    const body = { session_id: this.id, model_seq_id: this.models++, type: path, user_metadata, ...fields };
    const value = await this.http.result(path, body, signal);
    const id = value instanceof Uint8Array ? null : value.model_id;
    if (typeof id !== 'string') throw this.http.odd(`${path} gave no model_id`);
    return new TinkerLearner(this.http, id, owner);
  }

  async close(): Promise<void> {
    clearInterval(this.beat);
    await this.http.beat(`sessions/${this.id}/finish`, {}); // not every server has it
  }
}

export class TinkerLearner implements Learner {
  private seq = 0;

  constructor(
    private readonly http: TinkerHttp,
    readonly id: string,
    private readonly owner?: Owner,
  ) {}

  async forwardBackward(request: LossRequest, signal?: Signal): Promise<LossResult> {
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

  /** Numbers are taken when a call is made, and a refused one has used its own, as the server counts it. */
  private async ordered(path: string, fields: Json, signal?: Signal): Promise<Json> {
    const body = { model_id: this.id, seq_id: ++this.seq, type: path, ...fields };
    const value = await this.http.result(path, body, signal);
    if (value instanceof Uint8Array) throw this.http.odd(`${path} was answered with a message`);
    return value;
  }
}

function text(value: Json, name: string): string {
  const found = value[name];
  if (typeof found === 'string') return found;
  throw new UserError(`The learner's answer lacks ${name}.`, 'Check which server and version it is.');
}

/** The request in parts that the protocol accepts; gradients of all add up. */
function parts(request: LossRequest): LossRequest[] {
  const starts = [0];
  let tokens = 0;
  request.data.forEach(({ input }, i) => {
    tokens += input.length;
    const start = starts.at(-1)!;
    if (i === start || (i - start < MOST_SAMPLES && tokens <= MOST_TOKENS)) return;
    starts.push(i);
    tokens = input.length;
  });
  return starts.map(
    (start, i) => ({ ...request, data: request.data.slice(start, starts[i + 1]) }) as LossRequest,
  );
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
