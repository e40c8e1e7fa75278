/**
 * The folder of a run and its one writer. Files, and what each field means: `docs/run-format.md`. Whatever instant
 * the writer is killed at, what is read back is what was written before that instant.
 */
import { EventEmitter } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import type { Metrics, RolloutRecord, RunStatus } from '../../core/training/run.types';
import type { RunConfig } from '../../core/training/types';
import { NodeError } from '../errors';
import { Appender, readRows, writeWhole } from '../jsonl';
import { runErrors } from './errors';
import { runFolder, slug } from './ids';
import { RunLock } from './lock';
import { FILES, isMetrics, RunReader } from './reader';
import { RolloutFile, type RolloutPlace } from './rollouts';

/** What changes while a run is watched. `rewind`: rows from this one on (counted from 0) are no more. */
export interface RunEvents {
  status: [RunStatus];
  metrics: [Metrics];
  rewind: [rows: number];
}

/** What a person asked for: a run gets its id and its time when it is made. */
export type NewRun = Omit<RunConfig, 'id' | 'created'>;

export class RunStore extends RunReader {
  readonly events = new EventEmitter<RunEvents>();
  private readonly lock: RunLock;
  private readonly fixed: RunConfig;
  private current: RunStatus;
  private readonly rows: Metrics[];
  private readonly offsets: number[];
  private readonly metricsFile: Appender;
  private readonly rolloutFile: RolloutFile;
  /** Writes go one after the other. */
  private last: Promise<unknown> = Promise.resolve();

  /** Makes the folder of a run under `root`, called after its name with the first number that is free. */
  static create(root: string, config: NewRun, now = new Date()): RunStore {
    const created = now.toISOString();
    const name = slug(config.name);
    const fresh = path.join(root, `.new-${process.pid}-${created.replace(/\W/g, '')}`);
    try {
      fs.mkdirSync(root, { recursive: true });
      for (let n = 1; ; n++) {
        const id = `${name}-${n}`;
        if (fs.existsSync(runFolder(root, id))) continue;
        const whole: RunConfig = { ...config, id, created };
        fs.rmSync(fresh, { recursive: true, force: true });
        fs.mkdirSync(fresh);
        writeWhole(path.join(fresh, FILES.config), `${JSON.stringify(whole, null, 1)}\n`);
        writeWhole(path.join(fresh, FILES.status), statusText(firstStatus(whole)));
        if (renamed(fresh, runFolder(root, id))) return new RunStore(root, id);
      }
    } catch (error) {
      removed(fresh);
      throw error instanceof NodeError ? error : runErrors.unwritable(root, error);
    }
  }

  /** Opens a run to go on with it; what a kill left unfinished is cut off. Throws where another program writes it. */
  static open(root: string, id: string): RunStore {
    return new RunStore(root, id);
  }

  private constructor(root: string, id: string) {
    super(root, id);
    this.fixed = super.config;
    this.current = super.status;
    this.lock = RunLock.take(this.folder, id);
    try {
      for (const name of fs.readdirSync(this.folder))
        if (name.endsWith('.new')) fs.rmSync(path.join(this.folder, name), { force: true });
      const file = path.join(this.folder, FILES.metrics);
      const { rows, offsets } = readRows(file, isMetrics);
      this.rows = rows;
      this.offsets = offsets;
      this.metricsFile = new Appender(file, offsets.at(-1)!);
      this.rolloutFile = new RolloutFile(this.folder);
    } catch (error) {
      this.lock.release();
      throw error instanceof NodeError ? error : runErrors.unwritable(this.folder, error);
    }
  }

  override get config(): RunConfig {
    return this.fixed;
  }

  override get status(): RunStatus {
    return this.current;
  }

  override metrics(from = 0): Metrics[] {
    return this.rows.slice(from);
  }

  protected override places(): readonly RolloutPlace[] {
    return this.rolloutFile.places;
  }

  /**
   * In the file when it returns.
   * @param kept false: only told to who is watching, since it is over in a moment
   */
  setStatus(patch: Partial<RunStatus>, kept = true): RunStatus {
    const next = { ...this.current, ...patch, id: this.id };
    try {
      this.lock.check();
      if (kept) writeWhole(path.join(this.folder, FILES.status), statusText(next));
    } catch (error) {
      throw error instanceof NodeError ? error : runErrors.unwritable(this.folder, error);
    }
    this.current = next;
    this.events.emit('status', next);
    return next;
  }

  /** All of them are on the disk when this resolves, or none. Those that are stored already are left as they are. */
  appendRollouts(records: readonly RolloutRecord[]): Promise<void> {
    return this.inTurn(() => this.rolloutFile.append(records));
  }

  /** On the disk when this resolves. */
  appendMetrics(row: Metrics): Promise<void> {
    return this.inTurn(async () => {
      await this.metricsFile.append(Buffer.from(`${JSON.stringify(row)}\n`));
      this.rows.push(row);
      this.offsets.push(this.metricsFile.length);
      this.events.emit('metrics', row);
    });
  }

  /** Drops the rows of steps after this one: a run that goes on from a checkpoint computes them again. */
  truncateMetrics(afterStep: number): Promise<void> {
    return this.inTurn(async () => {
      const found = this.rows.findIndex(({ step }) => step > afterStep);
      if (found < 0) return;
      await this.metricsFile.truncate(this.offsets[found]!);
      this.rows.length = found;
      this.offsets.length = found + 1;
      this.events.emit('rewind', found);
    });
  }

  /** Lets another program write the run. */
  async close(): Promise<void> {
    await this.last.catch(() => {});
    await this.metricsFile.close();
    await this.rolloutFile.close();
    this.lock.release();
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const next = this.last
      .catch(() => {})
      .then(() => {
        this.lock.check();
        return work();
      })
      .catch((error) => {
        throw error instanceof NodeError ? error : runErrors.unwritable(this.folder, error);
      });
    this.last = next;
    next.catch(() => {});
    return next;
  }
}

/** Whether the folder has its name now; not where another run has it already. */
function renamed(from: string, to: string): boolean {
  try {
    fs.renameSync(from, to);
    return true;
  } catch (error) {
    if (
      ['ENOTEMPTY', 'EEXIST', 'EPERM'].includes((error as NodeJS.ErrnoException).code!) &&
      fs.existsSync(to)
    )
      return false;
    throw error;
  }
}

function removed(folder: string): void {
  try {
    fs.rmSync(folder, { recursive: true, force: true });
  } catch {
    // What could not be written need not be removed.
  }
}

const statusText = (status: RunStatus) => `${JSON.stringify(status, null, 1)}\n`;

function firstStatus(config: RunConfig): RunStatus {
  const { id, name, created, settings, environment, environmentFile, trainingFile, parent } = config;
  return {
    id,
    name,
    state: 'queued',
    message: '',
    step: 0,
    steps: settings.steps,
    phase: '',
    created,
    started: null,
    ended: null,
    secondsLeft: null,
    environmentFile,
    trainingFile,
    environment: environment.name,
    variant: settings.variant,
    model: settings.model ?? '',
    parent,
    bestStep: null,
    checkpoints: [],
    warnings: [],
  };
}
