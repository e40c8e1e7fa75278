/** Tools that an executor brings itself (MCP, OpenAPI). */
import type { Environment } from '../../core/environment/types';
import type { Executor } from './types';

/** An environment without tools of its own has those of its server. */
export async function withServerTools(
  environment: Environment,
  executor: Pick<Executor, 'tools'> | null,
  signal?: AbortSignal,
): Promise<Environment> {
  if (environment.tools.length || !executor) return environment;
  const tools = await executor.tools(signal);
  return tools?.length ? { ...environment, tools } : environment;
}
