/** Training files that the product writes: for an environment that has none, and for a branch of a run. */
import fs from 'node:fs/promises';
import path from 'node:path';
import type { Environment } from '../../core/environment/types';
import type { RunStatus } from '../../core/training/run.types';
import { UserError } from '../../core/user-error';
import { setValue } from './edits';

/** A file beside the environment's, its tasks in three parts. Throws `UserError` where there are none. */
export async function writeNewFile(environmentFile: string, environment: Environment): Promise<string> {
  const base = path.basename(environmentFile, '.rehearsal.json');
  const text = newFileText(path.basename(environmentFile), environment);
  return writeFree(path.dirname(environmentFile), base, text);
}

export function newFileText(
  environmentFile: string,
  { name, tasks }: Pick<Environment, 'name' | 'tasks'>,
): string {
  if (tasks.length === 0)
    throw new UserError(`The environment ${name} has no tasks.`, 'Add one before it is trained on.');
  const ids = tasks.map(({ id }) => id);
  const held = Math.floor(ids.length / 4);
  const parts = {
    train: ids.slice(0, ids.length - 2 * held),
    ...(held > 0 && {
      validation: ids.slice(ids.length - 2 * held, ids.length - held),
      test: ids.slice(ids.length - held),
    }),
  };
  return `${JSON.stringify({ environment: environmentFile, tasks: parts }, null, 2)}\n`;
}

/** The run's own file with the checkpoint to start from, as a new file beside it. */
export async function writeBranchFile({ id, trainingFile }: RunStatus, step: number): Promise<string> {
  if (!trainingFile) {
    throw new UserError(
      `The run ${id} was not launched from a file.`,
      `Write "start": "${id}/${step}" into a training file.`,
    );
  }
  let text: string;
  try {
    text = await fs.readFile(trainingFile, 'utf8');
  } catch {
    throw new UserError(
      `${trainingFile} is not there any more.`,
      `Write "start": "${id}/${step}" into another training file.`,
    );
  }
  const [edit] = setValue(text, ['start'], `${id}/${step}`);
  const changed = edit
    ? text.slice(0, edit.offset) + edit.content + text.slice(edit.offset + edit.length)
    : text;
  const base = `${path.basename(trainingFile, '.training.json')}-from-${step}`;
  return writeFree(path.dirname(trainingFile), base, changed);
}

/** Under the first name that is free: nothing that a person wrote is written over. */
async function writeFree(folder: string, base: string, text: string): Promise<string> {
  for (let n = 1; ; n++) {
    const file = path.join(folder, `${base}${n > 1 ? `-${n}` : ''}.training.json`);
    try {
      await fs.writeFile(file, text, { flag: 'wx' });
      return file;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
        throw new UserError(
          `${file} could not be written: ${(error as Error).message}.`,
          'Check the rights of the folder.',
        );
      }
    }
  }
}
