/** A learner behind the Tinker protocol: our engine, Tinker, or SkyRL. */
import type { Policy, Signal } from '../../core/policy';
import { type Backend, backendOf } from './backend';
import { LearnerError } from './errors';
import { type Fields, type TinkerAddress, TinkerHttp } from './http';
import { type Owner, TinkerLearner } from './learner';
import { tinkerPolicy } from './sampler';

export { checkpointModel, type Owner, TinkerLearner } from './learner';

const HEARTBEAT_MS = 10_000;

export interface LoraOptions {
  rank: number;
  seed?: number;
  trainAttn?: boolean;
  trainMlp?: boolean;
  trainUnembed?: boolean;
}

/** A session with a server. Close it: until then the server keeps its models in memory. */
export class TinkerSession {
  /** What the server is like: see `backend.ts`. */
  backend!: Backend;
  private models = 0;
  private readonly learners: TinkerLearner[] = [];
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

  /** Throws `UserError` where nobody answers, or not in this protocol, or not so that one could learn there. */
  static async open(address: TinkerAddress, signal?: Signal): Promise<TinkerSession> {
    const http = new TinkerHttp(address);
    const { supported_models } = await http.get('get_server_capabilities', signal);
    if (!Array.isArray(supported_models)) throw http.odd('it names no models');
    const body = { tags: [], user_metadata: null, sdk_version: '0.38.0', type: 'create_session' };
    const { session_id } = await http.post('create_session', body, signal);
    if (typeof session_id !== 'string') throw http.odd('it gave no session');
    const names = supported_models.map((model) => String((model as Fields)?.model_name));
    const session = new TinkerSession(http, session_id, names);
    const scratch = () => session.create(names[0] ?? '', { rank: 4, seed: 1 }, undefined, signal);
    try {
      session.backend = await backendOf(http, scratch, signal);
    } catch (error) {
      await session.close();
      throw error;
    } finally {
      for (const learner of session.learners.splice(0)) await learner.unload();
    }
    return session;
  }

  /** A fresh set of weights over a model: an adapter, or with `lora` null a copy of which every weight is trained. */
  async create(
    model: string,
    lora: LoraOptions | null,
    owner?: Owner,
    signal?: Signal,
  ): Promise<TinkerLearner> {
    const lora_config = lora && {
      rank: lora.rank,
      seed: lora.seed ?? null,
      train_attn: lora.trainAttn ?? true,
      train_mlp: lora.trainMlp ?? true,
      train_unembed: lora.trainUnembed ?? true,
    };
    if (!lora && this.backend?.full === false) {
      throw new LearnerError('refused', `The learner at ${this.http.url} trains adapters only.`);
    }
    return this.start('create_model', { base_model: model, lora_config }, owner, signal);
  }

  /** The weights of a checkpoint, with their optimizer's state. */
  async resume(address: string, owner?: Owner, signal?: Signal): Promise<TinkerLearner> {
    if (this.backend.full)
      return this.start('load_weights', { path: address, optimizer: true }, owner, signal);
    // SkyRL loads only as the first request of a model like the one that was saved.
    const info = await this.http.post('weights_info', { tinker_path: address }, signal);
    const learner = await this.create(
      String(info.base_model),
      { rank: Number(info.lora_rank) },
      owner,
      signal,
    );
    await learner.load(address, signal);
    return learner;
  }

  /** Samples where it learns, by what `toSampler` gave; chat template and texts are those of `like`. */
  policy(sampling: string, like: Policy): Policy {
    return tinkerPolicy(this.http, sampling, like);
  }

  /** Writes a checkpoint of our engine for other programs into a new folder: see `Export`. */
  async export(request: ExportRequest, signal?: Signal): Promise<Exported> {
    const { address, form, folder, dtype } = request;
    const body = { path: address, form, folder, dtype: dtype ?? null };
    return (await this.own('rehearsal/export', body, signal)) as unknown as Exported;
  }

  /** What training a model would need of our engine's memory, and what is free there. */
  async fit(model: string, lora: LoraOptions | null, signal?: Signal): Promise<Fit> {
    const body = { base_model: model, lora_config: lora && { rank: lora.rank } };
    const { fits, need_bytes, free_bytes } = await this.own('rehearsal/fit', body, signal);
    return { fits: fits === true, needBytes: need_bytes as Fit['needBytes'], freeBytes: Number(free_bytes) };
  }

  private async own(path: string, body: Fields, signal?: Signal): Promise<Fields> {
    if (this.backend.kind !== 'engine') {
      throw new LearnerError(
        'refused',
        `The learner at ${this.http.url} is not our engine, which alone has ${path}.`,
      );
    }
    const value = await this.http.result(path, body, signal);
    if (value instanceof Uint8Array) throw this.http.odd(`${path} was answered with a message`);
    return value;
  }

  private async start(path: string, fields: Fields, owner?: Owner, signal?: Signal): Promise<TinkerLearner> {
    const user_metadata = owner
      ? { rehearsal_run: owner.run, rehearsal_adapter: owner.adapter ?? null }
      : null;
    const body = { session_id: this.id, model_seq_id: this.models++, type: path, user_metadata, ...fields };
    const value = await this.http.result(path, body, signal);
    const id = value instanceof Uint8Array ? null : value.model_id;
    if (typeof id !== 'string') throw this.http.odd(`${path} gave no model_id`);
    const learner = new TinkerLearner(this.http, id, this.backend, owner);
    this.learners.push(learner);
    return learner;
  }

  async close(): Promise<void> {
    clearInterval(this.beat);
    // SkyRL has places for so many adapters, and keeps those of a session that is over for minutes.
    if (this.backend?.kind === 'other') for (const learner of this.learners) await learner.unload();
    await this.http.beat(`sessions/${this.id}/finish`, {}); // not every server has it
  }
}

/** `adapter` as PEFT has it, or `merged`, a Hugging Face folder; tokenizer and chat template go along. */
export interface ExportRequest {
  address: string;
  form: 'adapter' | 'merged';
  /** Absolute, on the engine's machine; new or empty. */
  folder: string;
  dtype?: 'float32' | 'bfloat16' | 'float16';
}

export interface Exported {
  folder: string;
  bytes: number;
  /** What to know of it, e.g. who cannot load it. */
  note: string | null;
}

export interface Fit {
  fits: boolean;
  needBytes: Record<'weights' | 'trained' | 'activations' | 'sampler' | 'total', number>;
  freeBytes: number;
}
