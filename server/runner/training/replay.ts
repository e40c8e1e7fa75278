/** Supervised REHEARSE samples from recorded calls, so that rehearsals stay truthful (`replayShare`). */
import { resultText } from '../../../src/core/conversation/prompts';
import { createRenderer } from '../../../src/core/conversation/render';
import type { Environment, Example, Task } from '../../../src/core/environment/types';
import { canonicalValue } from '../../../src/core/fidelity/answers';
import type { Supervised } from '../../../src/core/grpo/learner';
import { equalJson, formatJson } from '../../../src/core/json';
import type { Policy } from '../../../src/core/policy';
import { askCall, need, start } from '../../../src/core/rehearsal/machine';
import { DEFAULT_OPTIONS } from '../../../src/core/rehearsal/options';
import { mixSeed } from '../../../src/core/rehearsal/seed';
import { shuffled } from '../../../src/core/training/plan';
import { UserError } from '../../../src/core/user-error';
import { ALONE } from '../../../src/node/fidelity/compare';
import { emptyReasoning } from '../../../src/node/fidelity/surprise';
import type { TrainingRun } from './run';

/** Records that may be learned: not of the held-out part, true, and not dependent on what went before. */
export function replayed({ examples }: Environment): Example[] {
  return examples.filter(
    ({ part, afterWrite, verdict }) => part === 'train' && !afterWrite && verdict !== 'real tool wrong',
  );
}

/** A record's prompt, in which it is not shown, and its answer. */
export interface ReplaySample {
  prompt: readonly number[];
  answer: readonly number[];
}

const made = new WeakMap<Policy, Map<Example, Promise<ReplaySample>>>();

/** The samples of a step: so many for `outputs` rehearsals, each pass over the records in an order of its own. */
export async function replaySamples(
  { store: { config } }: TrainingRun,
  policy: Policy,
  step: number,
  outputs: number,
): Promise<ReplaySample[]> {
  const { replayShare, seed } = config.settings;
  const records = replayed(config.environment);
  if (replayShare === 0 || records.length === 0) return [];
  const count = Math.max(1, Math.round(replayShare * outputs));
  const known = made.get(policy) ?? new Map();
  made.set(policy, known);
  return Promise.all(
    Array.from({ length: Math.min(count, records.length) }, (_, i) => {
      const order = shuffled(records, mixSeed(seed, 'replay', step));
      const record = order[i]!;
      if (!known.has(record)) known.set(record, sampleOf(config.environment, record, policy));
      return known.get(record)!;
    }),
  );
}

async function sampleOf(environment: Environment, record: Example, policy: Policy): Promise<ReplaySample> {
  const others = environment.examples.filter(
    ({ tool, arguments: args }) => tool !== record.tool || !equalJson(args, record.arguments),
  );
  const task: Task = {
    id: 'call',
    instruction: ALONE,
    user: [],
    checks: [],
    ...(record.state === undefined ? {} : { state: record.state }),
  };
  const setup = {
    environment: { ...environment, examples: others, reuseExamples: false },
    task,
    policy: policy.info,
    options: DEFAULT_OPTIONS,
  };
  const call = {
    name: record.tool,
    arguments: record.arguments,
    argumentsText: formatJson(record.arguments),
  };
  const wanted = need(askCall(start(setup), call));
  // A gate answers a record of a call that it refuses; there is nothing to learn for REHEARSE.
  if (wanted.kind !== 'prompt') return { prompt: [], answer: [] };
  if (!policy.encode) {
    throw new UserError(
      'Recorded calls cannot be learned: the server does not turn text into token ids.',
      'Set "replayShare" to 0, or use our engine or vLLM.',
    );
  }
  const text = (await emptyReasoning(policy)) + resultText(canonicalValue(record));
  const [prompt, ids, end] = await Promise.all([
    createRenderer(policy)(wanted.segment),
    policy.encode(text),
    endOf(policy),
  ]);
  return { prompt, answer: [...ids, ...end] };
}

/** The id that the chat template puts behind an assistant's message. */
async function endOf(policy: Policy): Promise<number[]> {
  const messages = [
    { role: 'user' as const, content: 'a' },
    { role: 'assistant' as const, content: 'b' },
  ];
  const ids = await policy.render({ messages, generationPrompt: false });
  return ids.filter((id) => policy.info.endIds.includes(id)).slice(-1);
}

/** Weighted so that they count `share` of what the step's completions count in all. */
export function supervised(samples: readonly ReplaySample[], share: number): Supervised[] {
  const tokens = samples.reduce((sum, { answer }) => sum + answer.length, 0);
  return samples
    .filter(({ answer }) => answer.length > 0)
    .map(({ prompt, answer }) => {
      const ids = [...prompt, ...answer];
      return {
        input: ids.slice(0, -1),
        target: ids.slice(1),
        weights: ids.slice(1).map((_, i) => (i + 1 >= prompt.length ? share / tokens : 0)),
      };
    });
}

/** Nats a token of the answers. */
export function replayLoss(
  data: readonly Supervised[],
  logprobs: readonly (readonly number[])[],
): number | null {
  let sum = 0;
  let count = 0;
  data.forEach(({ weights }, i) => {
    weights.forEach((weight, t) => {
      if (weight === 0) return;
      sum -= logprobs[i]![t]!;
      count++;
    });
  });
  return count ? sum / count : null;
}
