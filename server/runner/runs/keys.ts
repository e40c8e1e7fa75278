/**
 * Keys of other servers (a judge, a remote learner, real tools), by run and name. They live in this process alone:
 * never on disk, in a log or in an answer. What the environment of the server has needs not be given.
 */
import type { RunConfig } from '../../../src/core/training/types';
import { keyNames } from '../../../src/node/runs/keys';

export type KeyValues = Readonly<Record<string, string>>;

export class Keys {
  private readonly byRun = new Map<string, Map<string, string>>();

  give(run: string, keys: KeyValues): void {
    const own = this.byRun.get(run) ?? new Map<string, string>();
    for (const [name, value] of Object.entries(keys)) if (value) own.set(name, value);
    this.byRun.set(run, own);
  }

  get(run: string, name: string): string | undefined {
    return this.byRun.get(run)?.get(name) ?? process.env[name] ?? undefined;
  }

  forget(run: string): void {
    this.byRun.delete(run);
  }

  /** Names that a run needs and that nobody has given. */
  missing(run: string, config: RunConfig): string[] {
    return keyNames(config).filter((name) => !this.get(run, name));
  }
}
