/** A tiny run: random weights, a deterministic engine, tasks that random text solves half of the time. */
import fs from 'node:fs';
import path from 'node:path';
import { DEFAULTS } from '../../../src/core/environment/schema';
import type { Example, Task } from '../../../src/core/environment/types';
import { DEFAULT_SETTINGS } from '../../../src/core/training/defaults';
import type { RunConfig, Settings } from '../../../src/core/training/types';

export const MODEL = 'tiny';

export function tinyConfig(
  folder: string,
  change: Partial<Settings> = {},
): Omit<RunConfig, 'id' | 'created'> {
  const task = (id: string): Task => ({
    id,
    instruction: `Say something about ${id}.`,
    user: [],
    // Random weights end an output now and then; what they write by then has such a letter or not.
    checks: [{ kind: 'answer', pattern: '[aeiou]' }],
  });
  const record = (key: string, part: Example['part']): Example => ({
    tool: 'look_up',
    arguments: { key },
    outcome: 'result',
    value: { key, value: `value of ${key}` },
    afterWrite: false,
    part,
  });
  const settings: Settings = {
    ...DEFAULT_SETTINGS,
    model: MODEL,
    steps: 8,
    tasksPerStep: 2,
    groupSize: 4,
    learningRate: 1e-3,
    concurrency: 8,
    replayShare: 0.1,
    kl: { act: 0.01, rehearse: 0 },
    evaluation: { every: 4, attempts: 1, recorded: true },
    checkpoints: { every: 2, keep: 2 },
    ...change,
  };
  return {
    version: 1,
    name: 'tiny',
    settings,
    environment: {
      name: 'tiny',
      policy: 'Answer.',
      tools: [
        {
          name: 'look_up',
          description: 'Look a key up.',
          parameters: { type: 'object', properties: { key: { type: 'string' } }, required: ['key'] },
          readOnly: true,
        },
      ],
      examples: [record('a', 'train'), record('b', 'train'), record('c', 'held-out')],
      ignore: [],
      tasks: [],
      ...DEFAULTS,
      maxTurns: 2,
      limits: { act: 64, rehearse: 24 },
    },
    parts: {
      train: ['cats', 'dogs', 'owls', 'bees', 'ants'].map(task),
      validation: ['cows', 'pigs'].map(task),
      test: ['rats'].map(task),
    },
    folder,
    environmentFile: path.join(folder, 'tiny.rehearsal.json'),
    trainingFile: null,
    allowed: [],
    parent: null,
  };
}

/** Where the test writes the engine's address, which changes whenever it is started again. */
export const addressFile = (home: string) => path.join(home, 'engine-url');

/** Where the runner of the fault tests writes what it does. */
export const phaseFile = (home: string) => path.join(home, 'phase');

/** Address of the engine once it answers; asks until it does. */
export async function liveEngine(home: string, signal: AbortSignal): Promise<{ baseUrl: string }> {
  for (;;) {
    signal.throwIfAborted();
    try {
      const baseUrl = fs.readFileSync(addressFile(home), 'utf8');
      if ((await fetch(`${baseUrl}/v1/models`)).ok) return { baseUrl };
    } catch {
      // Not yet, or not any more.
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
