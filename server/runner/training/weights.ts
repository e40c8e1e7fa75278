/** The weights of a run: one set, or one for each role; learned in one place and sampled from in another. */
import type { AdapterBatch } from '../../../src/core/grpo/batch';
import type { Learner } from '../../../src/core/grpo/learner';
import type { Policy } from '../../../src/core/policy';
import { mixSeed } from '../../../src/core/rehearsal/seed';
import type { Checkpoint } from '../../../src/core/training/run.types';
import type { RunConfig } from '../../../src/core/training/types';
import { UserError } from '../../../src/core/user-error';
import { checkpointModel, type TinkerLearner, TinkerSession } from '../../../src/node/learners/tinker';
import { connectPolicy } from '../../../src/node/policies/connect';
import { handOver } from './handover';
import type { TrainingRun } from './run';
import { type Servers, serversOf } from './servers';

export type Adapter = AdapterBatch['adapter'];

/** The models that act and that rehearse. */
export interface Policies {
  policy: Policy;
  /** Absent: the same one. */
  rehearser?: Policy;
}

function adaptersOf({ settings }: RunConfig): Adapter[] {
  return settings.variant === 'rehearse-per-role' ? ['act', 'rehearse'] : ['shared'];
}

/** Where a set of weights is kept on our engine; without a role's name where there is only one. */
function owner(config: RunConfig, adapter: Adapter) {
  return adapter === 'shared' ? { run: config.id } : { run: config.id, adapter };
}

/** Name of a checkpoint as a model; where each role has its own, of the one that acts. */
export function modelOf(config: RunConfig, step: number, adapter = adaptersOf(config)[0]!): string {
  return checkpointModel(owner(config, adapter), `step-${step}`);
}

export class Weights {
  private sampled: Partial<Record<Adapter, Policy>> = {};
  private base: Promise<Learner> | null = null;

  private constructor(
    private readonly config: RunConfig,
    private readonly servers: Servers,
    private readonly session: TinkerSession,
    private readonly learners: ReadonlyMap<Adapter, TinkerLearner>,
    private readonly signal: AbortSignal,
  ) {}

  /** The weights of a checkpoint, or those that the run starts from; ready to be sampled from. */
  static async open({ store, ports, signal }: TrainingRun, checkpoint: Checkpoint | null): Promise<Weights> {
    const { config } = store;
    const servers = await serversOf(config, ports, signal);
    const session = await TinkerSession.open(servers.learner, signal);
    const learners = new Map<Adapter, TinkerLearner>();
    try {
      checkOffered(session, servers);
      for (const adapter of adaptersOf(config)) {
        const address = checkpoint?.addresses?.[adapter] ?? startAddress(config, adapter);
        learners.set(
          adapter,
          address === null
            ? await session.create(servers.model, loraOf(config, adapter), owner(config, adapter), signal)
            : await session.resume(address, owner(config, adapter), signal),
        );
      }
      const weights = new Weights(config, servers, session, learners, signal);
      await weights.toSampler();
      return weights;
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  /** Name of the model that the run starts from. */
  get start(): string {
    return startModel(this.config, this.servers.model, adaptersOf(this.config)[0]!);
  }

  get adapters(): Adapter[] {
    return [...this.learners.keys()];
  }

  learner(adapter: Adapter): Learner {
    return this.learners.get(adapter)!;
  }

  /** The weights that were last given to the sampler. */
  get policies(): Policies {
    const { shared, act, rehearse } = this.sampled;
    return shared ? { policy: shared } : { policy: act!, rehearser: rehearse! };
  }

  /** Gives all weights to the sampler. Nothing may be sampling. Never broken off: a step is whole or not at all. */
  async toSampler(): Promise<void> {
    for (const [adapter, learner] of this.learners) {
      const { config, servers, session } = this;
      const before = this.sampled[adapter];
      const given = { config, servers, session, learner, owner: owner(config, adapter), before };
      this.sampled[adapter] = await handOver(given);
    }
  }

  /** Saves weights and optimizers; where the learner keeps them. */
  async save(step: number): Promise<Record<string, string>> {
    const addresses: Record<string, string> = {};
    for (const [adapter, learner] of this.learners) {
      addresses[adapter] = await learner.save(`step-${step}`);
    }
    return addresses;
  }

  /** The model that the run starts from, as a learner that is never stepped. */
  baseLearner(): Promise<Learner> {
    this.base ??= this.session.create(this.servers.model, { rank: 1, seed: 0 });
    return this.base;
  }

  /** The models of a kept checkpoint; of step 0, what the run starts from. */
  async policiesOf({ step, addresses }: Pick<Checkpoint, 'step' | 'addresses'>): Promise<Policies> {
    const { config, servers, session, signal } = this;
    // On our engine checkpoints are models, whoever samples in training: another sampler has the last weights only.
    // Elsewhere they have to be loaded as weights in training first.
    const models = session.backend.kind === 'engine';
    const found: Policy[] = [];
    for (const adapter of adaptersOf(config)) {
      if (models) {
        const model =
          step === 0 ? startModel(config, servers.model, adapter) : modelOf(config, step, adapter);
        found.push(await connectPolicy({ ...servers.engine, model }, signal));
        continue;
      }
      const address = addresses?.[adapter] ?? startAddress(config, adapter);
      const own = { run: config.id, adapter: `${adapter}-${step}` };
      const learner = address
        ? await session.resume(address, own)
        : await session.create(servers.model, loraOf(config, adapter), own);
      found.push(await handOver({ config, servers, session, learner, owner: own, before: undefined }));
    }
    const [policy, rehearser] = found;
    return rehearser ? { policy: policy!, rehearser } : { policy: policy! };
  }

  /** What the learner lacks, in sentences. */
  get lacks(): readonly string[] {
    return this.session.backend.lacks;
  }

  close(): Promise<void> {
    return this.session.close();
  }
}

/** Another learner knows models by names of its own, and refuses others in words of its own. */
function checkOffered({ backend, offered }: TinkerSession, { learner, model }: Servers): void {
  if (backend.kind === 'engine' || offered.includes(model)) return;
  throw new UserError(
    `The learner at ${learner.baseUrl} does not train ${model}, but ${offered.join(', ') || 'nothing'}.`,
    'Both servers must know the model by one name: set "model" to it, and load the same model in our engine under it.',
  );
}

function loraOf({ settings }: RunConfig, adapter: Adapter) {
  const { weights, rank, seed, sampler } = settings;
  if (weights === 'full') return null;
  // vLLM takes no adapter of the output layer.
  return { rank, seed: mixSeed(seed, 'lora', adapter), trainUnembed: sampler.kind !== 'vllm' };
}

/** `run/step` as our engine's address of that checkpoint; where it has weights for each role, of this one. */
function startAddress({ settings }: RunConfig, adapter: Adapter): string | null {
  const [run, step] = settings.start?.split('/') ?? [];
  if (!run || !step) return null;
  return `tinker://${run}/weights/${nameOf(step, adapter)}`;
}

function startModel({ settings }: RunConfig, model: string, adapter: Adapter): string {
  const [run, step] = settings.start?.split('/') ?? [];
  return run && step ? `${run}/${nameOf(step, adapter)}` : model;
}

function nameOf(step: string, adapter: Adapter): string {
  const name = /^\d+$/.test(step) ? `step-${step}` : step;
  return adapter === 'shared' ? name : `${name}.${adapter}`;
}
