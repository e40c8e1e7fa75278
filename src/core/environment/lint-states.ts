/** Initial states in files of their own: told where they are named, before a real execution would begin in them. */
import { isObject } from '../json';
import type { Place, Report } from './diagnostics';
import type { Entry } from './source';
import { isStateFile, type ReadState } from './states';
import type { Environment } from './types';

interface Named {
  file: string;
  place: Place;
  /** "Task x" or "The executor" */
  whose: string;
}

/** Files that an environment's executor and tasks name as initial states. */
export function statesOf(root: Entry, tasks: readonly Entry[]): Named[] {
  const executor = root.child(['executor']);
  return [...(executor ? named(executor, 'The executor') : []), ...tasks.flatMap(statesOfTask)];
}

/** The file that a task names as its initial state. */
export function statesOfTask(task: Entry): Named[] {
  const id = isObject(task.value) ? task.value.id : undefined;
  return named(task, typeof id === 'string' ? `Task ${id}` : 'A task');
}

function named(entry: Entry, whose: string): Named[] {
  const state = isObject(entry.value) ? entry.value.state : undefined;
  return isStateFile(state) ? [{ file: state, place: entry.place(['state']), whose }] : [];
}

/** Kinds of executors that begin in the state given; for the others it is a name, or nothing. */
const BEGIN_IN_STATE = new Set(['module', 'command']);

export async function lintStates(
  executor: Environment['executor'],
  states: readonly Named[],
  read: ReadState | undefined,
  report: Report,
): Promise<void> {
  if (!read || (executor && !BEGIN_IN_STATE.has(executor.kind))) return;
  const problems = new Map<string, Promise<{ message: string; next?: string } | null>>();
  for (const { file, place, whose } of states) {
    const known =
      problems.get(file) ??
      read(file).then(
        () => null,
        (error) => error,
      );
    problems.set(file, known);
    const problem = await known;
    if (!problem) continue;
    const message = `${whose} cannot begin in its state: ${problem.message.replace(/[.\s]+$/, '')}.`;
    const next = problem.next ?? 'Correct it here.';
    // Without an executor nothing reads it yet.
    if (executor) report.error(place, 'state', message, next);
    else report.warning(place, 'state', message, next);
  }
}
