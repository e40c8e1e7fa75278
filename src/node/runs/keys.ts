/** The keys that a run needs: of its servers, and of its real tools where they may run. */
import type { RunConfig } from '../../core/training/types';
import { secretNames } from '../tools/secrets';

type Needing = Pick<RunConfig, 'settings' | 'environment' | 'allowed'>;

export interface KeyNeed {
  name: string;
  /** Where it is sent: a file that comes from elsewhere must not have a key sent to another address. */
  address: string;
}

export function keyNeeds({ settings, environment, allowed }: Needing): KeyNeed[] {
  const { learner, sampler, judge } = settings;
  const servers = [learner, sampler, judge].flatMap((server) =>
    server?.keyVariable && server.url ? [{ name: server.keyVariable, address: originOf(server.url) }] : [],
  );
  const { headers, url } = (environment.executor ?? {}) as { headers?: unknown; url?: unknown };
  const tools =
    allowed.length && typeof headers === 'object' && headers !== null && typeof url === 'string'
      ? secretNames(headers as { [name: string]: string }).map((name) => ({ name, address: originOf(url) }))
      : [];
  const needs = [...servers, ...tools];
  return needs.filter((one, i) => needs.findIndex((other) => same(one, other)) === i);
}

/** Their names, each once. */
export function keyNames(config: Needing): string[] {
  return [...new Set(keyNeeds(config).map(({ name }) => name))];
}

const same = (a: KeyNeed, b: KeyNeed) => a.name === b.name && a.address === b.address;

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}
