/** From the text of an environment file to an environment, with everything that is wrong told where it stands. */
import type { TSchema } from '@sinclair/typebox';
import { isObject, type JsonObject } from '../json';
import { type Diagnostic, type Locations, type Place, Report } from './diagnostics';
import { lintEnvironment } from './lint';
import { lintStates, statesOf } from './lint-states';
import { readExamples } from './read-examples';
import { readTasks } from './read-tasks';
import { readTools } from './read-tools';
import { DEFAULTS, EnvironmentSchema } from './schema';
import { type Entry, parseLines, parseText, reportDuplicateKeys } from './source';
import type { ReadState } from './states';
import type { Environment } from './types';
import { violationPlace, violationsOf, violationText } from './validate';

export type { Diagnostic, Locations, Place, Severity } from './diagnostics';

export interface LoadOptions {
  /** Path or name of the file; gives the environment its name where it has none. */
  path: string;
  /** Text of a file, its name relative to the environment file; rejects with the reason, and `next` where known. */
  read(relative: string): Promise<string>;
  /** The initial state that a task names, as real executions get it; rejects with the reason. Else not looked at. */
  state?: ReadState;
}

export interface Loaded {
  /** What could be read: a tool, task or example that is wrong drops only itself. Null where nothing could. */
  environment: Environment | null;
  diagnostics: Diagnostic[];
  locations: Locations;
  /** Errors that kept recorded calls from being read. */
  brokenExamples: Diagnostic[];
}

/** Never rejects: whatever is wrong is a diagnostic. */
export async function loadEnvironment(text: string, options: LoadOptions): Promise<Loaded> {
  const report = new Report();
  const locations: Locations = { tools: new Map(), tasks: new Map(), checks: new Map(), examples: [] };
  const done = (environment: Environment | null, brokenExamples: Diagnostic[] = []) => ({
    environment,
    diagnostics: report.diagnostics,
    locations,
    brokenExamples,
  });
  const { root, broken } = parseText(text, undefined, report);
  if (!root) return done(null);
  if (!isObject(root.value)) {
    report.error(
      root.place(),
      'environment',
      'An environment is a JSON object.',
      'Write { "tools": […], "tasks": […] }.',
    );
    return done(null);
  }
  reportDuplicateKeys(root, report);
  const file = checkShell(root, broken, report);
  const lists = new Lists(root, broken, options, report);
  const tools = readTools(await lists.of('tools'), report, locations);
  const told = report.diagnostics.length;
  const { examples, entries: exampleEntries } = readExamples(await lists.of('examples'), report, locations);
  const brokenExamples = report.diagnostics.slice(told).filter(({ severity }) => severity === 'error');
  const { tasks, entries: taskEntries } = readTasks(await lists.of('tasks'), report, locations);
  const environment: Environment = {
    ...settings(file, options.path),
    policy: await readPolicy(file.policy, root.place(['policy']), options, report),
    tools,
    examples,
    tasks,
  };
  lintEnvironment({ environment, root, tasks: taskEntries, examples: exampleEntries }, report);
  await lintStates(environment.executor, statesOf(root, taskEntries), options.state, report);
  return done(environment, brokenExamples);
}

const LISTS = new Set(['tools', 'tasks', 'examples']);

/** Fields of the file that are as they should be; one that is not is told and its default taken. */
function checkShell(root: Entry, broken: number[], report: Report): JsonObject {
  const file = { ...(root.value as JsonObject) };
  const known: Record<string, TSchema> = EnvironmentSchema.properties;
  for (const field of Object.keys(file)) {
    if (!Object.hasOwn(known, field)) {
      const message = `An environment has no field ${JSON.stringify(field)}; it is ignored.`;
      report.warning(root.keyPlace([field]), 'unknown-field', message, 'Remove it, or correct its name.');
      continue;
    }
    if (LISTS.has(field) && Array.isArray(file[field])) continue; // told entry by entry
    // Field by field, so that whatever is wrong with one, or with how many, its default is used.
    const found = violationsOf(known[field]!, root.child([field])!);
    for (const violation of found) {
      const inFile = { ...violation, path: `/${field}${violation.path}` };
      report.error(
        violationPlace(root, inFile),
        'environment',
        `${violationText(inFile)}; its default is used.`,
        'Correct it here.',
      );
    }
    if (found.length) delete file[field];
  }
  // A truncated file has its own diagnostic, and an MCP server has its tools.
  const brings = isObject(file.executor) && ['mcp', 'http'].includes(file.executor.kind as string);
  if (file.tools === undefined && !broken.length && !brings && !root.child(['tools']))
    report.error(headOf(root), 'environment', 'The environment has no tools.', 'Add "tools".');
  return file;
}

/** The opening brace: a missing field is told there, not over the whole file. */
function headOf(root: Entry): Place {
  return { ...root.place(), length: 1 };
}

function settings(
  file: JsonObject,
  path: string,
): Omit<Environment, 'policy' | 'tools' | 'examples' | 'tasks'> {
  const { executor } = file;
  // Checked against the schema: what is there has the right type.
  const given = file as Partial<Environment>;
  return {
    name: given.name || nameOf(path),
    ignore: given.ignore ?? [],
    ...(given.tolerances ? { tolerances: given.tolerances } : {}),
    ...(executor === undefined ? {} : { executor: executor as Environment['executor'] & object }),
    gates: given.gates ?? DEFAULTS.gates,
    reuseExamples: given.reuseExamples ?? DEFAULTS.reuseExamples,
    reasoning: given.reasoning ?? DEFAULTS.reasoning,
    onGateFailed: given.onGateFailed ?? DEFAULTS.onGateFailed,
    maxTurns: given.maxTurns ?? DEFAULTS.maxTurns,
    limits: { ...DEFAULTS.limits, ...given.limits },
  };
}

function nameOf(path: string): string {
  const base = path.split(/[\\/]/).at(-1) ?? '';
  return base.replace(/(\.rehearsal)?\.json$/, '') || 'environment';
}

/** System prompt: the text itself, or the text of the file that it names. */
async function readPolicy(
  policy: unknown,
  place: Place,
  options: LoadOptions,
  report: Report,
): Promise<string> {
  if (typeof policy !== 'string') return '';
  if (!/^\S+\.(md|txt)$/.test(policy)) return policy;
  return (await readFile(policy, place, options, report))?.trim() ?? '';
}

const CREATE = 'Create the file, or correct its name.';

async function readFile(
  name: string,
  place: Place,
  options: LoadOptions,
  report: Report,
): Promise<string | null> {
  if (/^([/\\~]|[a-z][a-z0-9+.-]*:)|\0/i.test(name)) {
    const message = `${JSON.stringify(name)} is not a name relative to the environment file and was not read.`;
    report.error(place, 'file', message, 'Put the file beside the environment and name it so.');
    return null;
  }
  try {
    return await options.read(name);
  } catch (error) {
    const { code, message, next = CREATE } = error as { code?: string; message?: string; next?: string };
    const why =
      code === 'ENOENT' ? 'there is no such file beside the environment' : (message ?? String(error));
    report.error(place, 'file', `${name} could not be read: ${why}.`, next);
    return null;
  }
}

/** The lists of an environment, each written in place or in a file of its own. */
class Lists {
  constructor(
    private readonly root: Entry,
    private readonly broken: number[],
    private readonly options: LoadOptions,
    private readonly report: Report,
  ) {}

  async of(field: 'tools' | 'tasks' | 'examples'): Promise<Entry[]> {
    const entry = this.root.child([field]);
    if (!entry) return [];
    if (typeof entry.value !== 'string') return whole(entry.items(), this.broken);
    const text = await readFile(entry.value, entry.place(), this.options, this.report);
    if (text === null) return [];
    if (/\.(jsonl|ndjson)$/i.test(entry.value)) return parseLines(text, entry.value, this.report);
    const { root, broken } = parseText(text, entry.value, this.report);
    const list = root && listIn(root, field);
    if (root && !list) {
      const message = `${entry.value} has no list of ${field}.`;
      this.report.error(root.place(), 'file', message, `Write a JSON list, or an object with "${field}".`);
    }
    return whole(list?.items() ?? [], broken);
  }
}

/** A list itself, an object that has it, or the answer of an MCP server that has it. */
function listIn(root: Entry, field: string): Entry | null {
  if (Array.isArray(root.value)) return root;
  const found = root.child([field]) ?? root.child(['result', field]);
  return Array.isArray(found?.value) ? found : null;
}

/** Entries that no syntax error touches: what is wrong with the others was told where it is. */
function whole(entries: Entry[], broken: number[]): Entry[] {
  return entries.filter((entry) => {
    const { offset, length } = entry.place();
    return !broken.some((at) => at >= offset && at <= offset + length);
  });
}
