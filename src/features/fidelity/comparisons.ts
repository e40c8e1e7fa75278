/** The comparisons that are open in this window, each once, judged anew whenever their environment changes. */
import path from 'node:path';
import {
  type ComparisonHead,
  ComparisonWriter,
  comparisonsFolder,
  environmentFileOf,
  readComparison,
} from '../../node/fidelity/file';
import { folderOf } from '../environments/folder';
import type { EnvironmentStore } from '../environments/store';
import { LiveComparison } from './live';

export class Comparisons {
  private readonly known = new Map<string, Promise<LiveComparison>>();

  constructor(
    private readonly environments: EnvironmentStore,
    /** A comparison stands still and was judged. */
    private readonly judged: (live: LiveComparison) => void,
  ) {}

  /** Begins a comparison that nothing is in yet. Throws `NodeError` where it cannot be kept. */
  create(
    environmentFile: string,
    head: Pick<ComparisonHead, 'environment' | 'what' | 'request' | 'basis'>,
  ): { live: LiveComparison; writer: ComparisonWriter } {
    const folder = folderOf(environmentFile);
    const from = path.relative(folder, environmentFile);
    const created = new Date().toISOString();
    const made = ComparisonWriter.create(comparisonsFolder(folder), {
      ...head,
      created,
      environmentFile: from,
    });
    const live = new LiveComparison(made.writer.file, environmentFile, made.head, [], 'running');
    this.known.set(live.file, Promise.resolve(live));
    return { live, writer: made.writer };
  }

  /** One from its file. Throws `NodeError` where it cannot be read. */
  open(file: string): Promise<LiveComparison> {
    const known = this.known.get(file) ?? this.read(file);
    this.known.set(file, known);
    known.catch(() => this.known.delete(file));
    return known;
  }

  /** Nobody shows it any more. */
  release(live: LiveComparison): void {
    if (!live.isRunning) this.known.delete(live.file);
  }

  /** By the environment as it is now; where that cannot be read any more, as it was left. */
  async judge(live: LiveComparison): Promise<void> {
    const { environment } = await this.environments.load(live.environmentFile);
    const isNew = environment !== null && (await live.judge(environment));
    if (isNew && !live.isRunning) this.judged(live);
  }

  async judgeAll(): Promise<void> {
    for (const known of [...this.known.values()]) {
      const live = await known.catch(() => null);
      if (live) await this.judge(live);
    }
  }

  private async read(file: string): Promise<LiveComparison> {
    const { head, runs, complete, notice } = await readComparison(file);
    const live = new LiveComparison(
      file,
      environmentFileOf(file, head),
      head,
      runs,
      complete ? 'done' : 'cancelled',
      notice,
    );
    const { environment } = await this.environments.load(live.environmentFile);
    if (environment) await live.judge(environment);
    return live;
  }
}
