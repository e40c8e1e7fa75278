/**
 * Rehearses and executes the same calls, and compares. The editor and `rehearsal compare` both use this. A call is
 * rehearsed without the record that is its own answer, and without reuse: it is the policy that is asked.
 */
import { createRenderer } from '../../core/conversation/render';
import type { Environment, Example, Task } from '../../core/environment/types';
import { authorVerdict, rulesOf } from '../../core/fidelity/author';
import { compareAnswers } from '../../core/fidelity/compare';
import type { ComparedCall, Uncompared } from '../../core/fidelity/comparison';
import { equalJson, formatJson, type Json, type JsonObject } from '../../core/json';
import type { Policy, Sampling, Signal } from '../../core/policy';
import { rehearseCall } from '../../core/rehearsal/ask';
import { drive, type Ports, toTheEnd } from '../../core/rehearsal/drivers';
import { promptIds } from '../../core/rehearsal/lists';
import { start } from '../../core/rehearsal/machine';
import { mixSeed } from '../../core/rehearsal/seed';
import { Session } from '../../core/rehearsal/session';
import type { CallStep, Setup, State } from '../../core/rehearsal/types';
import type { Execution, Executor, ToolSession } from '../tools';
import { answerScorer, type Scorer } from './surprise';

/** What is compared: one call by itself, the calls of a task that is rehearsed now, or calls that were rehearsed. */
export type CompareTarget =
  /**
   * `index` is the call's in the results; its place among the targets where it is not given. `recorded` is false
   * where the example's answer was executed just now, for another model.
   */
  | { kind: 'call'; example: Example; index?: number; recorded?: boolean }
  | { kind: 'task'; task: Task }
  /** `only` compares one of the steps; those before it are executed all the same. */
  | { kind: 'steps'; task: Task; steps: readonly CallStep[]; only?: number };

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
  const session = new Session(setupFor(options.environment, task, options, options.sampling.seed));
  try {
    if (options.executor) await drive(session, ports, toTheEnd, options.signal);
  } catch (error) {
    if (!options.signal?.aborted) uncomparedTask(task, (error as Error).message, options);
  }
  await compareSteps({ task, steps: stepsOf(session.state) }, scorer, options);
}

/** The calls of a session that have an answer, in their order. */
export function stepsOf(state: State): CallStep[] {
  return state.turns.flatMap(({ calls }) => calls).filter(({ observation, call }) => observation && call);
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

function uncomparedTask({ id }: Task, reason: string, { onUncompared }: CompareOptions): void {
  onUncompared({ task: id, index: 0, tool: '', arguments: null, reason });
}

/** Hands on a pair with its surprise. That an answer cannot be scored is told, and takes nothing from the rest. */
async function scored(
  pair: ComparedCall,
  step: CallStep,
  scorer: Scorer | null,
  { signal, onPair }: CompareOptions,
): Promise<void> {
  const prompt = step.rehearsal?.prompt;
  if (!scorer || !prompt) return onPair(pair);
  let more: Pick<ComparedCall, 'surprise' | 'unscored'>;
  try {
    more = { surprise: await scorer(promptIds(prompt, null), pair.real, signal) };
  } catch (error) {
    if (signal?.aborted) return;
    more = { unscored: (error as Error).message };
  }
  onPair({ ...pair, ...more });
}

function pairOf(
  step: CallStep,
  call: { tool: string; arguments: Json },
  real: { outcome: 'result' | 'error'; value: Json },
  more: Pick<ComparedCall, 'task' | 'index' | 'afterWrite' | 'state'> & {
    execution: Execution | null;
    recorded?: boolean;
  },
  { environment }: CompareOptions,
): ComparedCall {
  const { outcome, value, raw, source } = step.observation!;
  const { task, index, execution, recorded = execution === null, afterWrite, state } = more;
  const rehearsed = { outcome, value };
  const pair = {
    tool: call.tool,
    arguments: call.arguments as JsonObject,
    real: { outcome: real.outcome, value: real.value },
    rehearsed,
  };
  return {
    ...pair,
    comparison: compareAnswers(rehearsed, pair.real, rulesOf(environment)),
    author: authorVerdict(environment.examples, pair),
    task,
    index,
    source,
    ...(raw === undefined ? {} : { raw }),
    recorded,
    ...(state === undefined ? {} : { state }),
    afterWrite,
    durationMs: execution ? execution.durationMs : null,
    ...(execution?.notes?.length ? { notes: execution.notes } : {}),
  };
}
