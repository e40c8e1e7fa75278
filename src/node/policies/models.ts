/** The list of models that a server offers. */
import type { Signal } from '../../core/policy';
import { errors } from '../errors';
import { ModelServer, type ServerOptions } from './http';

export interface ModelCard {
  id: string;
  ownedBy: string;
  /** Tokens of prompt and output together, where the server says so. */
  contextLength: number | null;
  /** Ids that end an output; our engine's extension. */
  endIds: number[];
}

/** Names of the models at an address, the server's default first. Throws `NodeError`. */
export async function listModels(baseUrl: string, token?: string, signal?: Signal): Promise<string[]> {
  const cards = await modelCards(new ModelServer({ baseUrl, apiKey: token }), signal);
  return cards.map((card) => card.id);
}

export async function modelCards(server: ModelServer, signal?: Signal): Promise<ModelCard[]> {
  const answer = (await server.get('/v1/models', signal)) as { data?: unknown } | null;
  if (!Array.isArray(answer?.data)) throw errors.odd(server.url, 'its /v1/models gives no list');
  const cards = answer.data.filter((card) => typeof card?.id === 'string');
  const known = cards.map(readCard);
  // vLLM says of an adapter only whose it is.
  return known.map((card, i) => ({
    ...card,
    contextLength:
      card.contextLength ?? known.find(({ id }) => id === cards[i].parent)?.contextLength ?? null,
  }));
}

function readCard(card: { [key: string]: unknown }): ModelCard {
  const meta = (card.meta ?? {}) as { n_ctx?: unknown };
  const ends = Array.isArray(card.eos_token_ids) ? card.eos_token_ids.filter(Number.isInteger) : [];
  return {
    id: card.id as string,
    ownedBy: typeof card.owned_by === 'string' ? card.owned_by : '',
    contextLength: positive(card.max_model_len) ?? positive(meta.n_ctx),
    endIds: ends,
  };
}

function positive(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : null;
}

export type { ServerOptions };
