/**
 * What came of rehearsing tasks, kept in the workspace's storage so that it survives a reload. Knows VS Code only
 * by the two-method store it is given.
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

type Saved = { [file: string]: { [task: string]: TaskResult } };

export class Results {
  private readonly all: Map<string, Map<string, TaskResult>>;
  private readonly listeners = new Set<(file: string) => void>();

  constructor(private readonly store: Store) {
    const saved = (store.get(KEY) ?? {}) as Saved;
    this.all = new Map(Object.entries(saved).map(([file, tasks]) => [file, new Map(Object.entries(tasks))]));
  }

  get(file: string, task: string): TaskResult | undefined {
    return this.all.get(file)?.get(task);
  }

  async set(file: string, task: string, result: TaskResult): Promise<void> {
    const tasks = this.all.get(file) ?? new Map<string, TaskResult>();
    tasks.set(task, result);
    this.all.set(file, tasks);
    for (const listener of this.listeners) listener(file);
    await this.save();
  }

  onDidChange(listener: (file: string) => void): { dispose(): void } {
    this.listeners.add(listener);
    return { dispose: () => void this.listeners.delete(listener) };
  }

  private async save(): Promise<void> {
    const entries = [...this.all].map(([file, tasks]) => [file, Object.fromEntries(tasks)] as const);
    await this.store.update(KEY, Object.fromEntries(entries));
  }
}
