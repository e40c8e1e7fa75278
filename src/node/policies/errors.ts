/** What can be wrong with the name of a model, as people read it. */
import { NodeError, oneLine, reason, SELECT_MODEL } from '../errors';

export const modelErrors = {
  noModel: (model: string, known: readonly string[]) =>
    new NodeError(
      'model-unknown',
      `The server offers no model called ${oneLine(model, 100)}.`,
      known.length
        ? `It offers: ${known.map((name) => oneLine(name, 100)).join(', ')}.`
        : 'It offers none at all.',
      SELECT_MODEL,
    ),
  noModels: (url: string) =>
    new NodeError(
      'model-unknown',
      `The server at ${url} offers no model.`,
      'Start it with a model, or choose another server.',
      SELECT_MODEL,
    ),
  /** The server says so, in words of its own. */
  refused: (url: string, text: string) =>
    new NodeError(
      'model-unknown',
      `The server at ${url} does not offer this model: ${reason(text)}.`,
      'Choose one that it offers.',
      SELECT_MODEL,
    ),
  /** Known from a session; nothing is asked of it. */
  notOffered: (model: string) =>
    new NodeError(
      'model-unknown',
      `The model ${oneLine(model, 100)} is not offered any more.`,
      'Choose one that is.',
      SELECT_MODEL,
    ),
  noCheckpoint: (run: string, step: number, steps: readonly number[]) =>
    new NodeError(
      'model-unknown',
      `The run ${run} keeps no checkpoint of step ${step}.`,
      `It has those of steps ${steps.join(', ')}; ${run} alone is the best of them.`,
      SELECT_MODEL,
    ),
  noCheckpoints: (run: string) =>
    new NodeError(
      'model-unknown',
      `The run ${run} keeps no checkpoint that the server offers as a model.`,
      'Wait until one is written, or choose another model.',
      SELECT_MODEL,
    ),
};
