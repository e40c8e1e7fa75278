/** The tasks of a run, in three parts that share none: ids of the environment's tasks, tasks in place, or a file. */

import { type Place, Report } from '../environment/diagnostics';
import { lintStates, statesOfTask } from '../environment/lint-states';
import { lintTask } from '../environment/lint-tasks';
import { readTasks } from '../environment/read-tasks';
import { type Entry, parseLines, parseText } from '../environment/source';
import type { Environment, Task } from '../environment/types';
import { isObject } from '../json';
import { type Files, headOf, type LoadedEnvironmentFile, unknownField } from './reading';
import type { Part } from './types';

export const PARTS: readonly Part[] = ['train', 'validation', 'test'];

/** A task with the place at which the training file, or a file that it names, has it. */
export interface FoundPart {
  task: Task;
  place: Place;
}

export async function readParts(
  root: Entry,
  loaded: LoadedEnvironmentFile | null,
  files: Files,
  report: Report,
): Promise<Record<Part, FoundPart[]>> {
  const environment = loaded?.environment ?? null;
  const parts: Record<Part, FoundPart[]> = { train: [], validation: [], test: [] };
  const tasks = root.child(['tasks']);
  if (!tasks) return parts;
  if (!isObject(tasks.value)) {
    report.error(
      tasks.place(),
      'training',
      'Tasks are an object with the parts "train", "validation" and "test".',
      'Write { "train": […], "validation": […], "test": […] }.',
    );
    return parts;
  }
  for (const field of Object.keys(tasks.value))
    if (!PARTS.includes(field as Part)) unknownField(root, ['tasks', field], PARTS, report);
  const train = tasks.child(['train']);
  if (!train) report.error(headOf(tasks), 'training', 'There are no tasks to train on.', 'Add "train".');
  for (const part of PARTS) {
    const entry = tasks.child([part]);
    if (!entry) continue;
    const entries = await entriesOf(entry, files, report);
    parts[part] = tasksOf(entries, environment, report);
    const own = entries.filter(({ value }) => isObject(value));
    await lintStates(environment?.executor, own.flatMap(statesOfTask), loaded?.state, report);
    if (
      part === 'train' &&
      entries.length === 0 &&
      !report.diagnostics.some(({ severity }) => severity === 'error')
    )
      report.error(entry.place(), 'training', 'There are no tasks to train on.', 'Name at least one task.');
  }
  return withoutShared(parts, report);
}

async function entriesOf(entry: Entry, files: Files, report: Report): Promise<Entry[]> {
  const { value } = entry;
  if (Array.isArray(value)) return entry.items();
  if (typeof value !== 'string' || !/\.(jsonl|ndjson|json)$/i.test(value)) {
    report.error(
      entry.place(),
      'training',
      'A part is an array of tasks, or the name of a .jsonl file.',
      typeof value === 'string' ? `Write [${JSON.stringify(value)}] for a single task.` : 'Write an array.',
    );
    return [];
  }
  const text = await files.text(value, entry.place());
  if (text === null) return [];
  if (/l$|ndjson$/i.test(value)) return parseLines(text, value, report);
  const { root } = parseText(text, value, report);
  const list = root && (Array.isArray(root.value) ? root : root.child(['tasks']));
  if (root && !list)
    report.error(root.place(), 'file', `${value} has no list of tasks.`, 'Write a JSON list.');
  return list?.items() ?? [];
}

/** In the order of the file; an id that stands twice counts once. */
function tasksOf(entries: Entry[], environment: Environment | null, report: Report): FoundPart[] {
  const found: FoundPart[] = [];
  const known = new Map(environment?.tasks.map((task) => [task.id, task]));
  const tools = new Map(environment?.tools.map((tool) => [tool.name, tool]));
  const locations = { tools: new Map(), tasks: new Map(), checks: new Map(), examples: [] };
  for (const entry of entries) {
    if (typeof entry.value !== 'string') {
      const { tasks, entries: usable } = readTasks([entry], report, locations);
      tasks.forEach((task, i) => {
        found.push({ task, place: usable[i]!.place(['id']) });
        if (environment) lintOwn(task, usable[i]!, tools, report);
      });
      continue;
    }
    const place = entry.place();
    const task = known.get(entry.value);
    if (!task) {
      if (environment)
        report.error(
          place,
          'unknown-task',
          `The environment has no task ${JSON.stringify(entry.value)}.`,
          namesOf([...known.keys()]),
        );
    } else if (locations.tasks.has(task.id))
      report.warning(
        place,
        'duplicate-task',
        `The task ${JSON.stringify(task.id)} stands twice in this part; it counts once.`,
        'Remove one.',
      );
    else {
      locations.tasks.set(task.id, place);
      found.push({ task, place });
    }
  }
  return found;
}

/** Of tasks in place; what can be pleased is told of all of a part at once. */
function lintOwn(task: Task, entry: Entry, tools: Parameters<typeof lintTask>[2], report: Report): void {
  const own = new Report();
  lintTask(task, entry, tools, own);
  report.diagnostics.push(...own.diagnostics.filter(({ code }) => code !== 'can-be-pleased'));
}

function namesOf(ids: readonly string[]): string {
  const shown = ids.slice(0, 12).join(', ') || 'none';
  return `Its tasks are: ${shown}${ids.length > 12 ? `, and ${ids.length - 12} more` : ''}.`;
}

const WHY: Record<Part, string> = {
  train: 'trained on',
  validation: 'used to choose the checkpoint',
  test: 'what the result is reported on',
};

/** A task in two parts would make the result look better than it is. */
function withoutShared(parts: Record<Part, FoundPart[]>, report: Report): Record<Part, FoundPart[]> {
  const ids = new Map<string, Part>();
  const contents = new Map<string, { part: Part; id: string }>();
  for (const part of PARTS) {
    for (const { task, place } of parts[part]) {
      const other = ids.get(task.id);
      const content = JSON.stringify([task.instruction, task.user, task.state ?? null]);
      const same = contents.get(content);
      if (other && other !== part)
        report.error(
          place,
          'shared-task',
          `The task ${JSON.stringify(task.id)} is in "${other}" already: what is ${WHY[other]} says nothing where it is also ${WHY[part]}.`,
          'Leave it in one of them.',
        );
      else if (same && same.part !== part && same.id !== task.id)
        report.warning(
          place,
          'same-task',
          `The task ${JSON.stringify(task.id)} asks the same as ${JSON.stringify(same.id)} in "${same.part}".`,
          'Leave it in one of the parts.',
        );
      ids.set(task.id, other ?? part);
      if (!same) contents.set(content, { part, id: task.id });
    }
  }
  return parts;
}
