/** Reading the command line. What is wrong with it is a usage error: exit code 2. */
import { type ParseArgsConfig, parseArgs } from 'node:util';
import type { RehearsalOptions } from '../core/rehearsal/types';

export class UsageError extends Error {}

type Options = NonNullable<ParseArgsConfig['options']>;

/** Where the model is: the same for every command that samples. */
export const MODEL_OPTIONS = {
  server: { type: 'string' },
  'token-env': { type: 'string' },
  model: { type: 'string' },
  sessions: { type: 'string' },
  seed: { type: 'string' },
  temperature: { type: 'string' },
  json: { type: 'boolean' },
} as const satisfies Options;

export function parse<T extends Options>(args: readonly string[], options: T) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError(`${(error as Error).message.split('. ')[0]!.replace(/\.$/, '')}.`);
  }
}

export function oneFile(
  positionals: readonly string[],
  kind: 'environment' | 'training' = 'environment',
): string {
  const [file, ...more] = positionals;
  if (!file || more.length > 0) throw new UsageError(`Name one ${kind} file.`);
  return file;
}

/** A whole number from `least` to `most`, or the default where the option is absent. */
export function wholeNumber(
  name: string,
  text: string | undefined,
  least: number,
  otherwise: number,
  most = 2 ** 31 - 1,
): number {
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < least || value > most) {
    throw new UsageError(`--${name} must be a whole number from ${least} to ${most}, not ${text}.`);
  }
  return value;
}

function temperatureOf(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < 0 || value > 2) {
    throw new UsageError(`--temperature must be a number from 0 to 2, not ${text}.`);
  }
  return value;
}

/** How to sample: what the options of every command say, and `defaults` for what they leave open. */
export function samplingOf(values: { seed?: string; temperature?: string }, defaults: RehearsalOptions) {
  const { temperature, topP, topK, minP, alternatives, seed } = defaults;
  return {
    topP,
    topK,
    minP,
    alternatives,
    temperature: temperatureOf(values.temperature, temperature),
    seed: wholeNumber('seed', values.seed, 0, seed),
  };
}
