/** What a training run is given: where it keeps things, and its ports to the rest of the world. */
import type { Metrics, RolloutRecord, RunStatus } from '../../../src/core/training/run.types';
import type { RunConfig } from '../../../src/core/training/types';
import type { Judge } from '../../../src/node/judge/judge';
import type { Executor } from '../../../src/node/tools';
import type { CheckRunner } from '../../../src/node/tools/checks';

/** The run's folder (`src/node/runs` implements it). What a method wrote is on the disk when it returns. */
export interface RunStore {
  readonly folder: string;
  readonly config: RunConfig;
  readonly status: RunStatus;
  /** @param kept false: only told to who is watching */
  setStatus(patch: Partial<RunStatus>, kept?: boolean): unknown;
  appendRollouts(records: readonly RolloutRecord[]): void | Promise<void>;
  rolloutsOf(step: number): RolloutRecord[] | Promise<RolloutRecord[]>;
  appendMetrics(metrics: Metrics): void | Promise<void>;
  metrics(from?: number): Metrics[] | Promise<Metrics[]>;
  /** Forgets the rows after a step: they are made again. */
  truncateMetrics(afterStep: number): void | Promise<void>;
}

/** A server and its key; for the Tinker protocol the key is sent as it is. */
export interface Address {
  baseUrl: string;
  apiKey?: string;
}

export interface TrainingPorts {
  /** Our own engine, once it answers: waits while it is being started. */
  engine(signal: AbortSignal): Promise<Address>;
  /** Value of a key by the name in the settings (`keyVariable`). */
  key?(name: string): Promise<string | undefined>;
  /** The real tools, behind consent, where they may run and their sessions do not see each other; else null. */
  executor: Executor | null;
  /** Where and whether programs of checks run. */
  checks?: CheckRunner;
  /** Decides `judge` checks. */
  judge?: Judge;
  /** Steps that other runs start from which have not ended: their checkpoints are kept. */
  branched?(): ReadonlySet<number>;
  /** ISO 8601. */
  now(): string;
  /** What happened that no person need look at, for the server's log. */
  log?(text: string): void;
}

export interface TrainingRun {
  store: RunStore;
  ports: TrainingPorts;
  /** Aborted to stop the run; what was learned is kept. */
  signal: AbortSignal;
}
