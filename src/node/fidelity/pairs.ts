/** A pair of the comparison: what was rehearsed at a call, what its tool answered, and how unlikely that was held. */
import { authorVerdict, rulesOf } from '../../core/fidelity/author';
import { compareAnswers } from '../../core/fidelity/compare';
import type { ComparedCall } from '../../core/fidelity/comparison';
import type { Json, JsonObject } from '../../core/json';
import { promptIds } from '../../core/rehearsal/lists';
import type { CallStep } from '../../core/rehearsal/types';
import type { Execution } from '../tools';
import type { CompareOptions } from './compare';
import type { Scorer } from './surprise';

/** Hands on a pair with its surprise. That an answer cannot be scored is told, and takes nothing from the rest. */
export async function scored(
  pair: ComparedCall,
  step: CallStep,
  scorer: Scorer | null,
  { signal, onPair }: Pick<CompareOptions, 'signal' | 'onPair'>,
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

/** A rehearsed call and what its tool answered, compared by the environment's rules. */
export function pairOf(
  step: CallStep,
  call: { tool: string; arguments: Json },
  real: { outcome: 'result' | 'error'; value: Json },
  more: Pick<ComparedCall, 'task' | 'index' | 'afterWrite' | 'state'> & {
    execution: Execution | null;
    recorded?: boolean;
  },
  { environment }: Pick<CompareOptions, 'environment'>,
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
