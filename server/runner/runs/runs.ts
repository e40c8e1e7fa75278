/**
 * The training runs of this server: one at work, others wait for their turn. What a run is stands in its folder, so
 * that a server that died goes on with what it was doing as soon as it is started again.
 */
import { EventEmitter } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import type { Metrics, RunStatus } from '../../../src/core/training/run.types';
import { errorText } from '../../../src/core/user-error';
import { runErrors } from '../../../src/node/runs/errors';
import { RunReader, runIds } from '../../../src/node/runs/reader';
import { type NewRun, RunStore } from '../../../src/node/runs/store';
import type { TrainingRun } from '../training/run';
import { branchesOf, checkParent, ENDED } from './branches';
import { Keys, type KeyValues } from './keys';
import { executorHashOf } from './real-tools';
import { secondsLeft } from './time-left';
import { unreadableStatus } from './unreadable';
import { workOn } from './work';

export interface RunsOptions {
  /** Folder of the runs. */
  root: string;
  /** Our own engine, once it answers. */
  engine: TrainingRun['ports']['engine'];
  train(run: TrainingRun): Promise<void>;
  log(text: string): void;
}

export interface RunsEvents {
  status: [RunStatus];
  metrics: [id: string, row: Metrics];
  /** Rows from this one on (counted from 0) are no more. */
  rewind: [id: string, rows: number];
  removed: [id: string];
}

interface Open {
  store: RunStore;
  /** Aborted by a person's stop. */
  abort: AbortController;
  stopped: boolean;
}

export class Runs {
  readonly events = new EventEmitter<RunsEvents>();
  readonly keys = new Keys();
  private readonly open = new Map<string, Open>();
  private queue: string[] = [];
  private running: string | null = null;
  /** The work on the run that is running, and folders that are just being closed: a run is taken up after that. */
  private current: Promise<void> = Promise.resolve();
  private readonly leaving = new Map<string, Promise<void>>();
  private closing = false;
  /** How runs ended of which not even that could be written down. */
  private readonly lost = new Map<string, RunStatus>();

  constructor(private readonly options: RunsOptions) {
    this.events.setMaxListeners(0);
  }

  /** Goes on with what was running or waiting when the last server ended. */
  start(): void {
    const before = this.list().filter(({ state }) => !ENDED.has(state));
    const rank = ({ state }: RunStatus) => (state === 'queued' || state === 'needs key' ? 1 : 0);
    for (const status of before.sort((a, b) => rank(a) - rank(b))) {
      try {
        if (status.state === 'stopping') this.settle(status.id);
        else this.enqueue(status.id, 'It goes on after the server was started again.');
      } catch (error) {
        this.options.log(`run ${status.id} does not go on: ${errorText(error)}`);
      }
    }
    this.pump();
  }

  get active(): number {
    return this.queue.length + (this.running === null ? 0 : 1);
  }

  get health(): { running: string | null; queued: number } {
    return { running: this.running, queued: this.queue.length };
  }

  async launch(given: NewRun, keys: KeyValues): Promise<RunStatus> {
    if (given.parent) checkParent(this.status(given.parent.run), given.parent.step);
    const config = { ...given, executorHash: await executorHashOf(given) };
    const store = RunStore.create(this.options.root, config);
    this.keys.give(store.id, keys);
    this.options.log(`run ${store.id}: launched, ${config.settings.variant}, ${config.settings.steps} steps`);
    this.add(store);
    this.enqueue(store.id, '');
    this.pump();
    return this.status(store.id);
  }

  list(): RunStatus[] {
    return runIds(this.options.root).flatMap((id) => {
      try {
        return [this.status(id)];
      } catch (error) {
        this.options.log(errorText(error));
        return [unreadableStatus(id, errorText(error))];
      }
    });
  }

  /** The run for readers. Throws `NodeError` where there is none. */
  reader(id: string): RunReader {
    return this.open.get(id)?.store ?? new RunReader(this.options.root, id);
  }

  status(id: string): RunStatus {
    return this.lost.get(id) ?? this.reader(id).status;
  }

  /** Ends after what it is doing now, and keeps what was learned. */
  async stop(id: string): Promise<RunStatus> {
    await this.leaving.get(id);
    const { state } = this.status(id);
    if (ENDED.has(state)) return this.status(id);
    this.queue = this.queue.filter((one) => one !== id);
    if (this.running === id) {
      const run = this.open.get(id)!;
      run.stopped = true;
      run.store.setStatus({ state: 'stopping' });
      run.abort.abort();
    } else this.settle(id);
    return this.status(id);
  }

  async resume(id: string, keys: KeyValues): Promise<RunStatus> {
    await this.ended(id);
    const { state, step, steps } = this.status(id);
    this.keys.give(id, keys);
    if (state === 'done' && step >= steps)
      throw runErrors.state(id, 'has done all of its steps', 'Branch from its last checkpoint to go on.');
    if (state === 'stopping')
      throw runErrors.state(id, 'is just being stopped', 'Resume it once it has stopped.');
    if (ENDED.has(state) || state === 'needs key') {
      this.enqueue(id, '');
      this.pump();
    }
    return this.status(id);
  }

  /** Keys for a run, which goes on where it waited for them. */
  async giveKeys(id: string, keys: KeyValues): Promise<RunStatus> {
    const { state } = this.status(id);
    this.keys.give(id, keys);
    return state === 'needs key' ? this.resume(id, {}) : this.status(id);
  }

  async remove(id: string): Promise<void> {
    await this.ended(id);
    if (this.running === id)
      throw runErrors.state(id, `is ${this.status(id).state}`, 'Stop it first, then delete it.');
    const [branch] = this.branchesOf(id);
    if (branch)
      throw runErrors.state(
        id,
        `is what ${branch.id} starts from, which is ${branch.state}`,
        `Wait until ${branch.id} has ended, or stop it first.`,
      );
    this.queue = this.queue.filter((one) => one !== id);
    await this.release(id);
    const { folder } = new RunReader(this.options.root, id);
    // Gone for everybody at once, however long the rest takes.
    const aside = path.join(path.dirname(folder), `.deleted-${id}-${process.pid}`);
    try {
      fs.renameSync(folder, aside);
    } catch (error) {
      throw runErrors.unwritable(folder, error);
    }
    fs.rmSync(aside, { recursive: true, force: true });
    this.keys.forget(id);
    this.events.emit('removed', id);
  }

  /** The server ends. What runs is left as it is: the next server goes on with it. */
  async close(): Promise<void> {
    this.closing = true;
    await Promise.all([...this.open.keys()].map((id) => this.release(id)));
  }

  private branchesOf(id: string): RunStatus[] {
    return branchesOf(this.list(), id);
  }

  private enqueue(id: string, message: string): void {
    const store = this.open.get(id)?.store ?? this.add(RunStore.open(this.options.root, id));
    this.lost.delete(id);
    const missing = this.keys.missing(id, store.config);
    if (missing.length) {
      store.setStatus({ state: 'needs key', phase: '', message: `It needs the key ${missing.join(', ')}.` });
      void this.release(id);
      return;
    }
    store.setStatus({ state: 'queued', phase: '', message, ended: null });
    if (!this.queue.includes(id)) this.queue.push(id);
  }

  /** A run that does not run is stopped at once. */
  private settle(id: string): void {
    const store = this.open.get(id)?.store ?? this.add(RunStore.open(this.options.root, id));
    store.setStatus({ state: 'stopped', phase: '', message: '', ended: new Date().toISOString() });
    void this.release(id);
  }

  /** A run whose end was told may still be put away: nothing is done with it before that is over. */
  private async ended(id: string): Promise<void> {
    if (this.running === id && ENDED.has(this.status(id).state)) await this.current;
    await this.leaving.get(id);
  }

  private add(store: RunStore): RunStore {
    this.open.set(store.id, { store, abort: new AbortController(), stopped: false });
    store.events.on('status', (status) => this.events.emit('status', status));
    store.events.on('metrics', (row) => {
      this.events.emit('metrics', store.id, row);
      store.setStatus({ secondsLeft: secondsLeft(store.metrics(), store.config.settings.steps) });
    });
    store.events.on('rewind', (rows) => this.events.emit('rewind', store.id, rows));
    return store;
  }

  private failed(store: RunStore, error: unknown): void {
    const end = {
      state: 'failed' as const,
      phase: '',
      message: errorText(error),
      ended: new Date().toISOString(),
    };
    try {
      store.setStatus(end);
    } catch {
      const status = { ...store.status, ...end };
      this.lost.set(store.id, status);
      this.events.emit('status', status);
    }
  }

  private release(id: string): Promise<void> {
    const run = this.open.get(id);
    this.open.delete(id);
    if (!run) return Promise.resolve();
    const closed = run.store
      .close()
      .catch((error) => this.options.log(errorText(error)))
      .finally(() => this.leaving.delete(id));
    this.leaving.set(id, closed);
    return closed;
  }

  private pump(): void {
    if (this.running !== null || this.closing) return;
    const id = this.queue.shift();
    if (id === undefined) return;
    this.running = id;
    this.current = this.work(id)
      .catch((error) => this.options.log(`run ${id}: ${error instanceof Error ? error.stack : error}`))
      .finally(() => {
        this.running = null;
        this.pump();
      });
  }

  private async work(id: string): Promise<void> {
    const run = this.open.get(id)!;
    const { store, abort } = run;
    const { log } = this.options;
    try {
      const branched = () => new Set(this.branchesOf(id).map(({ parent }) => parent!.step));
      await workOn(store, this.keys, abort.signal, { ...this.options, branched });
      log(`run ${id}: ${store.status.state}`);
    } catch (error) {
      if (this.closing) return;
      log(`run ${id}: ${errorText(error)}`);
      if (!ENDED.has(store.status.state)) this.failed(store, error);
    } finally {
      if (!this.closing) {
        if (run.stopped && store.status.state === 'stopping')
          store.setStatus({ state: 'stopped', phase: '', ended: new Date().toISOString() });
        await this.release(id);
      }
    }
  }
}
