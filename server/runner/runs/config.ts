/** What a client sends to start a run, held against what this version knows before anything is made of it. */
import { compileSchema } from '../../../src/core/environment/json-schema';
import { violationText } from '../../../src/core/environment/validate';
import { isObject, type JsonObject } from '../../../src/core/json';
import { DEFAULT_SETTINGS } from '../../../src/core/training/defaults';
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
  if (!isEnvironment(environment)) throw runErrors.refused('environment is not whole');
  if (!isObject(parts) || !PARTS.every((part) => isList(parts[part], isTask)))
    throw runErrors.refused('parts are not whole');
  if (!(parts.train as unknown[]).length) throw runErrors.refused('there are no tasks to train on');
  if (!Array.isArray(allowed) || !allowed.every((name) => typeof name === 'string'))
    throw runErrors.refused('allowed is no list of names');
  if (parent !== null && !isCheckpoint(parent)) throw runErrors.refused('parent is no checkpoint');
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
  if (wrong) throw runErrors.refused(violationText({ ...wrong, path: `/settings${wrong.path}` }));
  for (const [field, value] of Object.entries(DEFAULT_SETTINGS)) {
    const given = settings![field];
    if (given === undefined) throw runErrors.refused(`settings.${field} is missing`);
    for (const inner of isObject(value as never) ? Object.keys(value as object) : [])
      if ((given as JsonObject)[inner] === undefined)
        throw runErrors.refused(`settings.${field}.${inner} is missing`);
  }
}

const isText = (value: unknown) => typeof value === 'string';

function isList(value: unknown, isItem: (item: JsonObject) => boolean): boolean {
  return Array.isArray(value) && value.every((item) => isObject(item) && isItem(item));
}

/** What is shown and run of an environment; its files were read, and told about, where the run was launched. */
function isEnvironment(value: unknown): boolean {
  if (!isObject(value as never)) return false;
  const { name, tools, examples } = value as JsonObject;
  return (
    isText(name) && isList(tools, (tool) => isText(tool.name)) && isList(examples, ({ tool }) => isText(tool))
  );
}

function isTask({ id, instruction, checks }: JsonObject): boolean {
  return isText(id) && isText(instruction) && isList(checks, ({ kind }) => isText(kind));
}

function isCheckpoint(value: unknown): boolean {
  if (!isObject(value as never)) return false;
  const { run, step } = value as JsonObject;
  return isText(run) && Number.isInteger(step);
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
