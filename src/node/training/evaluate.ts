/**
 * How good a policy is at some tasks: on the real tools and in rehearsal, with the same tasks, checks and sampling
 * settings; and how well it knows its world, on recorded calls that are held out. The training loop, the command line
 * and comparisons of checkpoints all use this.
 */
import type { Environment, Task } from '../../core/environment/types';
import { summarize } from '../../core/fidelity/summary';
import type { ComparedPair } from '../../core/fidelity/types';
import type { Policy, Sampling } from '../../core/policy';
import { DEFAULT_OPTIONS } from '../../core/rehearsal/options';
import { mixSeed } from '../../core/rehearsal/seed';
import { rewardOf } from '../../core/reward/rollout';
import { type Attempt, evaluationOf } from '../../core/training/evaluation';
import type { Evaluation } from '../../core/training/run.types';
import { compareTargets } from '../fidelity/compare';
import type { Judge } from '../judge/judge';
import { type RolloutResult, runRollouts } from '../rollouts';
import type { Executor } from '../tools';
import type { CheckRunner } from '../tools/checks';
import { eitherOf, serverFailed } from './failed';

export interface EvaluateOptions {
  environment: Environment;
  tasks: readonly Task[];
  policy: Policy;
  /** Writes the observations of rehearsals, where it is not the same that acts. */
  rehearser?: Policy;
  /** Null: nothing real runs. */
  executor: Executor | null;
  checks?: CheckRunner;
  /** Decides `judge` checks. */
  judge?: Judge;
  part: Evaluation['part'];
  /** Rollouts of each task, on each side. */
  attempts: number;
  seed: number;
  /** Else the model's own distribution. */
  sampling?: Sampling;
  concurrency: number;
  /** Rehearse the held-out recorded calls too. */
  recorded?: boolean;
  signal: AbortSignal;
  onEnd?(side: 'real' | 'rehearsed', result: RolloutResult): void;
}

/** Throws where the model's server fails, or the signal is aborted: half an evaluation says nothing. */
export async function evaluateTasks(options: EvaluateOptions): Promise<Evaluation> {
  const started = performance.now();
  const real = options.executor ? await attemptsOf('real', options) : null;
  const rehearsed = await attemptsOf('rehearsed', options);
  const pairs = options.recorded ? await recordedCalls(options) : null;
  options.signal.throwIfAborted();
  return {
    part: options.part,
    ...evaluationOf(
      options.tasks.map(({ id }) => id),
      real,
      rehearsed,
      pairs && summarize(pairs),
    ),
    seconds: (performance.now() - started) / 1000,
  };
}

async function attemptsOf(side: 'real' | 'rehearsed', options: EvaluateOptions): Promise<Attempt[]> {
  const { environment, tasks, policy, rehearser, executor, checks, concurrency, attempts, seed } = options;
  const found: Attempt[] = [];
  const stop = new AbortController();
  let broken: unknown;
  const requests = tasks.flatMap((task) =>
    Array.from({ length: attempts }, (_, attempt) => ({
      environment,
      task,
      attempt,
      // The same on both sides: they differ only in who answers.
      seed: mixSeed(seed, 'evaluation', task.id, attempt),
    })),
  );
  await runRollouts(requests, {
    policy,
    rehearser,
    sampling: { ...DEFAULT_OPTIONS, ...options.sampling, alternatives: 0, seed },
    ...(side === 'real' ? { executor: executor!, checks } : {}),
    judge: options.judge,
    concurrency,
    signal: eitherOf(options.signal, stop.signal),
    onEnd: (result) => {
      if (serverFailed(result.error)) {
        broken ??= result.error;
        stop.abort();
      }
      const { reward, state, judgements } = result;
      const shared = state && reward.value !== null ? rewardOf(state, undefined, judgements).value : null;
      found.push({ task: result.task.id, reward: reward.value, success: reward.success, shared });
      options.onEnd?.(side, result);
    },
  });
  options.signal.throwIfAborted();
  if (broken) throw broken;
  return found;
}

/** Fidelity over the held-out recorded calls; answers to later calls depend on what went before and are left out. */
async function recordedCalls(options: EvaluateOptions): Promise<ComparedPair[]> {
  const { environment, policy, rehearser, concurrency, seed, signal } = options;
  const held = environment.examples.filter(({ part, afterWrite }) => part === 'held-out' && !afterWrite);
  const pairs: ComparedPair[] = [];
  let failed: Error | null = null;
  await compareTargets(
    held.map((example) => ({ kind: 'call' as const, example })),
    {
      environment,
      policy: rehearser ?? policy,
      executor: null,
      sampling: { ...DEFAULT_OPTIONS, ...options.sampling, alternatives: 0, seed },
      concurrency,
      signal,
      onPair: (pair) => {
        if (pair.source === 'rehearsed') pairs.push(pair);
      },
      onUncompared: ({ reason }) => {
        failed = new Error(reason);
      },
    },
  );
  if (failed) throw failed;
  return pairs;
}
