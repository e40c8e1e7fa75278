/** Checks on the calls of a rollout. */
import { formatJson, isObject, type Json, type JsonObject } from '../json';
import type { Finding } from './checks';
import { matcherKey, resolved, wrongFields } from './matchers';
import { isCall, pair } from './pairs';
import { callTitle } from './title';
import type { Check, ExpectedCall, Transcript, TranscriptCall } from './types';

type CallsCheck = Extract<Check, { kind: 'calls' }>;

/** Every expected call was made (and passed the gates), each by a call of its own, and nothing else that is not allowed. */
export function checkCalls(check: CallsCheck, { calls }: Transcript): Finding {
  const ordered = check.ordered ?? true;
  const pairs = pair(check.expected, calls, ordered);
  const missing = pairs.indexOf(-1);
  if (missing >= 0) return missingCall(check, calls, pairs, missing, ordered);
  const others = check.others ?? 'reads';
  const extra = calls.find(
    (call, i) => call.valid && !pairs.includes(i) && (others === 'none' || !call.readOnly),
  );
  if (others !== 'any' && extra) {
    const allowed =
      others === 'none'
        ? 'no other call is allowed'
        : 'besides the expected calls only read-only tools may be called';
    const twice = check.expected.some((want) => isCall(want, extra)) ? ' once more' : '';
    return {
      verdict: 'fails',
      reason: `Turn ${extra.turn} called ${shown(extra)}${twice}, and ${allowed}.`,
      turn: extra.turn,
      ...diff(check, calls, pairs),
    };
  }
  const count = check.expected.length;
  const last = count ? calls[Math.max(...pairs)]?.turn : undefined;
  const reason =
    count === 0
      ? 'No call was made that is not allowed.'
      : count === 1
        ? 'The expected call was made.'
        : `All ${count} expected calls were made.`;
  return { verdict: 'holds', reason, ...(last === undefined ? {} : { turn: last }) };
}

function missingCall(
  check: CallsCheck,
  calls: TranscriptCall[],
  pairs: number[],
  missing: number,
  ordered: boolean,
): Finding {
  const want = check.expected[missing]!;
  const free = calls.filter((_, i) => !pairs.includes(i));
  const near = nearest(want, free);
  const sides = diff(check, calls, pairs, near ? { expected: missing, call: near } : undefined);
  const turn = near?.turn ?? calls.at(-1)?.turn;
  return {
    verdict: 'fails',
    reason: missingReason(want, near, ordered, calls.length),
    ...(turn ? { turn } : {}),
    ...sides,
  };
}

function missingReason(
  want: ExpectedCall,
  near: TranscriptCall | undefined,
  ordered: boolean,
  made: number,
): string {
  if (!near) return `${callTitle(want)} was never called${made ? '' : '; no call was made'}.`;
  if (isCall(want, near)) {
    if (!near.valid) return `Turn ${near.turn} called ${callTitle(want)}, and a gate refused it.`;
    return ordered
      ? `Turn ${near.turn} called ${callTitle(want)}, but not in the expected order.`
      : `${callTitle(want)} was called too few times.`;
  }
  const refused = near.valid ? '' : ' (a gate refused it)';
  return `Turn ${near.turn} called ${near.tool}${refused} ${differences(want, near)}.`;
}

/** The call of the same tool with the fewest differing arguments; of equals the last. */
function nearest(want: ExpectedCall, calls: TranscriptCall[]): TranscriptCall | undefined {
  const same = calls.filter((call) => call.tool === want.tool);
  const distance = (call: TranscriptCall) =>
    (isObject(call.arguments) ? wrongFields(want.arguments ?? {}, call.arguments).length : 99) +
    (call.valid ? 0 : 0.5);
  return same.reduce<TranscriptCall | undefined>(
    (best, call) => (!best || distance(call) <= distance(best) ? call : best),
    undefined,
  );
}

function differences(want: ExpectedCall, call: TranscriptCall): string {
  if (!isObject(call.arguments)) return `with ${brief(call.arguments)} as its arguments`;
  const wanted = want.arguments ?? {};
  const actual = call.arguments;
  const told = wrongFields(wanted, actual).map((name) => {
    const found = Object.hasOwn(actual, name) ? `with ${name} ${brief(actual[name]!)}` : `without ${name}`;
    const rule = wanted[name]!;
    return `${found}, expected ${matcherKey(rule) === '$absent' ? `no ${name}` : brief(rule)}`;
  });
  const rest = told.length > 2 ? `; ${told.length - 2} more arguments differ` : '';
  return told.slice(0, 2).join('; ') + rest;
}

/** None of these calls was made. What a gate refused never ran, and still shows what the policy wanted. */
export function checkForbidden(check: Extract<Check, { kind: 'forbidden' }>, { calls }: Transcript): Finding {
  for (const call of calls) {
    const hit = call.valid ? check.calls.find((forbidden) => isCall(forbidden, call)) : undefined;
    if (hit) {
      return {
        verdict: 'fails',
        reason: `Turn ${call.turn} called ${shown(call)}, which is forbidden.`,
        turn: call.turn,
        expected: `no call of ${callTitle(hit)}`,
        actual: pretty([shape(call)]),
      };
    }
  }
  return { verdict: 'holds', reason: 'No forbidden call was made.' };
}

export function checkMaxCalls(check: Extract<Check, { kind: 'maxCalls' }>, { calls }: Transcript): Finding {
  const made = `${calls.length} ${calls.length === 1 ? 'call was' : 'calls were'} made`;
  if (calls.length <= check.max)
    return { verdict: 'holds', reason: `${made}; at most ${check.max} are allowed.` };
  const turn = calls[check.max]!.turn;
  return {
    verdict: 'fails',
    reason: `${made}; at most ${check.max} are allowed.`,
    turn,
    expected: `at most ${check.max} calls`,
    actual: pretty(calls.map(shape)),
  };
}

/** Both sides of a diff: what holds looks the same on both, so that only what matters differs. */
function diff(
  check: CallsCheck,
  calls: TranscriptCall[],
  pairs: number[],
  near?: { expected: number; call: TranscriptCall },
): { expected: string; actual: string } {
  const standsFor = (i: number) => (near?.expected === i ? near.call : calls[pairs[i]!]);
  const expected = check.expected.map((want, i): Json => {
    const call = standsFor(i);
    if (want.arguments)
      return { tool: want.tool, arguments: expectedArguments(want.arguments, call?.arguments) };
    return { tool: want.tool, arguments: call?.arguments ?? { $any: true } };
  });
  const allowed = check.others ?? 'reads';
  const told = calls.filter(
    (call, i) =>
      pairs.includes(i) ||
      call === near?.call ||
      (call.valid ? allowed === 'none' || (allowed === 'reads' && !call.readOnly) : false),
  );
  return { expected: pretty(expected), actual: pretty(told.map(shape)) };
}

/** In the order of the actual ones, with those that may be anything as they were. */
function expectedArguments(wanted: JsonObject, actual: Json | undefined): JsonObject {
  const rules = resolved(wanted, actual) as JsonObject;
  const given = isObject(actual) ? Object.keys(actual) : [];
  const shared = given.filter((name) => Object.hasOwn(rules, name) || !Object.hasOwn(wanted, name));
  const names = [...shared, ...Object.keys(rules).filter((name) => !given.includes(name))];
  const value = (name: string) => (Object.hasOwn(rules, name) ? rules[name]! : (actual as JsonObject)[name]!);
  return Object.fromEntries(names.map((name) => [name, value(name)]));
}

const shape = (call: TranscriptCall): Json => ({ tool: call.tool, arguments: call.arguments });
const shown = (call: TranscriptCall) => `${call.tool}(${brief(call.arguments)})`;
const pretty = (value: Json) => JSON.stringify(value, null, 2);

function brief(value: Json): string {
  const text = formatJson(value);
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}
