/** `rehearsal train`: launches the run of a training file on the local server and tells how it goes. */

import type { RunStatus } from '../core/training/run.types';
import { VARIANTS } from '../core/training/schema';
import { positionOf } from '../node/environments';
import { NodeError, type UserError } from '../node/errors';
import type { RunsClient } from '../node/runs/client';
import { keyNames, keyNeeds } from '../node/runs/keys';
import type { NewRun } from '../node/runs/store';
import { createExecutor } from '../node/tools';
import { allowGate } from '../node/tools/consent';
import { readTraining, type TrainingFileRead } from '../node/training-files';
import { oneFile, parse, UsageError, wholeNumber } from './arguments';
import { runsClient } from './runs-client';
import { EXIT, type Terminal } from './terminal';
import { follow, type Outcome } from './train-follow';

const OPTIONS = {
  json: { type: 'boolean' },
  detach: { type: 'boolean' },
  allow: { type: 'string', multiple: true },
  name: { type: 'string' },
  model: { type: 'string' },
  seed: { type: 'string' },
  steps: { type: 'string' },
  variant: { type: 'string' },
  seeds: { type: 'string' },
  variants: { type: 'string' },
} as const;

type Values = ReturnType<typeof parse<typeof OPTIONS>>['values'];

export async function train(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parse(args, OPTIONS);
  const file = oneFile(positionals, 'training');
  if (/\.rehearsal\.json$/i.test(file))
    throw new UsageError(
      `${file} is an environment. Name a training file (NAME.training.json) that names it.`,
    );
  const planned = await planOf(file, values, terminal);
  for (const { name, address } of planned.flatMap((config, i) => (i === 0 ? keyNeeds(config) : [])))
    terminal.say(`The key in ${name} is sent to ${address}.`);
  const client = runsClient(terminal);
  if (values.seeds === undefined && values.variants === undefined) {
    const [config] = planned;
    const status = await client.launch(config!, keysFor(config!));
    return watch([status], client, values, terminal);
  }
  return sweep(planned, client, values, terminal);
}

/** A run for each variant and seed asked for; one that is done already is not done again. */
async function sweep(
  planned: readonly NewRun[],
  client: RunsClient,
  values: Values,
  terminal: Terminal,
): Promise<number> {
  const known = await client.list();
  const launched: RunStatus[] = [];
  for (const config of planned) {
    let found: RunStatus | undefined;
    for (const status of known.filter(({ name }) => name === config.name))
      if (sameRun(await client.config(status.id), config)) found = status;
    if (!found) launched.push(await client.launch(config, keysFor(config)));
    else if (found.state === 'done') terminal.say(`${found.id} is done already.`);
    else launched.push(await client.resume(found.id, keysFor(config)));
  }
  return watch(launched, client, values, terminal);
}

/** What is trained, and how; where the file was and what was allowed does not matter. */
function sameRun(a: NewRun, b: NewRun): boolean {
  const what = ({ settings, environment, parts }: NewRun) => JSON.stringify([settings, environment, parts]);
  return what(a) === what(b);
}

async function watch(
  launched: readonly RunStatus[],
  client: RunsClient,
  { detach, json }: Values,
  terminal: Terminal,
): Promise<number> {
  if (detach) {
    for (const status of launched) {
      if (json) terminal.json({ type: 'run', ...status });
      else
        terminal.page.print(
          `${status.id} is ${status.state}. \`rehearsal runs follow ${status.id}\` shows how it goes.`,
        );
    }
    return EXIT.ok;
  }
  let worst: Outcome = 'done';
  // The last first: where one stops, the next would begin.
  const onAbort = async () => {
    for (const { id } of [...launched].reverse()) await client.stop(id);
  };
  for (const { id } of launched) {
    const outcome = await follow(id, client, { json: json ?? false, onAbort }, terminal);
    if (outcome !== 'done') worst = outcome;
    if (terminal.signal.aborted) break;
  }
  if (terminal.signal.aborted) return EXIT.interrupted;
  return { done: EXIT.ok, stopped: EXIT.ok, failed: EXIT.failed, 'needs key': EXIT.usage }[worst];
}

/** The runs that the arguments ask for. Throws where the file has errors, after they were told. */
async function planOf(file: string, values: Values, terminal: Terminal): Promise<NewRun[]> {
  const seeds = listOf('seeds', values.seeds)?.map((seed) => wholeNumber('seeds', seed, 0, 0));
  const variants =
    listOf('variants', values.variants) ?? (values.variant === undefined ? undefined : [values.variant]);
  if (values.seeds !== undefined && values.seed !== undefined)
    throw new UsageError('Give --seed or --seeds.');
  if (values.variants !== undefined && values.variant !== undefined)
    throw new UsageError('Give --variant or --variants.');
  for (const variant of variants ?? [])
    if (!(VARIANTS as readonly string[]).includes(variant))
      throw new UsageError(`There is no variant ${variant}; there are ${VARIANTS.join(', ')}.`);
  const isSweep = values.seeds !== undefined || values.variants !== undefined;
  const steps = values.steps === undefined ? undefined : wholeNumber('steps', values.steps, 1, 1);
  const seed = values.seed === undefined ? undefined : wholeNumber('seed', values.seed, 0, 0);
  const plans: NewRun[] = [];
  let told = false;
  for (const variant of (variants ?? [undefined]) as (NewRun['settings']['variant'] | undefined)[]) {
    for (const one of seeds ?? [seed]) {
      const override = defined({ variant, seed: one, steps, model: values.model, name: values.name });
      const read = await readTraining(file, override);
      if (!told) tellDiagnostics(file, read, values.json ?? false, terminal);
      told = true;
      const config = read.config ?? refuse(file, read);
      const { settings, name } = config;
      plans.push({
        ...config,
        name: isSweep ? `${name}-${settings.variant}-seed-${settings.seed}` : name,
        allowed: await allowedFor(config, values.allow ?? [], plans.length === 0, terminal),
      });
    }
  }
  return plans;
}

function refuse(file: string, { diagnostics }: TrainingFileRead): never {
  const first = diagnostics.find(({ severity }) => severity === 'error');
  throw new NodeError(
    'training-broken',
    `${file} cannot be trained: ${first?.message ?? 'it has errors.'}`,
    first?.next ?? '',
  );
}

function tellDiagnostics(file: string, read: TrainingFileRead, json: boolean, { say, page }: Terminal): void {
  if (json) return;
  for (const { severity, message, next, ...place } of read.diagnostics) {
    if (severity === 'information') continue;
    const { line, column } = positionOf(read, place);
    const colour = severity === 'error' ? page.style.bad : page.style.warn;
    say(`${place.file ?? file}:${line}:${column}: ${colour(severity)}: ${message} ${next ?? ''}`);
  }
}

/** Tools that may run for real: all that the environment has, or none. */
async function allowedFor(
  config: NewRun,
  allowed: readonly string[],
  first: boolean,
  terminal: Terminal,
): Promise<string[]> {
  const { environment, folder, settings, parts } = config;
  if (!environment.executor || environment.executor.kind === 'vscode') {
    if (allowed.length)
      throw new UsageError('--allow names real tools, and the environment has none that can run here.');
    return [];
  }
  const executor = createExecutor({ environment, folder });
  try {
    await allowGate(allowed)({ identity: await executor.identity(), tools: environment.tools });
    return [...allowed];
  } catch (error) {
    if (allowed.length || settings.variant === 'real') throw error;
    const { message, next } = error as UserError;
    const measured = settings.evaluation.every > 0 && parts.validation.length > 0;
    if (first && measured) terminal.say(`Success on the real tools is not measured. ${message} ${next}`);
    return [];
  } finally {
    await executor.close();
  }
}

/** Keys are named in the file, and their values come from the environment alone. */
export function keysFor(config: NewRun): Record<string, string> {
  return Object.fromEntries(
    keyNames(config).map((name) => {
      const value = process.env[name];
      if (!value)
        throw new UsageError(`The environment variable ${name} is not set; the run needs that key.`);
      return [name, value];
    }),
  );
}

function listOf(name: string, text: string | undefined): string[] | undefined {
  if (text === undefined) return undefined;
  const items = text.split(',').map((item) => item.trim());
  if (items.some((item) => !item) || new Set(items).size < items.length)
    throw new UsageError(`--${name} is a list such as 1,2,3, each once.`);
  return items;
}

function defined<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
