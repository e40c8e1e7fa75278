/**
 * What came of running tasks, kept in the workspace's storage so that it survives a reload: of each task the last
 * rehearsal, and what real tools said of it since. Knows VS Code only by the two-method store it is given.
 */
import type { CheckResult } from '../../core/reward/types';
import type { PassRule } from '../config';

export interface Attempt {
  /** Path of the session file; absent where it never began. */
  session?: string;
  /** Null where it could not be scored. */
  success: boolean | null;
  reward: number | null;
  model: string;
  /** ISO 8601. */
  at: string;
  seconds: number;
  /** Checks that fail or could not be scored. */
  failed: Pick<CheckResult, 'index' | 'title' | 'verdict' | 'reason' | 'turn' | 'expected' | 'actual'>[];
  /** Why it could not be scored. */
  error?: string;
}

export interface TaskResult {
  attempts: Attempt[];
  /** The rule by which it was judged at the time. */
  rule: PassRule;
  share: number;
}

/** What comparing a task with its real tools came to. */
export interface ComparedTask {
  /** Rehearsals that differ. The sides are absent where they were too long to keep. */
  differences: { tool: string; text: string; expected?: string; actual?: string }[];
  /** Why a call, or the task, could not be compared. */
  uncompared: string[];
}

/** What running a task with its real tools came to. */
export type RealResult = { executed: TaskResult } | { compared: ComparedTask };

export type Outcome = 'passed' | 'failed' | 'errored';

/** An unscored attempt is errored, never failed: it says nothing about the policy. */
export function outcomeOf({ attempts, rule, share }: TaskResult): Outcome {
  const passed = attempts.filter((attempt) => attempt.success === true).length;
  const unscored = attempts.filter((attempt) => attempt.success === null).length;
  if (attempts.length === 0) return 'errored';
  const wanted = rule === 'all' ? attempts.length : rule === 'any' ? 1 : Math.max(1, share * attempts.length);
  if (passed >= wanted) return 'passed';
  return passed + unscored >= wanted ? 'errored' : 'failed';
}

/** `3/8`: attempts that passed, of those that could be scored; `?` where none could. */
export function scoreOf({ attempts }: TaskResult): string {
  const scored = attempts.filter((attempt) => attempt.success !== null);
  if (scored.length === 0) return '?';
  return `${scored.filter((attempt) => attempt.success).length}/${scored.length}`;
}

/** The part of `vscode.Memento` that is used. */
export interface Store {
  get(key: string): unknown;
  update(key: string, value: unknown): PromiseLike<void>;
}

const KEY = 'results.v1';
const REAL_KEY = 'results.real.v1';

/** Characters of the two sides of one task's differences that are kept: a task may answer with megabytes. */
const MAX_KEPT = 200_000;

type ByTask<Result> = Map<string, Map<string, Result>>;

export class Results {
  private readonly rehearsed: ByTask<TaskResult>;
  private readonly real: ByTask<RealResult>;
  private readonly listeners = new Set<(file: string) => void>();

  constructor(private readonly store: Store) {
    this.rehearsed = read(store, KEY);
    this.real = read(store, REAL_KEY);
  }

  /** The last rehearsal of a task. */
  get(file: string, task: string): TaskResult | undefined {
    return this.rehearsed.get(file)?.get(task);
  }

  /** What real tools said of a task since it was last rehearsed. */
  getReal(file: string, task: string): RealResult | undefined {
    return this.real.get(file)?.get(task);
  }

  /** Keeps a rehearsal, which is from now on what there is to say of the task. */
  async set(file: string, task: string, result: TaskResult): Promise<void> {
    put(this.rehearsed, file, task, result);
    const had = this.real.get(file)?.delete(task);
    for (const listener of this.listeners) listener(file);
    await save(this.store, KEY, this.rehearsed);
    if (had) await save(this.store, REAL_KEY, this.real);
  }

  async setReal(file: string, task: string, result: RealResult): Promise<void> {
    put(this.real, file, task, 'compared' in result ? { compared: shortened(result.compared) } : result);
    await save(this.store, REAL_KEY, this.real);
  }

  onDidChange(listener: (file: string) => void): { dispose(): void } {
    this.listeners.add(listener);
    return { dispose: () => void this.listeners.delete(listener) };
  }
}

function put<Result>(all: ByTask<Result>, file: string, task: string, result: Result): void {
  const tasks = all.get(file) ?? new Map<string, Result>();
  all.set(file, tasks.set(task, result));
}

function read<Result>(store: Store, key: string): ByTask<Result> {
  const saved = (store.get(key) ?? {}) as { [file: string]: { [task: string]: Result } };
  return new Map(Object.entries(saved).map(([file, tasks]) => [file, new Map(Object.entries(tasks))]));
}

async function save(store: Store, key: string, all: ByTask<unknown>): Promise<void> {
  const entries = [...all].map(([file, tasks]) => [file, Object.fromEntries(tasks)] as const);
  await store.update(key, Object.fromEntries(entries));
}

function shortened({ differences, uncompared }: ComparedTask): ComparedTask {
  let left = MAX_KEPT;
  const kept = differences.map(({ tool, text, expected = '', actual = '' }) => {
    left -= expected.length + actual.length;
    return left >= 0 ? { tool, text, expected, actual } : { tool, text };
  });
  return { differences: kept, uncompared };
}
