/** Which model of a server is meant: one by its name, a checkpoint as `run/step`, or a run for its best checkpoint. */

import { isObject } from '../../core/json';
import type { Signal } from '../../core/policy';
import type { RunStatus } from '../../core/training/run.types';
import { isRunId } from '../runs/ids';
import { modelErrors } from './errors';
import type { ModelServer } from './http';
import type { ModelCard } from './models';

export interface Picked {
  card: ModelCard;
  /** What was taken, where the name alone does not say it. */
  note: string | null;
}

/** The server's first model where none is wanted. Throws `NodeError` that lists what there is. */
export async function pickModel(
  server: ModelServer,
  cards: readonly ModelCard[],
  wanted: string | undefined,
  signal?: Signal,
): Promise<Picked> {
  const [first] = cards;
  if (!first) throw modelErrors.noModels(server.url);
  const plain = wanted === undefined ? first : cards.find(({ id }) => id === wanted);
  if (plain) return { card: plain, note: null };
  const [, run = '', step] = /^([^/]+)(?:\/(?:step-)?(\d+))?$/.exec(wanted!) ?? [];
  if (!isRunId(run)) throw modelErrors.noModel(wanted!, offered(cards));
  const status = await statusOf(server, run, signal);
  const kept = keptOf(run, cards, status);
  if (!kept.length) {
    if (status) throw modelErrors.noCheckpoints(run);
    throw modelErrors.noModel(wanted!, offered(cards));
  }
  const steps = kept.map((one) => one.step);
  const best = status?.bestStep ?? null;
  const meant =
    step !== undefined ? Number(step) : best !== null && steps.includes(best) ? best : steps.at(-1);
  const found = kept.find((one) => one.step === meant);
  if (!found) throw modelErrors.noCheckpoint(run, Number(step), steps);
  if (step !== undefined) return { card: found.card, note: null };
  const which =
    found.step === best ? 'its best checkpoint' : 'its last checkpoint (none is known as the best)';
  return { card: found.card, note: `${run} is a training run: ${which}, ${found.card.id}, is used.` };
}

/** Null where the server knows no such run, or no runs at all. */
async function statusOf(server: ModelServer, run: string, signal?: Signal): Promise<RunStatus | null> {
  try {
    const status = (await server.get(`/runs/${run}`, signal)) as RunStatus | null;
    const known = status?.id === run && Array.isArray(status.checkpoints);
    return known && status.checkpoints.every(isObject) ? status : null;
  } catch (error) {
    if (signal?.aborted) throw error;
    return null;
  }
}

/** Checkpoints of a run that are offered, the earliest first. The start of a run is the model that it began from. */
function keptOf(
  run: string,
  cards: readonly ModelCard[],
  status: RunStatus | null,
): { step: number; card: ModelCard }[] {
  const byId = new Map(cards.map((card) => [card.id, card]));
  const known = status
    ? status.checkpoints.flatMap(({ step, model, kept }) => (kept ? { step, card: byId.get(model) } : []))
    : cards.flatMap((card) => {
        const place = checkpointOf(card.id);
        return place?.run === run ? { step: place.step, card } : [];
      });
  const offered = known.flatMap(({ step, card }) => (card ? { step, card } : []));
  return offered.sort((a, b) => a.step - b.step);
}

/** `run/step-40`, or the weights that act where each role has its own. */
function checkpointOf(model: string): { run: string; step: number } | null {
  const [, run, step] = /^([^/]+)\/step-(\d+)(?:\.act)?$/.exec(model) ?? [];
  return run === undefined ? null : { run, step: Number(step) };
}

/** Models by their names, then runs with the steps that are kept. */
function offered(cards: readonly ModelCard[]): string[] {
  const runs = new Map<string, number[]>();
  const names: string[] = [];
  for (const { id } of cards) {
    const place = checkpointOf(id);
    if (place) runs.set(place.run, [...(runs.get(place.run) ?? []), place.step]);
    else if (!/^[^/]+\/step-\d+\.rehearse$/.test(id)) names.push(id);
  }
  const inOrder = (steps: number[]) => [...steps].sort((a, b) => a - b).join(', ');
  return [...names, ...[...runs].map(([run, steps]) => `${run} (a run, of steps ${inOrder(steps)})`)];
}
