/** Training files on disk. */
import path from 'node:path';
import { type LoadedTraining, type LoadTrainingOptions, loadTraining } from '../core/training/load';
import { readEnvironment } from './environments';
import { errors } from './errors';
import { readText } from './text-file';
import { stateBeside } from './tools/places';

export interface TrainingFileRead extends LoadedTraining {
  /** Absolute. */
  file: string;
  /** Texts of the file and of those it names, by name relative to it; '' is the file itself. */
  texts: Map<string, string>;
}

export function isTrainingFile(file: string): boolean {
  return /\.training\.json$/i.test(file);
}

/** Reads a training file, its environment and what else it names. Throws only where the file itself cannot be read. */
export async function readTraining(
  file: string,
  override?: LoadTrainingOptions['override'],
): Promise<TrainingFileRead> {
  const at = path.resolve(file);
  try {
    return await trainingFrom(at, await readText(at), override);
  } catch (error) {
    throw errors.unreadable(file, error);
  }
}

/**
 * The same of a text that may differ from what is saved.
 * @param file absolute path
 */
async function trainingFrom(
  file: string,
  text: string,
  override?: LoadTrainingOptions['override'],
): Promise<TrainingFileRead> {
  const texts = new Map([['', text]]);
  const folder = path.dirname(file);
  const loaded = await loadTraining(text, {
    path: file,
    override,
    read: async (relative) => {
      const content = await readText(path.resolve(folder, relative));
      texts.set(relative, content);
      return content;
    },
    loadEnvironment: async (relative) => {
      const at = path.resolve(folder, relative);
      await readText(at); // rejects with the system's reason, which is told at its place
      const { environment, diagnostics } = await readEnvironment(at);
      const wrong = diagnostics.filter(({ severity }) => severity === 'error');
      const beside = path.dirname(at);
      const state = (name: string) => stateBeside(beside, name);
      return { environment, errors: wrong.map(({ message }) => message), file: at, folder: beside, state };
    },
  });
  return { file, texts, ...loaded };
}
