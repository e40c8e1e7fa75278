/**
 * Expressions of watch, hover and console. A path such as `token.logprob` or `call.arguments.order_id` only
 * reads. `tool({…})` is a call to rehearse, which the console alone may do.
 */
import { isObject, type Json, type JsonObject } from '../../core/json';
import { outputText } from '../../core/rehearsal/outputs';
import { rewardOf } from '../../core/reward/rollout';
import type { Focus } from './focus';

/** What to tell a person whose expression cannot be evaluated. */
export class ExpressionError extends Error {}

/** Names that expressions may begin with, and what they hold at the cursor. */
export const NAMES: { [name: string]: (focus: Focus) => Json } = {
  token: ({ token }) =>
    token && {
      text: token.text,
      id: token.id,
      logprob: token.logprob,
      probability: token.logprob === null ? null : Math.exp(token.logprob),
      rank: token.rank,
      entropy: token.entropy,
      origin: token.origin,
      alternatives: token.alternatives.map(({ id, text, logprob }) => ({
        id,
        text,
        logprob,
        probability: Math.exp(logprob),
      })),
    },
  call: ({ step, turn }) => {
    const shown = step ?? turn?.calls[0];
    if (!shown) return null;
    return {
      tool: shown.call?.name ?? null,
      arguments: shown.call?.arguments ?? null,
      gate: shown.gate && { code: shown.gate.code, message: shown.gate.message },
      observation: shown.observation && {
        source: shown.observation.source,
        outcome: shown.observation.outcome,
        value: shown.observation.value,
      },
    };
  },
  output: ({ output }) =>
    output && { role: output.role, text: outputText(output), tokens: output.tokens?.length ?? 0 },
  role: ({ output }) => output?.role ?? null,
  turn: ({ turn }) => turn?.index ?? null,
  task: ({ state }) => ({ id: state.setup.task.id, instruction: state.setup.task.instruction }),
  model: ({ state }) => state.setup.policy.model,
  reward: ({ state }) => rewardOf(state).value,
  checks: ({ state }) =>
    rewardOf(state).checks.map(({ title, verdict, reason }) => ({ title, verdict, reason })),
};

const PATH = /^[A-Za-z_]\w*(?:\.[A-Za-z_$][\w$-]*|\[\d+\]|\["[^"\\]*"\])*$/;
const STEP = /\.?([A-Za-z_$][\w$-]*)|\[(\d+)\]|\["([^"\\]*)"\]/g;

/** The value of a path. Throws `ExpressionError`. */
export function read(expression: string, focus: Focus): Json {
  const text = expression.trim();
  const names = Object.keys(NAMES).join(', ');
  if (!PATH.test(text)) {
    throw new ExpressionError(`Write a path such as token.logprob, beginning with one of ${names}.`);
  }
  const keys = [...text.matchAll(STEP)].map((match) => match[1] ?? match[2] ?? match[3] ?? '');
  const [first = '', ...rest] = keys;
  const root = Object.hasOwn(NAMES, first) ? NAMES[first] : undefined;
  if (!root) throw new ExpressionError(`Nothing here is called ${first}; there are ${names}.`);
  let value = root(focus);
  for (const [i, key] of rest.entries()) {
    const next = Array.isArray(value) ? value[Number(key)] : own(value, key);
    if (next === undefined) throw new ExpressionError(`${keys.slice(0, i + 1).join('.')} has no ${key}.`);
    value = next;
  }
  return value;
}

function own(value: Json, key: string): Json | undefined {
  return isObject(value) && Object.hasOwn(value, key) ? (value as JsonObject)[key] : undefined;
}

/** What a call in the console is to be: rehearsed, executed (`!`), or both and compared (`?`). */
export type Asked = 'rehearse' | 'execute' | 'compare';

const MARKS: { [mark: string]: Asked } = { '!': 'execute', '?': 'compare' };

/** An expression without its mark, and what the mark asks for. */
export function askedBy(expression: string): { asked: Asked; text: string } {
  const text = expression.trimStart();
  const asked = MARKS[text[0] ?? ''];
  return asked ? { asked, text: text.slice(1) } : { asked: 'rehearse', text };
}

const CALL = /^\s*([A-Za-z_][\w.-]*)\s*\(([\s\S]*)\)\s*;?\s*$/;

/** The call that an expression writes, or null where it writes none. Throws `ExpressionError` for bad JSON. */
export function callIn(expression: string): { name: string; argumentsText: string; arguments: Json } | null {
  const match = CALL.exec(expression);
  if (!match) return null;
  const argumentsText = match[2]!.trim() || '{}';
  try {
    return { name: match[1]!, argumentsText, arguments: JSON.parse(argumentsText) as Json };
  } catch (error) {
    const reason = (error as Error).message;
    throw new ExpressionError(
      `The arguments are not JSON (${reason}). Write ${match[1]}({"argument": "value"}).`,
    );
  }
}
