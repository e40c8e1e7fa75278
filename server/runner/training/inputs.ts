/** Files that a run reads while it runs: states of tasks and the program of the tools. The rest is in its config. */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { Warning } from '../../../src/core/training/run.types';
import { writeAtomically } from '../../../src/node/server/home';
import type { TrainingRun } from './run';

const NAME = 'inputs.json';

/** What was changed since the run began, told once. Nothing is stopped: the person may want it so. */
export async function changedInputs({ store, ports }: TrainingRun, step: number): Promise<Warning[]> {
  const now = filesOf(store.config);
  if (ports.executor) now['The program of the real tools'] = (await ports.executor.identity()).hash;
  const file = path.join(store.folder, NAME);
  if (!fs.existsSync(file)) {
    writeAtomically(file, `${JSON.stringify(now, null, 1)}\n`);
    return [];
  }
  const before = JSON.parse(fs.readFileSync(file, 'utf8')) as Record<string, string>;
  const changed = Object.keys(now).filter((name) => before[name] !== undefined && before[name] !== now[name]);
  const [first, ...others] = changed;
  const told = store.status.warnings.some((one) => one.code === 'task-changed' && one.step < step);
  if (first === undefined || told) return [];
  const what = others.length ? `${first} and ${others.length} more files were` : `${first} was`;
  const message = `${what} changed since the run began: figures from before and after do not compare.`;
  return [{ step, code: 'task-changed', message }];
}

function filesOf({ environment, parts, folder }: TrainingRun['store']['config']): Record<string, string> {
  const tasks = Object.values(parts).flat();
  const states = [...tasks.map(({ state }) => state), environment.executor?.state];
  const names = new Set(states.filter((state) => typeof state === 'string'));
  return Object.fromEntries([...names].map((name) => [name, digestOf(path.resolve(folder, name))]));
}

function digestOf(file: string): string {
  try {
    return createHash('sha256').update(fs.readFileSync(file)).digest('hex');
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unreadable';
  }
}
