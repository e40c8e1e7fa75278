/** `rehearsal compare`: does the model know how the real tools answer? */
import fs from 'node:fs/promises';
import path from 'node:path';
import type { Environment } from '../core/environment/types';
import {
  type ComparisonRun,
  modelsRecord,
  pairRecord,
  summaryRecord,
  uncomparedRecord,
} from '../core/fidelity/comparison';
import { DEFAULT_OPTIONS } from '../core/rehearsal/options';
import { Session } from '../core/rehearsal/session';
import type { Setup } from '../core/rehearsal/types';
import { printable } from '../core/text';
import { type EnvironmentFile, readEnvironment, usable } from '../node/environments';
import { errors } from '../node/errors';
import { targetsForAnother } from '../node/fidelity/another-model';
import { type CompareOptions, type CompareTarget, compareTargets } from '../node/fidelity/compare';
import { junitOf } from '../node/fidelity/junit';
import { withServerTools } from '../node/tools/server-tools';
import { MODEL_OPTIONS, oneFile, parse, samplingOf, UsageError, wholeNumber } from './arguments';
import { printModels, printPair, printSummary } from './compare-text';
import { connect, type ModelArguments } from './connect';
import { whereOf } from './diagnostics';
import { allowedExecutor } from './executor';
import { taskOf } from './step';
import { EXIT, type Terminal } from './terminal';

const OPTIONS = {
  ...MODEL_OPTIONS,
  task: { type: 'string', multiple: true },
  recorded: { type: 'boolean' },
  'held-out': { type: 'boolean' },
  junit: { type: 'string' },
  allow: { type: 'string', multiple: true },
  against: { type: 'string', multiple: true },
  concurrency: { type: 'string' },
} as const;

export async function compare(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parse(args, OPTIONS);
  const file = oneFile(positionals);
  if (values.recorded && values.task?.length) throw new UsageError('--recorded compares records, not tasks.');
  const concurrency = wholeNumber('concurrency', values.concurrency, 1, 8);
  // What the model holds most likely is what it knows: no luck in it.
  const sampling = samplingOf(values, { ...DEFAULT_OPTIONS, temperature: 0, alternatives: 0 });
  const folder = path.dirname(path.resolve(file));
  const loaded = await readEnvironment(file);
  let environment = usable(file, loaded);
  const targets = targetsOf(file, loaded, environment, values, terminal);
  const examples = targets.flatMap((target) => (target.kind === 'call' ? [target.example] : []));
  const against = values.against ?? [];
  const executor = values.recorded
    ? null
    : await allowedExecutor({ environment, folder }, values.allow ?? [], toolsOf(targets));
  try {
    environment = await withServerTools(environment, executor, terminal.signal);
    const common = { environment, sampling, concurrency, signal: terminal.signal };
    const rehearsed: Session[] = [];
    const session = (setup: Setup) => {
      const made = new Session(setup);
      rehearsed.push(made);
      return { session: made, close: () => {} };
    };
    const first = await compared(targets, { ...common, executor, session }, values, terminal);
    const conversations = new Map(rehearsed.map(({ state }) => [state.setup.task.id, state]));
    const runs = [first];
    for (const model of against) {
      if (terminal.signal.aborted) break;
      // Calls and real answers are those of the first: all are held against the same.
      const calls = targetsForAnother(first.pairs, { examples, conversations });
      runs.push(await compared(calls, { ...common, executor: null }, { ...values, model }, terminal));
    }
    if (runs.length > 1 && !terminal.signal.aborted) {
      const summary = modelsRecord(environment.name, runs);
      if (values.json) terminal.json(summary);
      else printModels(summary, terminal);
    }
    if (values.junit !== undefined) await fs.writeFile(values.junit, junitOf(environment.name, runs));
    if (terminal.signal.aborted) return EXIT.interrupted;
    if (runs.some(({ uncompared }) => uncompared.length)) return EXIT.server;
    return summaryRecord(environment.name, first).verdicts.differs ? EXIT.failed : EXIT.ok;
  } finally {
    await executor?.close();
  }
}

/** Compares one model and shows each pair, then its summary. */
async function compared(
  targets: readonly CompareTarget[],
  options: Omit<CompareOptions, 'policy' | 'surprise' | 'onPair' | 'onUncompared'>,
  values: ModelArguments & { json?: boolean },
  terminal: Terminal,
): Promise<ComparisonRun> {
  const policy = await connect(values, terminal.say, terminal.signal);
  const { model } = policy.info;
  const run: ComparisonRun = { model, pairs: [], uncompared: [] };
  if (!values.json) terminal.page.print(terminal.page.style.bold(printable(model)));
  await compareTargets(targets, {
    ...options,
    policy,
    surprise: true,
    onPair: (pair) => {
      run.pairs.push(pair);
      if (values.json) terminal.json(pairRecord(pair, model));
      else printPair(pair, terminal);
    },
    onUncompared: (call) => {
      run.uncompared.push(call);
      if (values.json) terminal.json(uncomparedRecord(call, model));
      else
        terminal.page.print(
          `${terminal.page.style.warn('!')} ${printable(call.tool)}: ${printable(call.reason)}`,
        );
    },
  });
  const summary = summaryRecord(options.environment.name, run);
  if (values.json) terminal.json(summary);
  else printSummary(summary, terminal);
  return run;
}

function targetsOf(
  file: string,
  loaded: EnvironmentFile,
  environment: Environment,
  values: { task?: string[]; recorded?: boolean; 'held-out'?: boolean },
  { say }: Terminal,
): CompareTarget[] {
  if (values.task?.length) {
    return values.task.map((id) => ({ kind: 'task', task: taskOf(environment, id) }));
  }
  const broken = loaded.brokenExamples.map(
    ({ message, next, ...place }) => `${whereOf(file, loaded, place)}: ${message}`,
  );
  if (broken.length && !environment.examples.length) throw errors.brokenRecords(file, broken);
  for (const line of broken) say(line);
  // An answer after a write cannot be had from the beginning of a session.
  const own = environment.examples.filter(
    ({ afterWrite, part }) => !afterWrite && (!values['held-out'] || part === 'held-out'),
  );
  if (own.length) return own.map((example) => ({ kind: 'call', example }));
  if (values['held-out']) throw new UsageError('The environment has no held-out records.');
  if (values.recorded || !environment.tasks.length)
    throw new UsageError('The environment has no recorded call that can be compared.');
  return environment.tasks.map((task) => ({ kind: 'task', task }));
}

/** Tools that may be called: those of the records, or where a task decides, all. */
function toolsOf(targets: readonly CompareTarget[]): string[] | null {
  const names = targets.flatMap((target) => (target.kind === 'call' ? target.example.tool : []));
  return names.length === targets.length ? [...new Set(names)] : null;
}
