/** `rehearsal compare`: does the model know how the real tools answer? */
import fs from 'node:fs/promises';
import path from 'node:path';
import type { Environment } from '../core/environment/types';
import { besideEachOther } from '../core/fidelity/models';
import { summarize } from '../core/fidelity/summary';
import { surpriseSummary } from '../core/fidelity/surprise';
import { DEFAULT_OPTIONS } from '../core/rehearsal/options';
import { printable } from '../core/text';
import { usableEnvironment } from '../node/environments';
import {
  type CompareOptions,
  type CompareTarget,
  compareTargets,
  type PairResult,
  type Uncompared,
} from '../node/fidelity/compare';
import { junitOf } from '../node/fidelity/junit';
import { MODEL_OPTIONS, oneFile, parse, samplingOf, UsageError, wholeNumber } from './arguments';
import { printModels, printPair, printSummary } from './compare-text';
import { connect, type ModelArguments } from './connect';
import { allowedExecutor, withServerTools } from './executor';
import { taskOf } from './step';
import { EXIT, type Terminal } from './terminal';

const OPTIONS = {
  ...MODEL_OPTIONS,
  task: { type: 'string', multiple: true },
  recorded: { type: 'boolean' },
  'held-out': { type: 'boolean' },
  junit: { type: 'string' },
  allow: { type: 'string', multiple: true },
  against: { type: 'string' },
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
  let environment = await usableEnvironment(file);
  const targets = targetsOf(environment, values);
  const examples = targets.flatMap((target) => (target.kind === 'call' ? [target.example] : []));
  if (values.against !== undefined && (examples.length === 0 || examples.length < targets.length))
    throw new UsageError(
      '--against compares two models on recorded calls: not on tasks, whose calls differ.',
    );
  const executor = values.recorded
    ? null
    : await allowedExecutor({ environment, folder }, values.allow ?? [], toolsOf(targets));
  try {
    environment = await withServerTools(environment, executor, terminal.signal);
    const common = { environment, sampling, concurrency, signal: terminal.signal };
    const first = await compared(targets, { ...common, executor }, values, terminal);
    if (values.against !== undefined && !terminal.signal.aborted) {
      // The real answers are those of the first: both are held against the same.
      first.pairs.sort((a, b) => a.index - b.index);
      const again = first.pairs.map(({ index, real }) => ({ ...examples[index]!, ...real }));
      const second = await compared(
        again.map((example) => ({ kind: 'call', example })),
        { ...common, executor: null },
        { ...values, model: values.against },
        terminal,
        first.pairs,
      );
      const summary = besideEachOther(counting(first), counting(second));
      if (values.json) terminal.json({ type: 'models', environment: environment.name, ...summary });
      else printModels(summary, terminal);
      if (second.uncompared.length && !terminal.signal.aborted) return EXIT.server;
    }
    if (values.junit !== undefined)
      await fs.writeFile(values.junit, junitOf(environment.name, first.pairs, first.uncompared));
    if (terminal.signal.aborted) return EXIT.interrupted;
    if (first.uncompared.length) return EXIT.server;
    return first.differs ? EXIT.failed : EXIT.ok;
  } finally {
    await executor?.close();
  }
}

interface Compared {
  model: string;
  pairs: PairResult[];
  uncompared: Uncompared[];
  differs: number;
}

/** What a gate answered is no rehearsal. */
const counting = ({ model, pairs }: Compared) => ({
  model,
  pairs: pairs.filter(({ source }) => source === 'rehearsed'),
});

/**
 * Compares one model and shows each pair, then its summary.
 * @param of pairs of another model on the same calls: these get their places, and what was executed for them
 */
async function compared(
  targets: readonly CompareTarget[],
  options: Pick<CompareOptions, 'environment' | 'executor' | 'sampling' | 'concurrency' | 'signal'>,
  values: ModelArguments & { json?: boolean },
  terminal: Terminal,
  of?: readonly PairResult[],
): Promise<Compared> {
  const policy = await connect(values, terminal.say, terminal.signal);
  const { model } = policy.info;
  const pairs: PairResult[] = [];
  const uncompared: Uncompared[] = [];
  const placed = <T extends { index: number }>(one: T): T =>
    of ? { ...one, index: of[one.index]!.index } : one;
  if (!values.json) terminal.page.print(terminal.page.style.bold(printable(model)));
  await compareTargets(targets, {
    ...options,
    policy,
    surprise: true,
    onPair: (given) => {
      const other = of?.[given.index];
      const pair = other ? { ...placed(given), recorded: other.recorded } : given;
      pairs.push(pair);
      if (values.json) terminal.json(pairEvent(pair, model));
      else printPair(pair, terminal);
    },
    onUncompared: (given) => {
      const call = placed(given);
      uncompared.push(call);
      if (values.json) terminal.json({ type: 'uncompared', model, ...call });
      else
        terminal.page.print(
          `${terminal.page.style.warn('!')} ${printable(call.tool)}: ${printable(call.reason)}`,
        );
    },
  });
  const rehearsed = pairs.filter(({ source }) => source === 'rehearsed');
  const summary = summarize(rehearsed);
  const surprise = surpriseSummary(rehearsed);
  const left = { gated: pairs.length - rehearsed.length, uncompared: uncompared.length };
  if (values.json)
    terminal.json({
      type: 'summary',
      environment: options.environment.name,
      model,
      ...left,
      ...summary,
      surprise,
    });
  else printSummary(summary, surprise, left, terminal);
  return { model, pairs, uncompared, differs: summary.verdicts.differs };
}

function targetsOf(
  environment: Environment,
  values: { task?: string[]; 'held-out'?: boolean },
): CompareTarget[] {
  if (values.task?.length) {
    return values.task.map((id) => ({ kind: 'task', task: taskOf(environment, id) }));
  }
  // An answer after a write cannot be had from the beginning of a session.
  const own = environment.examples.filter(
    ({ afterWrite, part }) => !afterWrite && (!values['held-out'] || part === 'held-out'),
  );
  if (own.length) return own.map((example) => ({ kind: 'call', example }));
  if (values['held-out']) throw new UsageError('The environment has no held-out records.');
  return environment.tasks.map((task) => ({ kind: 'task', task }));
}

/** Tools that may be called: those of the records, or where a task decides, all. */
function toolsOf(targets: readonly CompareTarget[]): string[] | null {
  const names = targets.flatMap((target) => (target.kind === 'call' ? target.example.tool : []));
  return names.length === targets.length ? [...new Set(names)] : null;
}

function pairEvent({ execution, ...pair }: PairResult, model: string): object {
  return {
    type: 'pair',
    model,
    ...pair,
    author: pair.author ?? null,
    durationMs: execution && Math.round(execution.durationMs * 10) / 10,
    ...(execution?.notes ? { notes: execution.notes } : {}),
  };
}
