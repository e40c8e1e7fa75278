/** What a step samples: which tasks, and with which seeds. All of it follows from the run's seed. */
import type { Task } from '../environment/types';
import { mixSeed } from '../rehearsal/seed';
import type { RunConfig, Settings } from './types';

export interface PlannedRollout {
  /** Place in the step: by task, then by attempt. */
  index: number;
  task: Task;
  attempt: number;
  seed: number;
}

/** Tasks of a step (1-based): each pass over the tasks is shuffled anew, and every task comes once in it. */
export function tasksOf(tasks: readonly Task[], step: number, { seed, tasksPerStep }: Settings): Task[] {
  const chosen: Task[] = [];
  const first = (step - 1) * tasksPerStep;
  for (let place = first; place < first + tasksPerStep; place++) {
    const pass = Math.floor(place / tasks.length);
    chosen.push(shuffled(tasks, mixSeed(seed, 'tasks', pass))[place % tasks.length]!);
  }
  return chosen;
}

export function planStep({ parts, settings }: RunConfig, step: number): PlannedRollout[] {
  const { groupSize, seed } = settings;
  return tasksOf(parts.train, step, settings).flatMap((task, group) =>
    Array.from({ length: groupSize }, (_, attempt) => ({
      index: group * groupSize + attempt,
      task,
      attempt,
      seed: mixSeed(seed, 'rollout', step, task.id, group, attempt),
    })),
  );
}

/** In an order that follows from the seed alone. */
export function shuffled<T>(items: readonly T[], seed: number): T[] {
  return items
    .map((item, index) => ({ item, index, key: mixSeed(seed, index) }))
    .sort((a, b) => a.key - b.key || a.index - b.index)
    .map(({ item }) => item);
}
