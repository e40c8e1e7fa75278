/** Checks on the policy's answer. */

import { compileSchema } from '../environment/json-schema';
import { formatJson, type Json, type JsonObject } from '../json';
import { parseStrict } from '../json-text';
import { isPath, valuesAt } from '../jsonpath';
import type { Finding } from './checks';
import { containsWhole, PATTERN_INPUT, regex, states } from './text';
import type { Check, Transcript } from './types';

const NO_ANSWER = 'The policy gave no answer: it stopped before one.';

/** Each of `contains`, `pattern` and `schema` that is there must hold. */
export function checkAnswer(check: Extract<Check, { kind: 'answer' }>, transcript: Transcript): Finding {
  const { answer } = transcript;
  if (answer === null) return { verdict: 'fails', reason: NO_ANSWER, expected: wanted(check), actual: '' };
  const turn = transcript.answerTurn;
  const fails = (reason: string): Finding => ({
    verdict: 'fails',
    reason,
    turn,
    expected: wanted(check),
    actual: answer,
  });
  for (const needle of [check.contains ?? []].flat()) {
    if (!containsWhole(answer, needle, check.ignoreCase)) {
      const partly = answer.toLowerCase().includes(needle.toLowerCase()) ? ' as a whole word or number' : '';
      return fails(`The answer does not contain ${JSON.stringify(needle)}${partly}.`);
    }
  }
  if (check.pattern !== undefined) {
    const pattern = regex(check.pattern, check.ignoreCase);
    if (!pattern) return { verdict: 'unscored', reason: `The pattern /${check.pattern}/ does not compile.` };
    if (!pattern.test(answer.slice(0, PATTERN_INPUT)))
      return fails(`The answer does not match /${check.pattern}/.`);
  }
  return check.schema
    ? schemaFinding(check.schema, answer, turn, fails)
    : { verdict: 'holds', reason: 'The answer is as expected.', turn };
}

function schemaFinding(
  schema: JsonObject,
  answer: string,
  turn: number,
  fails: (reason: string) => Finding,
): Finding {
  const compiled = compileSchema(schema);
  if (!compiled.ok)
    return { verdict: 'unscored', reason: `The schema of the answer does not compile: ${compiled.problem}.` };
  const fenced = /^```(?:json)?\s*\n([\s\S]*?)\n```$/.exec(answer.trim());
  const parsed = parseStrict(fenced?.[1] ?? answer.trim());
  if (!parsed.ok) return fails(`The answer is to be JSON and is ${parsed.reason}.`);
  const [first] = compiled.validate(parsed.value);
  if (first) return fails(`The answer does not satisfy its schema: ${first.path || '/'} ${first.message}.`);
  return { verdict: 'holds', reason: 'The answer satisfies its schema.', turn };
}

function wanted(check: Extract<Check, { kind: 'answer' }>): string {
  const parts = [check.contains ?? []].flat().map((needle) => needle);
  if (check.pattern !== undefined) parts.push(`/${check.pattern}/`);
  if (check.schema) parts.push(JSON.stringify(check.schema, null, 2));
  return parts.join('\n');
}

/** The answer states a field of the last result of a tool. */
export function checkFromResult(
  check: Extract<Check, { kind: 'fromResult' }>,
  transcript: Transcript,
): Finding {
  if (!isPath(check.path))
    return { verdict: 'unscored', reason: `${check.path} is not a path such as $.items[0].price.` };
  const source = transcript.calls.findLast(
    (call) => call.tool === check.tool && call.valid && call.outcome === 'result',
  );
  if (!source)
    return { verdict: 'fails', reason: `${check.tool} gave no result that the answer could state.` };
  const values = valuesAt(source.value, check.path);
  if (!values.length) {
    const reason = `The last result of ${check.tool} has nothing at ${check.path}.`;
    return {
      verdict: 'fails',
      reason,
      turn: source.turn,
      expected: check.path,
      actual: JSON.stringify(source.value, null, 2),
    };
  }
  const { answer, answerTurn: turn } = transcript;
  if (answer === null) return { verdict: 'fails', reason: NO_ANSWER, expected: list(values), actual: '' };
  const absent = values.find((value) => !states(answer, value));
  if (absent === undefined)
    return { verdict: 'holds', reason: `The answer states ${check.path} of ${check.tool}.`, turn };
  const reason = `The answer does not state ${shown(absent)}, which is ${check.path} in the last result of ${check.tool}.`;
  return { verdict: 'fails', reason, turn, expected: list(values), actual: answer };
}

const list = (values: Json[]) => values.map(shown).join('\n');
const shown = (value: Json) => (typeof value === 'string' ? value : formatJson(value));
