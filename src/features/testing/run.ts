/** Runs tasks: every attempt a rollout with its own session file, results published as soon as a task is done. */
import * as vscode from 'vscode';
import type { Environment } from '../../core/environment/types';
import { printable } from '../../core/text';
import { errorText } from '../../core/user-error';
import { planRollouts, type RolloutOptions, type RolloutResult, runRollouts } from '../../node/rollouts';
import { sessionsFolder } from '../../node/sessions/file';
import type { Config } from '../config';
import { folderOf } from '../environments/folder';
import type { Server } from '../services';
import type { TaskItem } from './items';
import type { Judges } from './judge';
import type { Publisher } from './publish';
import { byFile, type RealContext, withRealTools } from './real';
import type { Attempt, Results } from './results';

export interface RunContext {
  server: Server;
  config: Config;
  results: Results;
  publisher: Publisher;
  judges: Judges;
  showError(error: unknown): void;
}

/** Rehearses the tasks and publishes into `run`, which the caller ends. */
export async function rehearseTasks(
  run: vscode.TestRun,
  tasks: TaskItem[],
  context: RunContext,
): Promise<void> {
  const { config, server } = context;
  const abort = new AbortController();
  run.token.onCancellationRequested(() => abort.abort());
  for (const { item } of tasks) run.enqueued(item);
  try {
    const policy = await server.connect(config.model(), abort.signal);
    const gathered = new Gathered(run, tasks, context, policy.info.model);
    for (const group of byFile(tasks)) {
      await rollOut(group, group[0]!.environment, context, { run, gathered, policy, signal: abort.signal });
    }
    gathered.skipOpen();
  } catch (error) {
    if (abort.signal.aborted) return;
    const text = errorText(error);
    for (const { item } of tasks) run.errored(item, new vscode.TestMessage(text));
    context.showError(error);
  }
}

/** Executes the tasks for real: the model acts, the real tools answer. Kept beside the rehearsals. */
export async function executeTasks(
  run: vscode.TestRun,
  tasks: TaskItem[],
  context: RealContext,
): Promise<void> {
  const { config, server, tools } = context;
  for (const group of byFile(tasks)) {
    await withRealTools(run, group, context, async (environment, executor, signal) => {
      const policy = await server.connect(config.model(), signal);
      const gathered = new Gathered(run, group, context, policy.info.model, true);
      const checks = tools.checksOf(group[0]!.loaded.file, environment);
      await rollOut(group, environment, context, { run, gathered, policy, signal, executor, checks });
      gathered.skipOpen();
    });
  }
}

interface RollOut extends Pick<RolloutOptions, 'policy' | 'executor' | 'checks'> {
  run: vscode.TestRun;
  gathered: Gathered;
  signal: AbortSignal;
}

/** Every attempt of the tasks of one file. */
async function rollOut(
  group: TaskItem[],
  environment: Environment,
  { config, judges }: RunContext,
  { run, gathered, signal, ...more }: RollOut,
): Promise<void> {
  const { file } = group[0]!.loaded;
  const tasks = group.map(({ task }) => task);
  await runRollouts(planRollouts(environment, tasks, config.testAttempts), {
    ...more,
    judge: await judges.current(),
    sampling: config.sampling(),
    folder: sessionsFolder(folderOf(file)),
    environmentFile: file,
    concurrency: config.testConcurrency,
    signal,
    onStart: ({ task }) => run.started(gathered.item(file, task.id)),
    onEnd: (result) => gathered.add(file, result),
  });
}

/** Attempts as they come in; a task is published when it has all of its attempts. */
class Gathered {
  private readonly attempts = new Map<vscode.TestItem, Attempt[]>();
  private readonly wanted: number;

  constructor(
    private readonly run: vscode.TestRun,
    private readonly tasks: TaskItem[],
    private readonly context: RunContext,
    private readonly model: string,
    /** Whether the real tools answered. */
    private readonly isReal = false,
  ) {
    this.wanted = context.config.testAttempts;
  }

  item(file: string, task: string): vscode.TestItem {
    return this.find(file, task).item;
  }

  async add(file: string, result: RolloutResult): Promise<void> {
    if (result.cancelled) return;
    const task = this.find(file, result.task.id);
    const { config, results, publisher } = this.context;
    const attempts = this.attempts.get(task.item) ?? [];
    attempts[result.attempt] = this.attemptOf(result);
    this.attempts.set(task.item, attempts);
    this.run.appendOutput(`${lineOf(result)}\r\n`, undefined, task.item);
    if (attempts.filter(Boolean).length < this.wanted) return;
    const whole = { attempts, rule: config.testPasses, share: config.testShare };
    publisher.show(this.run, task, whole);
    if (this.isReal) await results.setReal(file, result.task.id, { executed: whole });
    else await results.set(file, result.task.id, whole);
  }

  /** What was cancelled before it had all of its attempts has no result. */
  skipOpen(): void {
    for (const { item } of this.tasks) {
      if ((this.attempts.get(item) ?? []).filter(Boolean).length < this.wanted) this.run.skipped(item);
    }
  }

  private find(file: string, task: string): TaskItem {
    return this.tasks.find((known) => known.loaded.file === file && known.task.id === task)!;
  }

  private attemptOf({ session, reward, seconds, error }: RolloutResult): Attempt {
    const failed = reward.checks.filter(({ verdict }) => verdict === 'fails' || verdict === 'unscored');
    return {
      ...(session && { session }),
      success: reward.value === null ? null : reward.success,
      reward: reward.value,
      model: this.model,
      at: new Date().toISOString(),
      seconds,
      failed: failed.map(({ index, title, verdict, reason, turn, expected, actual }) => ({
        index,
        title,
        verdict,
        reason,
        turn,
        expected,
        actual,
      })),
      ...(error !== undefined && { error: errorText(error) }),
    };
  }
}

/** The output is a terminal: what a model or a server wrote must not move its cursor. */
function lineOf({ task, attempt, reward, error, seconds }: RolloutResult): string {
  const result =
    error !== undefined
      ? errorText(error)
      : reward.value === null
        ? 'it could not be scored'
        : `reward ${reward.value.toFixed(2)}`;
  const mark = reward.value === null ? '!' : reward.success ? '\u2713' : '\u2717';
  return `${mark} ${task.id}, attempt ${attempt + 1}: ${printable(result).replaceAll('\n', ' ')} (${seconds.toFixed(1)} s)`;
}
