/** What a client sends to start a run, held against what this version knows before anything is made of it. */
import { compileSchema } from '../../../src/core/environment/json-schema';
import { isObject, type JsonObject } from '../../../src/core/json';
import { TrainingSchema } from '../../../src/core/training/schema';
import { runErrors } from '../../../src/node/runs/errors';
import type { NewRun } from '../../../src/node/runs/store';
import type { KeyValues } from './keys';

const PARTS = ['train', 'validation', 'test'];

/** Throws `NodeError` with what is wrong. */
export function newRunOf(value: unknown): NewRun {
  const config = isObject(value as never) ? (value as JsonObject) : {};
  const text = (field: string) => {
    if (typeof config[field] !== 'string' || !config[field]) throw runErrors.refused(`${field} is missing`);
  };
  if (config.version !== 1) throw runErrors.refused('it is of another version');
  for (const field of ['name', 'folder', 'environmentFile']) text(field);
  const { settings, environment, parts, allowed, parent = null, trainingFile = null } = config;
  checkSettings(settings as JsonObject);
  if (!isObject(environment) || !Array.isArray(environment.tools) || !Array.isArray(environment.examples))
    throw runErrors.refused('environment is not whole');
  if (!isObject(parts) || !PARTS.every((part) => Array.isArray(parts[part])))
    throw runErrors.refused('parts are not whole');
  if (!(parts.train as unknown[]).length) throw runErrors.refused('there are no tasks to train on');
  if (!Array.isArray(allowed) || !allowed.every((name) => typeof name === 'string'))
    throw runErrors.refused('allowed is no list of names');
  return {
    ...(config as unknown as NewRun),
    parent: parent as NewRun['parent'],
    trainingFile: trainingFile as string | null,
  };
}

/** Settings are the fields of a training file, none of them left out. */
function checkSettings(settings: JsonObject | undefined): void {
  if (!isObject(settings as never)) throw runErrors.refused('settings are missing');
  const { judge, ...rest } = settings!;
  const compiled = compileSchema(TrainingSchema as unknown as JsonObject);
  if (!compiled.ok) throw new Error(compiled.problem);
  const file = { environment: 'x', tasks: { train: [] }, ...rest, ...(judge ? { judge } : {}) };
  const [wrong] = compiled.validate(file);
  if (wrong) throw runErrors.refused(`settings${wrong.path.replaceAll('/', '.')} ${wrong.message}`);
  for (const field of [
    'variant',
    'weights',
    'steps',
    'tasksPerStep',
    'groupSize',
    'loss',
    'evaluation',
    'checkpoints',
  ])
    if (settings![field] === undefined) throw runErrors.refused(`settings.${field} is missing`);
}

/** Keys by name. Throws `NodeError` where it is something else. */
export function keysOf(value: unknown): KeyValues {
  if (value === undefined || value === null) return {};
  const keys = isObject(value as never) ? (value as JsonObject) : null;
  const good =
    keys && Object.entries(keys).every(([name, key]) => /^\w{1,100}$/.test(name) && typeof key === 'string');
  if (!good) throw runErrors.refused('keys are no object of names and texts');
  return keys as KeyValues;
}
