/** A run folder for readers: what is whole in it, whoever is writing meanwhile. */
import fs from 'node:fs';
import path from 'node:path';
import type { Metrics, RolloutRecord, RunStatus } from '../../core/training/run.types';
import type { RunConfig } from '../../core/training/types';
import { readRows } from '../jsonl';
import { runErrors } from './errors';
import { isRunId, runFolder } from './ids';
import { type RolloutPlace, readRollouts, rolloutPlaces } from './rollouts';

export const FILES = {
  config: 'config.json',
  status: 'status.json',
  metrics: 'metrics.jsonl',
  rollouts: 'rollouts.jsonl',
  checkpoints: 'checkpoints',
} as const;

export class RunReader {
  readonly folder: string;

  /** Throws `NodeError` where there is no such run. */
  constructor(
    root: string,
    readonly id: string,
  ) {
    this.folder = runFolder(root, id);
    if (!fs.existsSync(path.join(this.folder, FILES.config))) throw runErrors.unknown(id);
  }

  get checkpoints(): string {
    return path.join(this.folder, FILES.checkpoints);
  }

  get config(): RunConfig {
    return this.json<RunConfig>(FILES.config, ({ version }) => version === 1);
  }

  get status(): RunStatus {
    return this.json<RunStatus>(FILES.status, ({ id }) => id === this.id);
  }

  /** Rows from the one at `from` (counted from 0) on. */
  metrics(from = 0): Metrics[] {
    return this.reading(() => readRows(path.join(this.folder, FILES.metrics), isMetrics).rows.slice(from));
  }

  /** Rollouts of a step in their order. */
  async rolloutsOf(step: number): Promise<RolloutRecord[]> {
    return this.rollouts((place) => place.step === step);
  }

  /** Steps that have rollouts, and how many. */
  steps(): Map<number, number> {
    const counts = new Map<number, number>();
    for (const { step } of this.places()) counts.set(step, (counts.get(step) ?? 0) + 1);
    return counts;
  }

  async rollout(step: number, index: number): Promise<RolloutRecord | null> {
    const [found] = await this.rollouts((place) => place.step === step && place.index === index);
    return found ?? null;
  }

  protected places(): readonly RolloutPlace[] {
    return this.reading(() => rolloutPlaces(this.folder).places);
  }

  private async rollouts(wanted: (place: RolloutPlace) => boolean): Promise<RolloutRecord[]> {
    const places = this.places()
      .filter(wanted)
      .sort((a, b) => a.step - b.step || a.index - b.index);
    return readRollouts(this.folder, places).catch((error) => {
      throw runErrors.unreadable(this.id, error);
    });
  }

  private json<T>(name: string, valid: (value: T) => boolean): T {
    return this.reading(() => {
      const value = JSON.parse(fs.readFileSync(path.join(this.folder, name), 'utf8')) as T;
      if (typeof value !== 'object' || value === null || !valid(value))
        throw new Error(`${name} is not as this version writes it`);
      return value;
    });
  }

  private reading<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      throw runErrors.unreadable(this.id, error);
    }
  }
}

export function isMetrics(value: unknown): value is Metrics {
  return typeof value === 'object' && value !== null && Number.isInteger((value as Metrics).step);
}

/** Ids of all runs, the oldest first. A folder that is no run is none. */
export function runIds(root: string): string[] {
  if (!fs.existsSync(root)) return [];
  const found = fs.readdirSync(root).filter((id) => isRunId(id));
  const times = found.flatMap((id) => {
    try {
      return [{ id, time: fs.statSync(path.join(root, id, FILES.config)).mtimeMs }];
    } catch {
      return [];
    }
  });
  return times.sort((a, b) => a.time - b.time || a.id.localeCompare(b.id)).map(({ id }) => id);
}
