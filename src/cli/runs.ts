/** `rehearsal runs`: training runs listed, looked at, steered, exported and compared. */
import fs from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { printable } from '../core/text';
import { csvOf, flatMetrics } from '../core/training/flat';
import type { RunStatus } from '../core/training/run.types';
import type { RunsClient } from '../node/runs/client';
import { runErrors } from '../node/runs/errors';
import { writeEvents } from '../node/runs/tensorboard';
import { parse, UsageError, wholeNumber } from './arguments';
import { runsClient } from './runs-client';
import { compareRuns } from './runs-compare';
import { EXIT, type Terminal } from './terminal';
import { keysFor } from './train';
import { estimate, follow, resultLines } from './train-follow';

const OPTIONS = {
  json: { type: 'boolean' },
  csv: { type: 'boolean' },
  tensorboard: { type: 'string' },
  out: { type: 'string' },
  step: { type: 'string' },
  folder: { type: 'string' },
  merged: { type: 'boolean' },
  part: { type: 'string' },
  attempts: { type: 'string' },
  seed: { type: 'string' },
  concurrency: { type: 'string' },
  allow: { type: 'string', multiple: true },
} as const;

export type RunsValues = ReturnType<typeof parse<typeof OPTIONS>>['values'];

interface Given {
  client: RunsClient;
  values: RunsValues;
  terminal: Terminal;
}

type Action = (ids: readonly string[], given: Given) => Promise<number>;

export async function runs(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parse(args, OPTIONS);
  const [name = 'list', ...rest] = positionals;
  const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name]! : null;
  if (!action) throw new UsageError(`There is no \`rehearsal runs ${name}\`.`);
  return action(rest, { client: runsClient(terminal), values, terminal });
}

const ACTIONS: { [name: string]: Action } = {
  list,
  show,
  follow: one(async (id, { client, values, terminal }) => {
    const outcome = await follow(id, client, { json: values.json ?? false }, terminal);
    if (terminal.signal.aborted) return EXIT.ok; // nobody stopped anything
    return outcome === 'failed' ? EXIT.failed : EXIT.ok;
  }),
  stop: one(async (id, given) => told(await given.client.stop(id), given)),
  resume: one(async (id, given) =>
    told(await given.client.resume(id, keysFor(await given.client.config(id))), given),
  ),
  delete: one(async (id, { client, values, terminal }) => {
    await client.remove(id);
    if (values.json) terminal.json({ type: 'removed', id });
    else terminal.page.print(`${id} is deleted, with its rollouts and checkpoints.`);
    return EXIT.ok;
  }),
  metrics: one(metrics),
  rollouts: one(rollouts),
  export: exportWeights,
  compare: async (ids, { client, values, terminal }) => {
    const [first, second, ...more] = ids;
    if (!first || !second || more.length)
      throw new UsageError('Name two runs or checkpoints, as run or run/step.');
    return compareRuns(first, second, client, values, terminal);
  },
};

function one(action: (id: string, given: Given) => Promise<number>): Action {
  return async (ids, given) => {
    const [id, ...more] = ids;
    if (!id || more.length) throw new UsageError('Name one run.');
    return action(id, given);
  };
}

async function list(ids: readonly string[], { client, values, terminal }: Given): Promise<number> {
  if (ids.length) throw new UsageError('`rehearsal runs list` takes no more.');
  const all = await client.list();
  const { print } = terminal.page;
  for (const status of all) {
    if (values.json) terminal.json({ type: 'run', ...status });
    else print(lineOf(status));
  }
  if (!all.length && !values.json) print('There are no training runs. `rehearsal train FILE` starts one.');
  return EXIT.ok;
}

function lineOf(status: RunStatus): string {
  const { id, state, step, steps, variant, environment, checkpoints, bestStep } = status;
  const best = checkpoints.find((checkpoint) => checkpoint.step === bestStep);
  const success = best?.success ? `  best ${best.success.value.toFixed(2)} at step ${best.step}` : '';
  return `${id.padEnd(28)}  ${state.padEnd(9)}  ${String(step).padStart(4)}/${steps}  ${variant} · ${printable(environment)}${success}`;
}

async function show(ids: readonly string[], { client, values, terminal }: Given): Promise<number> {
  const [id, ...more] = ids;
  if (!id || more.length) throw new UsageError('Name one run.');
  const [status, config, rows] = await Promise.all([client.get(id), client.config(id), client.metrics(id)]);
  const last = rows.at(-1) ?? null;
  if (values.json) {
    terminal.json({ type: 'run', ...status, settings: config.settings, last });
    return EXIT.ok;
  }
  const { print, style } = terminal.page;
  const { settings, parts } = config;
  print(lineOf(status));
  if (status.message) print(`  ${printable(status.message)}`);
  print(`  ${printable(config.trainingFile ?? config.environmentFile)}`);
  print(
    `  model ${printable(settings.model || status.model || 'of the server')}, ${settings.weights}, learning rate ${settings.learningRate}, seed ${settings.seed}; ` +
      `${settings.tasksPerStep} tasks × ${settings.groupSize} rollouts a step; ` +
      `tasks: ${parts.train.length} train, ${parts.validation.length} validation, ${parts.test.length} test`,
  );
  for (const { step, model, best, success, kept } of status.checkpoints) {
    const marks = [best && 'best', !kept && 'not kept'].filter(Boolean).join(', ');
    print(
      `  checkpoint ${step}: ${printable(model)}${success ? `, success ${estimate(success)}` : ''}${marks ? ` (${marks})` : ''}`,
    );
  }
  for (const line of resultLines(status)) print(`  ${line}`);
  for (const { step, message } of status.warnings)
    print(`  ${style.warn('!')} step ${step}: ${printable(message)}`);
  return EXIT.ok;
}

async function told(status: RunStatus, { values, terminal }: Given): Promise<number> {
  if (values.json) terminal.json({ type: 'run', ...status });
  else
    terminal.page.print(
      `${status.id} is ${status.state}.${status.message ? ` ${printable(status.message)}` : ''}`,
    );
  return EXIT.ok;
}

async function metrics(id: string, { client, values, terminal }: Given): Promise<number> {
  const rows = await client.metrics(id);
  if (values.tensorboard !== undefined) {
    const file = writeEvents(path.resolve(values.tensorboard), id, rows);
    terminal.page.print(
      `${file} has ${rows.length} steps; \`tensorboard --logdir ${values.tensorboard}\` shows them.`,
    );
    return EXIT.ok;
  }
  const flat = rows.map(flatMetrics);
  const text = values.csv ? csvOf(flat) : flat.map((row) => `${JSON.stringify(row)}\n`).join('');
  await write(Readable.from([text]), values.out);
  if (values.out !== undefined) terminal.say(`${values.out} has ${rows.length} rows.`);
  return EXIT.ok;
}

async function rollouts(id: string, { client, values, terminal }: Given): Promise<number> {
  const step = values.step === undefined ? undefined : wholeNumber('step', values.step, 0, 0);
  await write(Readable.fromWeb((await client.exportRollouts(id, step)) as never), values.out);
  if (values.out !== undefined)
    terminal.say(`${values.out} has the rollouts${step === undefined ? '' : ` of step ${step}`}.`);
  return EXIT.ok;
}

/** To a file, or to standard output. */
async function write(from: Readable, file: string | undefined): Promise<void> {
  if (file === undefined) {
    for await (const part of from)
      if (!process.stdout.write(part)) await new Promise((go) => process.stdout.once('drain', go));
    return;
  }
  const at = path.resolve(file);
  try {
    await pipeline(from, fs.createWriteStream(at));
  } catch (error) {
    throw runErrors.output(at, error);
  }
}

async function exportWeights(ids: readonly string[], { client, values, terminal }: Given): Promise<number> {
  const [checkpoint, ...more] = ids;
  const [, id, step] = /^([^/]+)(?:\/(?:step-)?(\d+))?$/.exec(checkpoint ?? '') ?? [];
  if (!id || more.length) throw new UsageError('Name one checkpoint as run/step, or a run for its best.');
  if (values.folder === undefined) throw new UsageError('Name the folder with --folder.');
  const [status, { settings }] = await Promise.all([client.get(id), client.config(id)]);
  const wanted = step === undefined ? (status.bestStep ?? status.checkpoints.at(-1)?.step) : Number(step);
  if (wanted === undefined) throw new UsageError(`The run ${id} has no checkpoint yet.`);
  const kind = values.merged || settings.weights === 'full' ? 'merged' : 'peft';
  const { folders, notes } = await client.export(
    id,
    wanted,
    kind,
    path.resolve(values.folder),
    terminal.signal,
  );
  if (values.json) terminal.json({ type: 'exported', run: id, step: wanted, kind, folders, notes });
  else {
    for (const folder of folders)
      terminal.page.print(
        `${folder} has ${kind === 'peft' ? 'the PEFT adapter' : 'the model'} of step ${wanted}.`,
      );
    for (const note of notes) terminal.page.print(`    ${printable(note)}`);
  }
  return EXIT.ok;
}
