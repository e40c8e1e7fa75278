/**
 * Rehearses and executes the same calls, and compares. The editor and `rehearsal compare` both use this. A call is
 * rehearsed without the record that is its own answer, and without reuse: it is the policy that is asked.
 */
import { createRenderer } from '../../core/conversation/render';
import type { Environment, Example, Task } from '../../core/environment/types';
import type { ComparedCall, Uncompared } from '../../core/fidelity/comparison';
import { equalJson, formatJson, type Json } from '../../core/json';
import type { Policy, Sampling, Signal } from '../../core/policy';
import { rehearseCall, rehearseHere, retold } from '../../core/rehearsal/ask';
import { drive, type Ports, toTheEnd } from '../../core/rehearsal/drivers';
import { start } from '../../core/rehearsal/machine';
import { mixSeed } from '../../core/rehearsal/seed';
import { Session } from '../../core/rehearsal/session';
import type { CallStep, Setup, State } from '../../core/rehearsal/types';
import type { Execution, Executor, ToolSession } from '../tools';
import { pairOf, scored } from './pairs';
import { answerScorer, type Scorer } from './surprise';

/**
 * What is compared: one call by itself, the calls of a task that is rehearsed now, calls that were rehearsed, or those
 * of a conversation that another model had.
 */
export type CompareTarget =
  /**
   * `index` is the call's in the results; its place among the targets where it is not given. `recorded` is false
   * where the example's answer was executed just now, for another model.
   */
  | { kind: 'call'; example: Example; index?: number; recorded?: boolean }
  | { kind: 'task'; task: Task }
  /** `only` compares one of the steps; those before it are executed all the same. */
  | { kind: 'steps'; task: Task; steps: readonly CallStep[]; only?: number }
  /** Each call is rehearsed where it stands in `state`, and held against the real answer that it had. */
  | { kind: 'conversation'; state: State; pairs: readonly ComparedCall[] };

export interface CompareOptions {
  environment: Environment;
  policy: Policy;
  /** Null compares with the recorded answers and executes nothing. */
  executor: Executor | null;
  sampling: Sampling & { seed: number; alternatives: number };
  /** Targets at the same time. */
  concurrency: number;
  /** Score the real answers too (`ComparedCall.surprise`), where the server can. */
  surprise?: boolean;
  signal?: Signal & AbortSignal;
  /** Makes the session in which a task is rehearsed; by default it is kept nowhere. */
  session?(setup: Setup): { session: Session; close(): void };
  onPair(pair: ComparedCall): void;
  onUncompared(call: Uncompared): void;
  /** A target is done, whatever came of it. */
  onTarget?(): void;
}

/** Instruction of the conversation in which a call by itself is rehearsed. */
export const ALONE = 'Please look into this.';

export async function compareTargets(
  targets: readonly CompareTarget[],
  options: CompareOptions,
): Promise<void> {
  const render = createRenderer(options.policy);
  const ports: Ports = { policy: options.policy, render, unwatched: true };
  const scorer = options.surprise ? answerScorer(options.policy) : null;
  const open = targets.map((target, place) => ({ target, place }));
  const compareOne = (target: CompareTarget, place: number) => {
    switch (target.kind) {
      case 'call':
        return compareCall(target, target.index ?? place, ports, scorer, options);
      case 'task':
        return compareTask(target.task, ports, scorer, options);
      case 'steps':
        return compareSteps(target, scorer, options);
      case 'conversation':
        return compareConversation(target, ports, scorer, options);
    }
  };
  const worker = async () => {
    for (let next = open.shift(); next && !options.signal?.aborted; next = open.shift()) {
      await compareOne(next.target, next.place);
      options.onTarget?.();
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, options.concurrency) }, worker));
}

function setupFor(environment: Environment, task: Task, options: CompareOptions, seed: number): Setup {
  return {
    environment: { ...environment, reuseExamples: false },
    task,
    policy: options.policy.info,
    options: { ...options.sampling, seed, priority: 1, observations: 'rehearse' },
  };
}

async function compareCall(
  { example, recorded }: Extract<CompareTarget, { kind: 'call' }>,
  index: number,
  ports: Ports,
  scorer: Scorer | null,
  options: CompareOptions,
): Promise<void> {
  const { environment, executor, signal } = options;
  const call = { tool: example.tool, arguments: example.arguments };
  const failed = (reason: string) => options.onUncompared({ task: null, index, ...call, reason });
  const others = environment.examples.filter(
    (one) => one.tool !== call.tool || !equalJson(one.arguments, call.arguments),
  );
  const state = example.state === undefined ? {} : { state: example.state };
  const task: Task = { id: 'call', instruction: ALONE, user: [], ...state, checks: [] };
  const seed = mixSeed(options.sampling.seed, 'compare', index);
  const setup = setupFor({ ...environment, examples: others }, task, options, seed);
  const asked = { name: call.tool, arguments: call.arguments, argumentsText: formatJson(call.arguments) };
  try {
    const [step, execution] = await Promise.all([
      rehearseCall(start(setup), asked, ports, signal),
      executor ? executeAlone(executor, example, call, signal) : null,
    ]);
    if (signal?.aborted || !step.observation) return;
    if (execution?.failure) return failed(execution.failure.message);
    const real = execution ?? example;
    const pair = pairOf(
      step,
      call,
      { outcome: real.outcome, value: real.value },
      { task: null, index, execution, recorded, afterWrite: example.afterWrite, state: example.state },
      options,
    );
    await scored(pair, step, scorer, options);
  } catch (error) {
    if (!signal?.aborted) failed((error as Error).message);
  }
}

async function executeAlone(
  executor: Executor,
  { state }: Example,
  call: { tool: string; arguments: Json },
  signal?: AbortSignal,
): Promise<Execution> {
  const session = await executor.open(state, signal);
  try {
    return await session.execute(call, signal);
  } finally {
    await session.close();
  }
}

/** The task is rehearsed to its end; then its calls are executed. */
async function compareTask(
  task: Task,
  ports: Ports,
  scorer: Scorer | null,
  options: CompareOptions,
): Promise<void> {
  const setup = setupFor(options.environment, task, options, options.sampling.seed);
  const { session, close } = options.session?.(setup) ?? { session: new Session(setup), close: () => {} };
  try {
    if (options.executor) await drive(session, ports, toTheEnd, options.signal);
  } catch (error) {
    if (!options.signal?.aborted) uncomparedTask(task, (error as Error).message, options);
  } finally {
    close();
  }
  await compareSteps({ task, steps: stepsOf(session.state) }, scorer, options);
}

/** The calls of a session that have an answer, in their order. */
export function stepsOf(state: State): CallStep[] {
  return state.turns.flatMap(({ calls }) => calls).filter(isAnswered);
}

function isAnswered({ observation, call }: CallStep): boolean {
  return Boolean(observation && call);
}

/** Calls are executed in order, in one session that begins in the task's state. */
async function compareSteps(
  { task, steps, only }: Omit<Extract<CompareTarget, { kind: 'steps' }>, 'kind'>,
  scorer: Scorer | null,
  options: CompareOptions,
): Promise<void> {
  const { executor, signal } = options;
  if (!executor) return uncomparedTask(task, 'a task is compared by executing its calls', options);
  let real: ToolSession | undefined;
  let afterWrite = false;
  try {
    real = await executor.open(task.state, signal);
    for (const [index, step] of steps.entries()) {
      if (signal?.aborted || (only !== undefined && index > only)) return;
      // A call that a gate refused was never made.
      if (step.gate) continue;
      const call = { tool: step.call!.name, arguments: step.call!.arguments };
      const execution = await real.execute(call, signal);
      const isAfterWrite = afterWrite;
      afterWrite ||= !step.tool?.readOnly;
      // What the real tool answered already is the real answer.
      if ((only !== undefined && index !== only) || step.observation!.source === 'real') continue;
      if (execution.failure) {
        options.onUncompared({ task: task.id, index, ...call, reason: execution.failure.message });
        continue;
      }
      const more = { task: task.id, index, execution, afterWrite: isAfterWrite, state: task.state };
      await scored(pairOf(step, call, execution, more, options), step, scorer, options);
    }
  } catch (error) {
    if (!signal?.aborted) uncomparedTask(task, (error as Error).message, options);
  } finally {
    await real?.close();
  }
}

/** The calls of a conversation, rehearsed by another model: nothing is executed. */
async function compareConversation(
  { state, pairs }: Extract<CompareTarget, { kind: 'conversation' }>,
  ports: Ports,
  scorer: Scorer | null,
  options: CompareOptions,
): Promise<void> {
  const { sampling, signal } = options;
  const { environment, task } = state.setup;
  const setup = setupFor(environment, task, options, sampling.seed);
  const steps = state.turns.flatMap((turn) =>
    turn.calls.filter(isAnswered).map((step) => ({ turn: turn.index, step })),
  );
  for (const pair of pairs) {
    if (signal?.aborted) return;
    const { tool, arguments: args, index } = pair;
    const call = { tool, arguments: args };
    const failed = (reason: string) => options.onUncompared({ task: task.id, index, ...call, reason });
    const { turn, step } = steps[index] ?? {};
    if (!turn || step?.call?.name !== tool || !equalJson(step.call.arguments, args)) {
      failed('The conversation is not the one that was compared: compare again.');
      continue;
    }
    try {
      const rehearsed = await rehearseHere(retold(state, setup, turn, step.index), step.index, ports, signal);
      if (signal?.aborted || !rehearsed.observation) return;
      const { recorded, afterWrite, state: initial } = pair;
      const more = { task: task.id, index, execution: null, recorded, afterWrite, state: initial };
      await scored(pairOf(rehearsed, call, pair.real, more, options), rehearsed, scorer, options);
    } catch (error) {
      if (!signal?.aborted) failed((error as Error).message);
    }
  }
}

function uncomparedTask({ id }: Task, reason: string, { onUncompared }: CompareOptions): void {
  onUncompared({ task: id, index: 0, tool: '', arguments: null, reason });
}
