/** Which servers learn and sample for a run, and the model that it starts from. */
import type { RunConfig, Server } from '../../../src/core/training/types';
import { UserError } from '../../../src/core/user-error';
import { ModelServer } from '../../../src/node/policies/http';
import { modelCards } from '../../../src/node/policies/models';
import type { Address, TrainingPorts } from './run';

export interface Servers {
  learner: Address;
  sampler: Address;
  /** Of our engine, whose checkpoints are models, where it learns: as it is asked for text. */
  engine: Address;
  /** Name of the model, as both know it. */
  model: string;
}

export async function serversOf(
  { settings }: RunConfig,
  ports: TrainingPorts,
  signal: AbortSignal,
): Promise<Servers> {
  const { learner, sampler } = settings;
  const own = learner.url && sampler.url ? null : await ports.engine(signal);
  const at = async (server: Server): Promise<Address> => {
    if (!server.url) return own!;
    const apiKey = server.keyVariable && (await ports.key?.(server.keyVariable));
    return { baseUrl: server.url, ...(apiKey ? { apiKey } : {}) };
  };
  const sampling = await at(sampler);
  const learning = learner.url
    ? await at(learner)
    : { ...own!, ...(own!.apiKey ? { apiKey: `tml-${own!.apiKey}` } : {}) };
  const { baseUrl, apiKey } = learning;
  const engine = { baseUrl, ...(apiKey ? { apiKey: apiKey.replace(/^tml-/, '') } : {}) };
  const model = settings.model ?? (await firstModel(sampling, signal));
  return { learner: learning, sampler: sampling, engine, model };
}

async function firstModel(address: Address, signal: AbortSignal): Promise<string> {
  const [card] = await modelCards(new ModelServer(address), signal);
  if (card) return card.id;
  throw new UserError(`The server at ${address.baseUrl} offers no model.`, 'Name the model in the settings.');
}
