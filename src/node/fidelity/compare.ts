/**
 * Rehearses and executes the same calls, and compares. The editor and `rehearsal compare` both use this. A call is
 * rehearsed without the record that is its own answer, and without reuse: it is the policy that is asked.
 */
import { createRenderer } from '../../core/conversation/render';
import type { Environment, Example, Task } from '../../core/environment/types';
import { authorVerdict, rulesOf } from '../../core/fidelity/author';
import { compareAnswers } from '../../core/fidelity/compare';
import type { ComparedPair } from '../../core/fidelity/types';
import { equalJson, formatJson, type Json, type JsonObject } from '../../core/json';
import type { Policy, Sampling, Signal } from '../../core/policy';
import { rehearseCall } from '../../core/rehearsal/ask';
import { drive, type Ports, toTheEnd } from '../../core/rehearsal/drivers';
import { promptIds } from '../../core/rehearsal/lists';
import { start } from '../../core/rehearsal/machine';
import { mixSeed } from '../../core/rehearsal/seed';
import { Session } from '../../core/rehearsal/session';
import type { CallStep, Setup } from '../../core/rehearsal/types';
import type { Execution, Executor } from '../tools';
import { answerScorer, type Scorer } from './surprise';

/** What is compared: one call by itself, or the calls of a task in their order. */
export type CompareTarget = { kind: 'call'; example: Example } | { kind: 'task'; task: Task };

export interface PairResult extends ComparedPair {
  /** Task whose call it is, or null for a recorded call. */
  task: string | null;
  /** Index of the call in its task, or of the record. */
  index: number;
  /** Where the rehearsed side came from; a gate's answer is no rehearsal and counts for nothing. */
  source: 'rehearsed' | 'gate';
  /** The model's own text, where it could not be read. */
  raw?: string;
  /** Whether the real side is the record's (true) or was executed now. */
  recorded: boolean;
  execution: Execution | null;
}

/** A call that could not be compared: the executor failed, or the server did. */
export interface Uncompared {
  task: string | null;
  index: number;
  tool: string;
  arguments: Json;
  reason: string;
}

export interface CompareOptions {
  environment: Environment;
  policy: Policy;
  /** Null compares with the recorded answers and executes nothing. */
  executor: Executor | null;
  sampling: Sampling & { seed: number; alternatives: number };
  /** Targets at the same time. */
  concurrency: number;
  /** Score the real answers too (`PairResult.surprise`), where the server can. */
  surprise?: boolean;
  signal?: Signal & AbortSignal;
  onPair(pair: PairResult): void;
  onUncompared(call: Uncompared): void;
}

/** Instruction of the conversation in which a call by itself is rehearsed. */
const ALONE = 'Please look into this.';

export async function compareTargets(
  targets: readonly CompareTarget[],
  options: CompareOptions,
): Promise<void> {
  const render = createRenderer(options.policy);
  const ports: Ports = { policy: options.policy, render };
  const scorer = options.surprise ? answerScorer(options.policy) : null;
  const open = targets.map((target, index) => ({ target, index }));
  const worker = async () => {
    for (let next = open.shift(); next && !options.signal?.aborted; next = open.shift()) {
      const { target, index } = next;
      if (target.kind === 'call') await compareCall(target.example, index, ports, scorer, options);
      else await compareTask(target.task, ports, scorer, options);
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
  example: Example,
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
  const task: Task = { id: 'call', instruction: ALONE, user: [], checks: [] };
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
      { task: null, index, execution },
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

/** The task is rehearsed to its end; then its calls are executed in order, in one session. */
async function compareTask(
  task: Task,
  ports: Ports,
  scorer: Scorer | null,
  options: CompareOptions,
): Promise<void> {
  const { environment, executor, signal } = options;
  const session = new Session(setupFor(environment, task, options, options.sampling.seed));
  const whole = (reason: string) =>
    options.onUncompared({ task: task.id, index: 0, tool: '', arguments: null, reason });
  if (!executor) return whole('a task is compared by executing its calls');
  try {
    await drive(session, ports, toTheEnd, signal);
  } catch (error) {
    if (!signal?.aborted) whole((error as Error).message);
  }
  const steps = session.state.turns
    .flatMap((turn) => turn.calls)
    .filter((step) => step.observation && step.call);
  const real = await executor.open(task.state, signal);
  try {
    for (const [index, step] of steps.entries()) {
      if (signal?.aborted) return;
      // A call that a gate refused was never made.
      if (step.gate) continue;
      const call = { tool: step.call!.name, arguments: step.call!.arguments };
      const execution = await real.execute(call, signal);
      if (execution.failure) {
        options.onUncompared({ task: task.id, index, ...call, reason: execution.failure.message });
      } else {
        const pair = pairOf(step, call, execution, { task: task.id, index, execution }, options);
        await scored(pair, step, scorer, options);
      }
    }
  } finally {
    await real.close();
  }
}

/** Hands on a pair with its surprise. That an answer cannot be scored is told, and takes nothing from the rest. */
async function scored(
  pair: PairResult,
  step: CallStep,
  scorer: Scorer | null,
  { signal, onPair }: CompareOptions,
): Promise<void> {
  const prompt = step.rehearsal?.prompt;
  if (!scorer || !prompt) return onPair(pair);
  let more: Pick<PairResult, 'surprise' | 'unscored'>;
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
  more: { task: string | null; index: number; execution: Execution | null },
  { environment }: CompareOptions,
): PairResult {
  const { outcome, value, raw, source } = step.observation!;
  const rehearsed = { outcome, value };
  const pair = {
    tool: call.tool,
    arguments: call.arguments as JsonObject,
    real: { outcome: real.outcome, value: real.value },
  };
  return {
    ...pair,
    rehearsed,
    comparison: compareAnswers(rehearsed, pair.real, rulesOf(environment)),
    author: authorVerdict(environment.examples, pair),
    source: source === 'gate' ? 'gate' : 'rehearsed',
    recorded: more.execution === null,
    ...(raw === undefined ? {} : { raw }),
    ...more,
  };
}
