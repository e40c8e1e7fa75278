/** Tests that run real tools: one question for all tools of an environment, then the tools are there. */
import * as vscode from 'vscode';
import type { Environment } from '../../core/environment/types';
import { errorText } from '../../core/user-error';
import { withServerTools } from '../../node/tools/server-tools';
import type { RealExecutor, RealTools } from '../services';
import type { TaskItem } from './items';
import type { RunContext } from './run';

export interface RealContext extends RunContext {
  tools: RealTools;
}

/** Tasks of one environment file each. */
export function byFile(tasks: TaskItem[]): TaskItem[][] {
  const groups = new Map<string, TaskItem[]>();
  for (const task of tasks) groups.set(task.loaded.file, [...(groups.get(task.loaded.file) ?? []), task]);
  return [...groups.values()];
}

/**
 * Runs `work` with the real tools of an environment, once the person has allowed all of them: which ones a task
 * calls, its policy decides. Tasks are skipped where the person says no, and errored where there are no tools.
 */
export async function withRealTools(
  run: vscode.TestRun,
  group: TaskItem[],
  { tools, showError }: RealContext,
  work: (environment: Environment, executor: RealExecutor, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const { loaded, environment } = group[0]!;
  const abort = new AbortController();
  run.token.onCancellationRequested(() => abort.abort());
  for (const { item } of group) run.enqueued(item);
  let executor: RealExecutor | undefined;
  try {
    executor = tools.executorFor(loaded.file, environment, { batch: true });
    if (!(await executor.allow(environment.tools))) {
      for (const { item } of group) run.skipped(item);
      return;
    }
    await work(await withServerTools(environment, executor, abort.signal), executor, abort.signal);
  } catch (error) {
    if (abort.signal.aborted) return;
    for (const { item } of group) run.errored(item, new vscode.TestMessage(errorText(error)));
    showError(error);
  } finally {
    await executor?.close();
  }
}
