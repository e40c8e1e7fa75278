/** Names of the keys that a run needs: of its servers, and of its real tools where they may run. */
import type { RunConfig } from '../../core/training/types';
import { secretNames } from '../tools/secrets';

export function keyNames({
  settings,
  environment,
  allowed,
}: Pick<RunConfig, 'settings' | 'environment' | 'allowed'>): string[] {
  const { learner, sampler, judge } = settings;
  const servers = [learner, sampler, judge].flatMap((server) => server?.keyVariable ?? []);
  const { headers } = (environment.executor ?? {}) as { headers?: unknown };
  const tools =
    allowed.length && typeof headers === 'object' && headers !== null
      ? secretNames(headers as { [name: string]: string })
      : [];
  return [...new Set([...servers, ...tools])];
}
