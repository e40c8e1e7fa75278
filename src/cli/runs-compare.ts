/** `rehearsal runs compare`: two checkpoints on the same tasks, with what their difference is worth. */
import { mixSeed } from '../core/rehearsal/seed';
import { printable } from '../core/text';
import { compareEvaluations } from '../core/training/paired';
import type { Evaluation } from '../core/training/run.types';
import type { RunConfig } from '../core/training/types';
import { connectPolicy } from '../node/policies/connect';
import type { RunsClient } from '../node/runs/client';
import { findServer } from '../node/server/discovery';
import { createExecutor, type Executor } from '../node/tools';
import type { CheckRunner } from '../node/tools/checks';
import { allowGate, guarded } from '../node/tools/consent';
import { evaluateTasks } from '../node/training/evaluate';
import { UsageError, wholeNumber } from './arguments';
import type { RunsValues } from './runs';
import { EXIT, type Terminal } from './terminal';
import { estimate, signed } from './train-follow';

interface Side {
  /** As it was named. */
  name: string;
  /** The model that acts, and the one that rehearses where that is another. */
  model: string;
  rehearser: string | null;
  config: RunConfig;
}

export async function compareRuns(
  first: string,
  second: string,
  client: RunsClient,
  values: RunsValues,
  terminal: Terminal,
): Promise<number> {
  const part = values.part ?? 'test';
  if (part !== 'validation' && part !== 'test')
    throw new UsageError(`--part is validation or test, not ${part}.`);
  const attempts = wholeNumber('attempts', values.attempts, 1, 1);
  const concurrency = wholeNumber('concurrency', values.concurrency, 1, 16);
  const seed = mixSeed(wholeNumber('seed', values.seed, 0, 1), 'compare', part);
  const sides = [await sideOf(first, client), await sideOf(second, client)];
  const { config } = sides[0]!;
  const tasks = config.parts[part];
  if (!tasks.length) throw new UsageError(`The run ${config.id} has no ${part} tasks.`);
  const other = new Set(sides[1]!.config.parts[part].map(({ id }) => id));
  if (!tasks.every(({ id }) => other.has(id)))
    terminal.say(`${second} was run with other ${part} tasks; both are held against those of ${first}.`);
  const executor = await executorOf(config, values.allow ?? []);
  const found: Evaluation[] = [];
  try {
    for (const side of sides) {
      const server = await findServer();
      if (!server) throw new UsageError('No server runs.');
      const address = { baseUrl: server.url, apiKey: server.token };
      const policy = await connectPolicy({ ...address, model: side.model }, terminal.signal);
      const rehearser = side.rehearser
        ? await connectPolicy({ ...address, model: side.rehearser }, terminal.signal)
        : undefined;
      terminal.say(`${side.name}: ${tasks.length} tasks …`);
      found.push(
        await evaluateTasks({
          environment: config.environment,
          tasks,
          policy,
          ...(rehearser ? { rehearser } : {}),
          executor: executor?.tools ?? null,
          ...(executor ? { checks: executor.checks } : {}),
          part,
          attempts,
          seed,
          concurrency,
          recorded: true,
          signal: terminal.signal,
        }),
      );
    }
  } finally {
    await executor?.tools.close();
  }
  tell(sides, found as [Evaluation, Evaluation], values, terminal);
  return EXIT.ok;
}

function tell(
  sides: readonly Side[],
  [first, second]: [Evaluation, Evaluation],
  { json }: RunsValues,
  { json: out, page }: Terminal,
): void {
  const compared = compareEvaluations(first, second);
  if (json) {
    const named = [first, second].map((evaluation, i) => ({ model: sides[i]!.model, ...evaluation }));
    out({ type: 'comparison', first: named[0], second: named[1], difference: compared });
    return;
  }
  const { print, style } = page;
  [first, second].forEach((evaluation, i) => {
    const success = evaluation.realSuccess ?? evaluation.rehearsedSuccess;
    const where = evaluation.realSuccess ? 'on real tools' : 'in rehearsal';
    print(`${printable(sides[i]!.model)}: success ${where} ${success ? estimate(success) : 'unscored'}`);
    if (evaluation.fidelity)
      print(style.dim(`    fidelity of recorded calls ${estimate(evaluation.fidelity)}`));
  });
  if (!compared) print('No task was scored on both sides.');
  else {
    const { on, difference } = compared;
    const { better, worse, same } = difference;
    const where = on === 'real' ? 'on real tools' : 'in rehearsal';
    print(style.bold(`second minus first, ${where}: ${signed(difference)}`));
    print(`    ${better} tasks better, ${worse} worse, ${same} the same`);
  }
}

/** `run` is its best checkpoint, `run/step` that one. */
async function sideOf(name: string, client: RunsClient): Promise<Side> {
  const [, id, step] = /^([^/]+)(?:\/(?:step-)?(\d+))?$/.exec(name) ?? [];
  if (!id) throw new UsageError(`${name} is no run or checkpoint; write run or run/step.`);
  const [status, config] = await Promise.all([client.get(id), client.config(id)]);
  const wanted = step === undefined ? (status.bestStep ?? status.checkpoints.at(-1)?.step) : Number(step);
  const checkpoint = status.checkpoints.find((one) => one.step === wanted && one.kept);
  if (!checkpoint) {
    const kept = status.checkpoints.filter((one) => one.kept).map((one) => one.step);
    throw new UsageError(
      `The run ${id} keeps no checkpoint${wanted === undefined ? '' : ` of step ${wanted}`}; it has those of ${kept.join(', ') || 'none'}.`,
    );
  }
  const { model } = checkpoint;
  const rehearser = model.endsWith('.act') ? model.replace(/\.act$/, '.rehearse') : null;
  return { name, model, rehearser, config };
}

async function executorOf(
  { environment, folder }: RunConfig,
  allowed: readonly string[],
): Promise<{ tools: Executor; checks: CheckRunner } | null> {
  if (!allowed.length) return null;
  const gate = allowGate(allowed);
  const executor = createExecutor({ environment, folder });
  await gate({ identity: await executor.identity(), tools: environment.tools });
  return { tools: guarded(executor, environment.tools, gate), checks: { folder, gate } };
}
