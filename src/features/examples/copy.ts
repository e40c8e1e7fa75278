import fs from 'node:fs/promises';
import path from 'node:path';
import { reasonOf, UserError } from '../../core/user-error';

const NAME = 'rehearsal-examples';

/** Copies into a folder that is not there yet: nothing of the person's is ever written over. */
export async function copyExamples(source: string, parent: string): Promise<string> {
  const folder = await freeName(parent);
  try {
    // What the extension's folder may hold of somebody's runs stays there.
    await fs.cp(source, folder, { recursive: true, filter: (from) => path.basename(from) !== '.rehearsal' });
  } catch (error) {
    throw new UserError(
      `The examples cannot be copied to ${folder}: ${reasonOf(error)}.`,
      'Choose a folder that you may write to.',
    );
  }
  return folder;
}

async function freeName(parent: string): Promise<string> {
  for (let n = 1; ; n++) {
    const folder = path.join(parent, n === 1 ? NAME : `${NAME}-${n}`);
    const taken = await fs.stat(folder).catch(() => null);
    if (!taken) return folder;
  }
}
