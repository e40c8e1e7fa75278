/** The real tools on the command line: nothing runs without `--allow`. */
import { createExecutor, type Executor, type ExecutorOptions } from '../node/tools';
import { allowGate, guarded } from '../node/tools/consent';
import { UsageError } from './arguments';

/**
 * The executor of an environment behind `--allow`. Throws where it would be asked for something that is not allowed.
 * @param tools names that may be called; null for all of the environment
 */
export async function allowedExecutor(
  options: ExecutorOptions,
  allowed: readonly string[],
  tools: readonly string[] | null,
): Promise<Executor> {
  const executor = createExecutor(options);
  const gate = allowGate(allowed);
  const own = options.environment.tools;
  const called = tools ? own.filter(({ name }) => tools.includes(name)) : own;
  await gate({ identity: await executor.identity(), tools: called });
  return guarded(executor, own, gate);
}

/** The executor that `--observations real` asks for, or null: any tool of the environment may then be called. */
export async function observedExecutor(
  options: ExecutorOptions,
  { observations = 'rehearse', allow = [] }: { observations?: string; allow?: string[] },
): Promise<Executor | null> {
  if (observations === 'rehearse') return null;
  if (observations === 'real') return allowedExecutor(options, allow, null);
  throw new UsageError(`--observations is rehearse or real, not ${observations}.`);
}
