/** `rehearsal compare`: does the model know how the real tools answer? */
import fs from 'node:fs/promises';
import path from 'node:path';
import type { Environment } from '../core/environment/types';
import type { Share } from '../core/fidelity/interval';
import { type FidelitySummary, summarize, verdictOf } from '../core/fidelity/summary';
import { formatJson } from '../core/json';
import { DEFAULT_OPTIONS } from '../core/rehearsal/options';
import { printable } from '../core/text';
import { usableEnvironment } from '../node/environments';
import {
  type CompareTarget,
  compareTargets,
  type PairResult,
  type Uncompared,
} from '../node/fidelity/compare';
import { junitOf } from '../node/fidelity/junit';
import { MODEL_OPTIONS, oneFile, parse, temperatureOf, UsageError, wholeNumber } from './arguments';
import { connect } from './connect';
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
  concurrency: { type: 'string' },
} as const;

export async function compare(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parse(args, OPTIONS);
  const file = oneFile(positionals);
  if (values.recorded && values.task?.length) throw new UsageError('--recorded compares records, not tasks.');
  const concurrency = wholeNumber('concurrency', values.concurrency, 1, 8);
  const { topP, topK, minP, seed } = DEFAULT_OPTIONS;
  const sampling = {
    topP,
    topK,
    minP,
    alternatives: 0,
    // What the model holds most likely is what it knows: no luck in it.
    temperature: temperatureOf(values.temperature, 0),
    seed: wholeNumber('seed', values.seed, 0, seed),
  };
  const folder = path.dirname(path.resolve(file));
  let environment = await usableEnvironment(file);
  const targets = targetsOf(environment, values);
  const executor = values.recorded
    ? null
    : await allowedExecutor({ environment, folder }, values.allow ?? [], toolsOf(targets));
  try {
    environment = await withServerTools(environment, executor, terminal.signal);
    const policy = await connect(values, terminal.say, terminal.signal);
    const pairs: PairResult[] = [];
    const uncompared: Uncompared[] = [];
    await compareTargets(targets, {
      environment,
      policy,
      executor,
      sampling,
      concurrency,
      signal: terminal.signal,
      onPair: (pair) => {
        pairs.push(pair);
        if (values.json) terminal.json(pairEvent(pair));
        else printPair(pair, terminal);
      },
      onUncompared: (call) => {
        uncompared.push(call);
        if (values.json) terminal.json({ type: 'uncompared', ...call });
        else
          terminal.page.print(
            `${terminal.page.style.warn('!')} ${printable(call.tool)}: ${printable(call.reason)}`,
          );
      },
    });
    const summary = summarize(pairs.filter(({ source }) => source === 'rehearsed'));
    const gated = pairs.length - pairs.filter(({ source }) => source === 'rehearsed').length;
    if (values.json) {
      terminal.json({
        type: 'summary',
        environment: environment.name,
        model: policy.info.model,
        gated,
        uncompared: uncompared.length,
        ...summary,
      });
    } else printSummary(summary, { gated, uncompared: uncompared.length }, terminal);
    if (values.junit !== undefined)
      await fs.writeFile(values.junit, junitOf(environment.name, pairs, uncompared));
    if (terminal.signal.aborted) return EXIT.interrupted;
    if (uncompared.length) return EXIT.server;
    return summary.verdicts.differs ? EXIT.failed : EXIT.ok;
  } finally {
    await executor?.close();
  }
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

function pairEvent({ execution, ...pair }: PairResult): object {
  return {
    type: 'pair',
    ...pair,
    author: pair.author ?? null,
    durationMs: execution && Math.round(execution.durationMs * 10) / 10,
    ...(execution?.notes ? { notes: execution.notes } : {}),
  };
}

function printPair(pair: PairResult, { page: { print, style } }: Terminal): void {
  const verdict = verdictOf(pair);
  const mark = { match: style.good('='), tolerable: style.warn('≈'), differs: style.bad('≠') };
  const shown = verdict === null ? style.dim('-') : mark[verdict];
  print(
    `${shown} ${printable(pair.tool)} ${printable(formatJson(pair.arguments))}${pair.source === 'gate' ? style.dim(' (refused by a gate: not counted)') : ''}`,
  );
  for (const { kind, path: where, rehearsed, real, label } of pair.comparison.fields) {
    if (kind === 'match' || kind === 'tolerable') continue;
    const side = (value: typeof real) =>
      value === undefined ? '(absent)' : printable(formatJson(value).slice(0, 200));
    print(
      `    ${printable(where)} ${kind}: rehearsed ${side(rehearsed)}, real ${side(real)}${label ? style.dim(` (${label})`) : ''}`,
    );
  }
}

function printSummary(
  summary: FidelitySummary,
  more: { gated: number; uncompared: number },
  { page: { print, style } }: Terminal,
): void {
  print('');
  print(style.bold(`fidelity ${shareText(summary.fidelity)}`));
  for (const { tool, fidelity, fields } of summary.tools) {
    print(`  ${printable(tool)}  ${shareText(fidelity)}`);
    for (const { field, fidelity: own } of fields) {
      if (own.good < own.n) print(`    ${printable(field)}  ${shareText(own)}`);
    }
  }
  const { recall, precision } = summary.anticipation;
  print(`failures foreseen: ${shareText(recall)}; foreseen failures that were real: ${shareText(precision)}`);
  if (summary.leftOut) print(style.dim(`${summary.leftOut} left out: the real tool is wrong`));
  if (more.gated) print(style.dim(`${more.gated} refused by a gate: not counted`));
  if (more.uncompared) print(style.warn(`${more.uncompared} could not be compared`));
}

function shareText({ share, good, n, low, high }: Share): string {
  const percent = (value: number) => `${(100 * value).toFixed(0)} %`;
  return share === null
    ? 'none'
    : `${percent(share)} (${good} of ${n}; 95 %: ${percent(low)} to ${percent(high)})`;
}
