/** `rehearsal run`: tasks as tests, for terminals and CI. */
import path from 'node:path';
import type { Environment } from '../core/environment/types';
import { DEFAULT_OPTIONS } from '../core/rehearsal/options';
import { endView } from '../core/rehearsal/view';
import { tokenCounts } from '../core/reward/rollout';
import { printable } from '../core/text';
import { errorText } from '../core/user-error';
import { usableEnvironment } from '../node/environments';
import { createJudge } from '../node/judge/judge';
import { planRollouts, type RolloutOptions, type RolloutResult, runRollouts } from '../node/rollouts';
import type { Executor } from '../node/tools';
import { allowGate } from '../node/tools/consent';
import { withServerTools } from '../node/tools/server-tools';
import { MODEL_OPTIONS, oneFile, parse, samplingOf, UsageError, wholeNumber } from './arguments';
import { addressOf, connect, tokenFrom } from './connect';
import { observedExecutor } from './executor';
import { sessionsOf } from './places';
import { taskOf } from './step';
import { EXIT, type Terminal } from './terminal';

const OPTIONS = {
  ...MODEL_OPTIONS,
  task: { type: 'string', multiple: true },
  attempts: { type: 'string' },
  concurrency: { type: 'string' },
  passes: { type: 'string' },
  observations: { type: 'string' },
  allow: { type: 'string', multiple: true },
  judge: { type: 'string' },
  'judge-model': { type: 'string' },
  'judge-env': { type: 'string' },
} as const;

export async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parse(args, OPTIONS);
  const file = oneFile(positionals);
  const passes = values.passes ?? 'all';
  if (passes !== 'all' && passes !== 'any') throw new UsageError(`--passes is all or any, not ${passes}.`);
  const attempts = wholeNumber('attempts', values.attempts, 1, 1);
  const concurrency = wholeNumber('concurrency', values.concurrency, 1, 4);
  const sampling = samplingOf(values, DEFAULT_OPTIONS);
  let environment = await usableEnvironment(file);
  const executor = await observedExecutor({ environment, folder: path.dirname(path.resolve(file)) }, values);
  try {
    environment = await withServerTools(environment, executor, terminal.signal);
    return await runTasks(
      environment,
      executor ?? undefined,
      { file, values, passes, attempts, concurrency, sampling },
      terminal,
    );
  } finally {
    await executor?.close();
  }
}

type Values = ReturnType<typeof parse<typeof OPTIONS>>['values'];

async function runTasks(
  environment: Environment,
  executor: Executor | undefined,
  given: {
    file: string;
    values: Values;
    passes: string;
    attempts: number;
    concurrency: number;
    sampling: RolloutOptions['sampling'];
  },
  terminal: Terminal,
): Promise<number> {
  const { file, values, passes, attempts, concurrency, sampling } = given;
  const tasks = values.task?.length ? values.task.map((id) => taskOf(environment, id)) : environment.tasks;
  if (tasks.length === 0) taskOf(environment, undefined);
  const policy = await connect(values, terminal.say, terminal.signal);
  const results: RolloutResult[] = [];
  await runRollouts(planRollouts(environment, tasks, attempts), {
    policy,
    sampling,
    executor,
    checks: { folder: path.dirname(path.resolve(file)), gate: allowGate(values.allow ?? []) },
    judge: judgeOf(values),
    folder: sessionsOf(file, values.sessions),
    environmentFile: path.resolve(file),
    concurrency,
    signal: terminal.signal,
    onEnd: (result) => {
      if (result.cancelled) return;
      results.push(result);
      if (values.json) terminal.json(asJson(result));
      else print(result, terminal);
    },
  });
  const passed = tasks.filter(({ id }) => {
    const own = results.filter(({ task }) => task.id === id);
    const good = own.filter(({ reward }) => reward.success).length;
    return passes === 'any' ? good > 0 : good === attempts;
  });
  const unscored = results.filter(({ reward }) => reward.value === null);
  const summary = {
    type: 'summary',
    tasks: tasks.length,
    passed: passed.length,
    attempts: results.length,
    successes: results.filter(({ reward }) => reward.success).length,
    unscored: unscored.length,
    meanReward: mean(results.flatMap(({ reward }) => reward.value ?? [])),
  };
  if (values.json) terminal.json(summary);
  else {
    const share = `${summary.successes} of ${summary.attempts} attempts`;
    terminal.page.print(
      `${passed.length} of ${tasks.length} tasks passed (${share}; mean reward ${summary.meanReward?.toFixed(2) ?? 'unscored'})`,
    );
  }
  if (terminal.signal.aborted) return EXIT.interrupted;
  if (results.some(({ error }) => error !== undefined)) return EXIT.server;
  return passed.length === tasks.length ? EXIT.ok : EXIT.failed;
}

/** The model that decides `judge` checks; without one they are unscored. */
function judgeOf(values: Values) {
  const { judge: url, 'judge-model': model } = values;
  if (url === undefined && model === undefined && values['judge-env'] === undefined) return undefined;
  if (url === undefined || model === undefined)
    throw new UsageError('A judge has both: --judge URL and --judge-model NAME.');
  const apiKey = tokenFrom(values['judge-env']);
  return createJudge({
    url: addressOf('judge', url),
    model,
    timeoutSeconds: 60,
    ...(apiKey ? { apiKey } : {}),
  });
}

function asJson({ task, attempt, seed, reward, state, session, seconds, error }: RolloutResult): object {
  return {
    type: 'rollout',
    task: task.id,
    attempt: attempt + 1,
    seed,
    reward: reward.value,
    success: reward.success,
    stop: (state && endView(state)?.stop) ?? null,
    turns: state?.turns.length ?? 0,
    tokens: state ? tokenCounts(state) : { act: 0, rehearse: 0 },
    checks: reward.checks,
    session,
    seconds: Math.round(seconds * 1000) / 1000,
    ...(error === undefined ? {} : { error: errorText(error) }),
  };
}

function print(
  { task, attempt, reward, state, seconds, error, session }: RolloutResult,
  { page }: Terminal,
): void {
  const { style } = page;
  const mark = reward.value === null ? style.warn('!') : reward.success ? style.good('✓') : style.bad('✗');
  const what = reward.value === null ? 'unscored' : `reward ${reward.value.toFixed(2)}`;
  const turns = `${state?.turns.length ?? 0} turn${state?.turns.length === 1 ? '' : 's'}`;
  page.print(
    `${mark} ${printable(task.id)}, attempt ${attempt + 1}: ${what}, ${turns}, ${seconds.toFixed(1)} s`,
  );
  for (const check of reward.checks) {
    if (check.verdict === 'holds') continue;
    page.print(`    ${check.verdict}: ${printable(check.title)}. ${printable(check.reason)}`);
  }
  if (error !== undefined) page.print(`    ${style.bad(printable(errorText(error)))}`);
  if (!reward.success && session) page.print(style.dim(`    ${path.relative('', session)}`));
}

function mean(values: readonly number[]): number | null {
  return values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
}
