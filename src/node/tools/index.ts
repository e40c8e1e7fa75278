/** The real tools of an environment, whatever runs them. */
import { EXECUTOR_KINDS, type ExecutorKind, type ExecutorOf } from '../../core/environment/executor-schema';
import { compileSchema } from '../../core/environment/json-schema';
import { violationText } from '../../core/environment/validate';
import type { JsonObject } from '../../core/json';
import type { Ports } from '../../core/rehearsal/drivers';
import { CommandExecutor } from './command';
import { executorErrors } from './failures';
import { HttpExecutor } from './http/executor';
import { McpExecutor } from './mcp/executor';
import { ModuleExecutor } from './module/executor';
import { ReplayExecutor } from './replay';
import type { Executor, ExecutorOptions, ToolSession } from './types';

export type { Execution, Executor, ExecutorOptions, Identity, ToolCall, ToolSession } from './types';

/** A session as the port through which a rehearsal gets its observations from the real tools. */
export function executePort(session: ToolSession): NonNullable<Ports['execute']> {
  return async (call, signal) => {
    const abort = new AbortController();
    const forward = () => abort.abort();
    if (signal?.aborted) forward();
    signal?.addEventListener('abort', forward);
    try {
      const { outcome, value, durationMs, raw } = await session.execute(call, abort.signal);
      return { outcome, value, durationMs, ...(raw === undefined ? {} : { raw }) };
    } finally {
      signal?.removeEventListener('abort', forward);
    }
  };
}

/**
 * The executor that an environment names; nothing runs before a session is opened. Throws `ExecutorError` where
 * there is none, where its settings are wrong, and where it lives elsewhere.
 */
export function createExecutor(options: ExecutorOptions): Executor {
  const { executor: config, name } = options.environment;
  if (!config) throw executorErrors.none(name);
  const schema = Object.hasOwn(EXECUTOR_KINDS, config.kind)
    ? EXECUTOR_KINDS[config.kind as ExecutorKind]
    : null;
  if (!schema) throw executorErrors.broken(`there is no kind ${JSON.stringify(config.kind)}`);
  const compiled = compileSchema(schema as unknown as JsonObject);
  const [wrong] = compiled.ok ? compiled.validate(config) : [];
  if (wrong) throw executorErrors.broken(violationText(wrong));
  const other = options.others?.[config.kind];
  if (other) return other(options);
  // Just checked against the schema of its kind.
  const checked = config as unknown;
  switch (config.kind as ExecutorKind) {
    case 'module':
      return new ModuleExecutor(checked as ExecutorOf<'module'>, options);
    case 'command':
      return new CommandExecutor(checked as ExecutorOf<'command'>, options);
    case 'http':
      return new HttpExecutor(checked as ExecutorOf<'http'>, options);
    case 'mcp':
      return new McpExecutor(checked as ExecutorOf<'mcp'>, options);
    case 'replay':
      return new ReplayExecutor(checked as ExecutorOf<'replay'>, options);
    case 'vscode':
      throw executorErrors.vscode();
  }
}
