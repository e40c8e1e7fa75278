/**
 * From the text of a training file to what a run starts with, everything that is wrong told where it stands. Unlike
 * an environment, a training file with something wrong in it is not used at all: hours would go into it.
 */
import { type Diagnostic, Report } from '../environment/diagnostics';
import { lintExamples } from '../environment/lint';
import { readExamples } from '../environment/read-examples';
import { type Entry, parseLines, parseText, reportDuplicateKeys } from '../environment/source';
import type { Environment, Task } from '../environment/types';
import { isUnknownField, violationPlace, violationsOf, violationText } from '../environment/validate';
import { isObject, type JsonObject } from '../json';
import { parentOf } from './checkpoints';
import { PRESETS, type RehearsalSettings, settingsOf } from './defaults';
import { lintTraining } from './lint';
import { PARTS, readParts } from './parts';
import { type FileSource, Files, headOf, type LoadedEnvironmentFile, unknownField } from './reading';
import { type TrainingFile, TrainingSchema } from './schema';
import type { Part, RunConfig, Settings } from './types';

export interface LoadTrainingOptions extends FileSource {
  /** Absolute path of the file; gives its runs their name where it has none. */
  path: string;
  /** Instead of what the file says: options of a launch. */
  override?: Pick<Partial<TrainingFile>, 'name' | 'seed' | 'steps' | 'variant' | 'model'>;
}

export interface LoadedTraining {
  /** Null where there is an error. `allowed` is empty: consent is the launcher's. */
  config: Omit<RunConfig, 'id' | 'created'> | null;
  /** Of what is as it should be, for a page that shows the file while it is being written. */
  settings: Settings;
  /** As many as could be read. */
  parts: Record<Part, Task[]>;
  environment: Environment | null;
  diagnostics: Diagnostic[];
}

/** Never rejects: whatever is wrong is a diagnostic. */
export async function loadTraining(text: string, options: LoadTrainingOptions): Promise<LoadedTraining> {
  const report = new Report();
  const parts: Record<Part, Task[]> = { train: [], validation: [], test: [] };
  const nothing = () => ({
    config: null,
    settings: settingsOf({}),
    parts,
    environment: null,
    diagnostics: report.diagnostics,
  });
  if (!text.trim()) {
    report.error(
      { offset: 0, length: text.length },
      'empty',
      'The file is empty.',
      'Write an object with "environment" and "tasks".',
    );
    return nothing();
  }
  const { root } = parseText(text, undefined, report);
  if (!root) return nothing();
  if (!isObject(root.value)) {
    report.error(
      root.place(),
      'training',
      'A training file is a JSON object.',
      'Write { "environment": "…", "tasks": { "train": […] } }.',
    );
    return nothing();
  }
  reportDuplicateKeys(root, report);
  const files = new Files(options, report);
  const file = { ...checkShell(root, report), ...options.override } as Partial<TrainingFile>;
  const settings = settingsOf(file);
  const loaded = await readEnvironment(root, file, files, report);
  const found = await readParts(root, loaded, files, report);
  for (const part of PARTS) parts[part] = found[part].map(({ task }) => task);
  const environment = loaded?.environment
    ? await withOwn(loaded.environment, root, file, files, report)
    : null;
  if (environment) lintTraining({ root, file, settings, environment, parts: found }, report);
  if (settings.tasksPerStep > parts.train.length && file.tasksPerStep === undefined)
    settings.tasksPerStep = Math.max(1, parts.train.length);
  const failed = report.diagnostics.some(({ severity }) => severity === 'error');
  const config =
    failed || !environment
      ? null
      : {
          version: 1 as const,
          name: file.name?.trim() || nameOf(options.path),
          settings,
          environment,
          parts: capped(parts, environment.maxTurns, maxTurnsOf(file)),
          folder: loaded!.folder,
          environmentFile: loaded!.file,
          trainingFile: options.path,
          allowed: [],
          parent: settings.start ? parentOf(settings.start) : null,
        };
  return { config, settings, parts, environment, diagnostics: report.diagnostics };
}

/** Tasks and examples are told entry by entry, in their own words. */
const BY_ENTRY = new Set(['tasks', 'examples']);

/** Fields of the file that are as they should be. */
function checkShell(root: Entry, report: Report): JsonObject {
  const file = { ...(root.value as JsonObject) };
  const known = TrainingSchema.properties;
  for (const field of Object.keys(file)) {
    if (!Object.hasOwn(known, field)) {
      unknownField(root, [field], Object.keys(known), report);
      continue;
    }
    if (BY_ENTRY.has(field)) continue;
    const found = violationsOf(known[field as keyof typeof known], root.child([field])!);
    for (const violation of found) {
      const inFile = { ...violation, path: `/${field}${violation.path}` };
      if (isUnknownField(inFile)) {
        const fields = Object.keys(
          (known[field as keyof typeof known] as { properties?: object }).properties ?? {},
        );
        unknownField(root, [field, violation.field!], fields, report);
      } else {
        report.error(
          violationPlace(root, inFile),
          'training',
          `${violationText(inFile)}.`,
          'Correct it here.',
        );
      }
    }
    if (found.length) delete file[field];
  }
  for (const field of ['environment', 'tasks'])
    if (!Object.hasOwn(root.value as JsonObject, field))
      report.error(headOf(root), 'training', `The file has no "${field}".`, `Add "${field}".`);
  return file;
}

async function readEnvironment(
  root: Entry,
  file: Partial<TrainingFile>,
  files: Files,
  report: Report,
): Promise<LoadedEnvironmentFile | null> {
  if (file.environment === undefined) return null;
  const place = root.place(['environment']);
  const loaded = await files.environment(file.environment, place);
  const first =
    loaded?.errors[0] ?? (loaded && !loaded.environment ? 'Nothing of it can be read.' : undefined);
  if (first === undefined) return loaded;
  const more = loaded!.errors.length - 1;
  report.error(
    place,
    'environment',
    `The environment has errors: ${first}${more > 0 ? ` And ${more} more.` : ''}`,
    `Correct them in ${file.environment}.`,
  );
  return loaded;
}

/** The environment with the file's own examples and settings. Its tasks are in the parts. */
async function withOwn(
  environment: Environment,
  root: Entry,
  file: Partial<TrainingFile>,
  files: Files,
  report: Report,
): Promise<Environment> {
  const entries = await exampleEntries(root, files, report);
  const locations = { tools: new Map(), tasks: new Map(), checks: new Map(), examples: [] };
  const { examples, entries: usable } = readExamples(entries, report, locations);
  lintExamples(examples, usable, new Map(environment.tools.map((tool) => [tool.name, tool])), report);
  const preset = PRESETS[file.preset ?? 'default'].rehearsal;
  const { maxTurns, ...given }: RehearsalSettings = { ...preset, ...file.rehearsal };
  return {
    ...environment,
    ...given,
    maxTurns: maxTurns ?? environment.maxTurns,
    examples: [...environment.examples, ...examples],
    tasks: [],
  };
}

async function exampleEntries(root: Entry, files: Files, report: Report): Promise<Entry[]> {
  const entry = root.child(['examples']);
  if (!entry) return [];
  if (Array.isArray(entry.value)) return entry.items();
  if (typeof entry.value !== 'string') {
    report.error(
      entry.place(),
      'training',
      'Examples are an array of recorded calls, or the name of a file that has them.',
      'Write an array, or the name of a .jsonl file.',
    );
    return [];
  }
  const text = await files.text(entry.value, entry.place());
  if (text === null) return [];
  if (/\.(jsonl|ndjson)$/i.test(entry.value)) return parseLines(text, entry.value, report);
  const { root: other } = parseText(text, entry.value, report);
  if (other && !Array.isArray(other.value))
    report.error(
      other.place(),
      'file',
      `${entry.value} has no list of recorded calls.`,
      'Write a JSON list.',
    );
  return other?.items() ?? [];
}

const maxTurnsOf = (file: Partial<TrainingFile>) => file.rehearsal?.maxTurns;

/** A limit of the run holds for tasks that have a higher one of their own. */
function capped(parts: Record<Part, Task[]>, limit: number, given: number | undefined): Record<Part, Task[]> {
  if (given === undefined) return parts;
  const cap = (task: Task) =>
    task.maxTurns !== undefined && task.maxTurns > limit ? { ...task, maxTurns: limit } : task;
  return {
    train: parts.train.map(cap),
    validation: parts.validation.map(cap),
    test: parts.test.map(cap),
  };
}

function nameOf(path: string): string {
  const base = path.split(/[\\/]/).at(-1) ?? '';
  return base.replace(/(\.training)?\.json$/, '') || 'training';
}

export type { LoadedEnvironmentFile } from './reading';
