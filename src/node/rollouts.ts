/**
 * Many rehearsals at once, each with a session file of its own: the Test Explorer and `rehearsal run` both use
 * this, so that the same seed gives the same results in the editor and in the terminal.
 */
import { setImmediate } from 'node:timers/promises';
import { createRenderer } from '../core/conversation/render';
import type { Environment, Task } from '../core/environment/types';
import type { Policy, Sampling, Signal } from '../core/policy';
import { drive, type Ports, toTheEnd } from '../core/rehearsal/drivers';
import { mixSeed } from '../core/rehearsal/seed';
import { Session } from '../core/rehearsal/session';
import type { Setup, State } from '../core/rehearsal/types';
import { rewardOf } from '../core/reward/rollout';
import type { RealSide, Reward, Said } from '../core/reward/types';
import './bounded';
import type { Judge } from './judge/judge';
import { createSession } from './sessions/file';
import { type Executor, executePort, type ToolSession } from './tools';
import { type CheckRunner, realSide } from './tools/checks';

export interface RolloutRequest {
  environment: Environment;
  task: Task;
  /** 0-based. */
  attempt: number;
  /** Absent: from the options' seed and the attempt. */
  seed?: number;
}

export interface RolloutResult extends RolloutRequest {
  /** Path of the session file; null where it could not be made. */
  session: string | null;
  /** Every step of it; null where it did not begin. */
  tree: Session | null;
  seed: number;
  /** What the judge said, where there is one. */
  judgements?: Said;
  /** `value` is null where the rollout ended in an error of ours, or was cancelled. */
  reward: Reward;
  state: State | null;
  /** Why it could not be scored. */
  error?: unknown;
  cancelled: boolean;
  seconds: number;
}

export interface RolloutOptions {
  policy: Policy;
  /** Writes the observations instead, where each role has weights of its own. */
  rehearser?: Policy;
  sampling: Sampling & { seed: number; alternatives: number };
  /** The real tools answer instead of the policy; each rollout has a session of its own. */
  executor?: Executor;
  /** Where and whether programs of checks run; without it, `command` checks are unscored. */
  checks?: CheckRunner;
  /** Decides `judge` checks; without it they are unscored. */
  judge?: Judge;
  /** Folder of session files; absent: none is written. */
  folder?: string;
  /** Path of the environment file, for links from the sessions into it. */
  environmentFile?: string;
  /** Rollouts at the same time. */
  concurrency: number;
  signal?: Signal;
  onStart?(request: RolloutRequest): void;
  /** Awaited before this worker goes on. */
  onEnd?(result: RolloutResult): void | Promise<void>;
}

/** The first attempt has the seed itself, so that it is what a session with that seed shows. */
export function attemptSeed(seed: number, attempt: number): number {
  return attempt === 0 ? seed : mixSeed(seed, 'attempt', attempt);
}

/** Every attempt of every task; the first attempts of all tasks come first. */
export function planRollouts(
  environment: Environment,
  tasks: readonly Task[],
  attempts: number,
): RolloutRequest[] {
  return Array.from({ length: attempts }, (_, attempt) =>
    tasks.map((task) => ({ environment, task, attempt })),
  ).flat();
}

const AT_ONCE = 8;

/** Runs them all. One that fails ends only itself; after an abort no further one starts. */
export async function runRollouts(
  requests: readonly RolloutRequest[],
  options: RolloutOptions,
): Promise<void> {
  const open = [...requests];
  const { policy, rehearser } = options;
  const ports: Ports = { policy, rehearser, render: createRenderer(policy), unwatched: true };
  const worker = async () => {
    for (let next = open.shift(); next && !options.signal?.aborted; next = open.shift()) {
      options.onStart?.(next);
      await options.onEnd?.(await runOne(next, ports, options));
    }
  };
  const workers: Promise<void>[] = [];
  while (workers.length < Math.max(1, Math.min(options.concurrency, requests.length))) {
    workers.push(worker());
    // Hundreds of beginnings in a row would keep all else waiting.
    if (workers.length % AT_ONCE === 0) await setImmediate();
  }
  await Promise.all(workers);
}

async function runOne(
  request: RolloutRequest,
  ports: Ports,
  options: RolloutOptions,
): Promise<RolloutResult> {
  const { environment, task, attempt } = request;
  const { policy, sampling, signal } = options;
  const started = performance.now();
  const seed = request.seed ?? attemptSeed(sampling.seed, attempt);
  const setup = {
    environment,
    task,
    policy: policy.info,
    options: {
      ...sampling,
      seed,
      priority: 1,
      observations: options.executor ? ('real' as const) : ('rehearse' as const),
    },
  };
  const result = (
    opened: Opened | null,
    error?: unknown,
    real?: RealSide,
    judgements?: Said,
  ): RolloutResult => {
    const state = opened?.session.state ?? null;
    return {
      ...request,
      session: opened?.path ?? null,
      tree: opened?.session ?? null,
      seed,
      reward:
        state && error === undefined
          ? rewardOf(state, real, judgements)
          : { value: null, success: false, checks: [] },
      state,
      ...(judgements ? { judgements } : {}),
      ...(error === undefined ? {} : { error }),
      cancelled: Boolean(signal?.aborted),
      seconds: (performance.now() - started) / 1000,
    };
  };
  let opened: Opened;
  try {
    opened = open(setup, options);
  } catch (error) {
    return result(null, error);
  }
  let real: ToolSession | undefined;
  try {
    real = await options.executor?.open(task.state);
    const { session } = opened;
    const execute = real && executePort(answering(real));
    await drive(session, execute ? { ...ports, execute } : ports, toTheEnd, signal);
    if (session.state.position.kind !== 'done')
      return result(opened, new Error('The rollout was cancelled.'));
    const side = real ? await realSide(session.state, real, options.checks) : undefined;
    const judgements = await options.judge?.judge(session.state, side, signal);
    return result(opened, undefined, side, judgements);
  } catch (error) {
    return result(opened, error);
  } finally {
    await real?.close();
    opened.close?.();
  }
}

/** Where the executor fails, not the tool, there is no answer, and what follows would say nothing about the policy. */
function answering(session: ToolSession): ToolSession {
  return {
    state: () => session.state(),
    close: () => session.close(),
    async execute(call, signal) {
      const execution = await session.execute(call, signal);
      if (execution.failure)
        throw new Error(`${call.tool} could not be executed: ${execution.failure.message}`);
      return execution;
    },
  };
}

interface Opened {
  session: Session;
  path?: string;
  close?(): void;
}

function open(setup: Setup, { folder, environmentFile }: RolloutOptions): Opened {
  return folder === undefined
    ? { session: new Session(setup) }
    : createSession(folder, setup, { environmentFile, rollout: true });
}
