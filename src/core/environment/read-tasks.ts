/** Tasks with their checks. */
import { isObject, type Json } from '../json';
import { CHECK_KINDS } from './check-schema';
import type { Locations, Report } from './diagnostics';
import { type TaskEntry, TaskSchema } from './schema';
import type { Entry } from './source';
import type { Task } from './types';
import { accept, violationPlace, violationsOf, violationText } from './validate';

/** A wrong task drops only itself; one wrong check drops its task, since without it the task would be easier. */
export function readTasks(
  entries: Entry[],
  report: Report,
  locations: Locations,
): { tasks: Task[]; entries: Entry[] } {
  const read: { task: Task; entry: Entry }[] = [];
  for (const entry of entries) {
    const label = labelOf(entry.value);
    const checks = entry.child(['checks'])?.items() ?? [];
    const wrong = checks.map((check, i) =>
      reportCheck(check, `${label} was left out: check ${i + 1}`, report),
    );
    // What is wrong with a check was said in the words of its kind.
    if (wrong.includes(true) || !accept(TaskSchema, entry, label, 'task', report)) continue;
    const task = readTask(entry.value as TaskEntry);
    if (locations.tasks.has(task.id)) {
      const message = `There is already a task ${JSON.stringify(task.id)}; this one was left out.`;
      report.warning(entry.place(['id']), 'duplicate-task', message, 'Give it another id.');
      continue;
    }
    locations.tasks.set(task.id, entry.place());
    locations.checks.set(
      task.id,
      checks.map((check) => check.place()),
    );
    read.push({ task, entry });
  }
  return { tasks: read.map(({ task }) => task), entries: read.map(({ entry }) => entry) };
}

function labelOf(value: Json): string {
  const id = isObject(value) ? value.id : undefined;
  return typeof id === 'string' && id ? `Task ${id}` : 'A task';
}

/** Reports what is wrong with a check in the words of its kind. */
function reportCheck(entry: Entry, label: string, report: Report): boolean {
  const { value } = entry;
  const kinds = Object.keys(CHECK_KINDS).join(', ');
  if (!isObject(value) || typeof value.kind !== 'string') {
    report.error(entry.place(), 'check', `${label} is no object with a kind.`, `Give it a kind: ${kinds}.`);
    return true;
  }
  if (!Object.hasOwn(CHECK_KINDS, value.kind)) {
    report.error(
      entry.place(['kind']),
      'check',
      `${label} has the unknown kind ${JSON.stringify(value.kind)}.`,
      `Kinds are: ${kinds}.`,
    );
    return true;
  }
  const violations = violationsOf(CHECK_KINDS[value.kind as keyof typeof CHECK_KINDS], entry);
  for (const violation of violations) {
    const place = violationPlace(entry, violation);
    report.error(
      place,
      'check',
      `${label} (${value.kind}): ${violationText(violation)}.`,
      'Correct it here.',
    );
  }
  return violations.length > 0;
}

function readTask(entry: TaskEntry): Task {
  return {
    id: entry.id,
    instruction: entry.instruction,
    user: [entry.user ?? []].flat(),
    ...(entry.state === undefined ? {} : { state: entry.state }),
    checks: entry.checks,
    ...(entry.maxTurns === undefined ? {} : { maxTurns: entry.maxTurns }),
  };
}
