/**
 * Matchers: JSON in which an object with one `$…` key stands for a rule; everything else is compared as it is.
 * They may stand anywhere in expected arguments, also inside objects and lists.
 */
import { equalJson, isObject, type Json, type JsonObject } from '../json';
import { regex } from './text';
import type { Matcher } from './types';

/** Actual value, or undefined where an argument or field is absent. */
type Actual = Json | undefined;

const MATCHER_KEYS = ['$any', '$regex', '$oneOf', '$number', '$text', '$absent', '$contains'] as const;
type MatcherKey = (typeof MATCHER_KEYS)[number];

/** The key of a matcher, or null where a value is a literal. */
export function matcherKey(matcher: Matcher): MatcherKey | null {
  if (!isObject(matcher)) return null;
  const [key, ...others] = Object.keys(matcher);
  return others.length === 0 && MATCHER_KEYS.includes(key as MatcherKey) ? (key as MatcherKey) : null;
}

/** Whether an actual value satisfies a matcher. A malformed rule holds for nothing. */
export function matches(matcher: Matcher, actual: Actual): boolean {
  const key = matcherKey(matcher);
  if (key) return RULES[key]((matcher as JsonObject)[key]!, actual);
  if (actual === undefined) return false;
  if (Array.isArray(matcher)) {
    return (
      Array.isArray(actual) &&
      actual.length === matcher.length &&
      matcher.every((m, i) => matches(m, actual[i]))
    );
  }
  if (isObject(matcher)) {
    // As it is: unlike the arguments of a call, a value has no fields that its matcher does not name.
    const named = isObject(actual) && Object.keys(actual).every((name) => Object.hasOwn(matcher, name));
    return named && wrongFields(matcher, actual).length === 0;
  }
  return equalJson(matcher, actual);
}

/** Names of the matchers that an object's fields do not satisfy; fields without a matcher may be anything. */
export function wrongFields(matchers: JsonObject, actual: JsonObject): string[] {
  return Object.keys(matchers).filter((name) => !matches(matchers[name]!, fieldOf(actual, name)));
}

/** The matcher with what was found in place of every rule that holds: the left side of a readable diff. */
export function resolved(matcher: Matcher, actual: Actual): Json {
  const key = matcherKey(matcher);
  if (key) return actual !== undefined && matches(matcher, actual) ? actual : matcher;
  if (Array.isArray(matcher))
    return matcher.map((m, i) => resolved(m, Array.isArray(actual) ? actual[i] : undefined));
  if (!isObject(matcher)) return matcher;
  const fields = Object.entries(matcher).map(([name, m]): [string, Json] => [
    name,
    resolved(m, fieldOf(actual, name)),
  ]);
  const absent = ([name]: [string, Json]) =>
    fieldOf(actual, name) === undefined && matches(matcher[name]!, undefined);
  return Object.fromEntries(fields.filter((field) => !absent(field)));
}

function fieldOf(value: Actual, name: string): Actual {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** What is wrong with a matcher (at any depth), as a sentence without a full stop, or null. */
export function matcherProblem(matcher: Matcher): string | null {
  const key = matcherKey(matcher);
  const rule = key ? (matcher as JsonObject)[key]! : matcher;
  if (key) {
    const problem = SHAPES[key](rule);
    if (problem) return problem;
  } else if (isObject(matcher)) {
    const unknown = Object.keys(matcher).find((name) => name.startsWith('$'));
    if (unknown && MATCHER_KEYS.includes(unknown as MatcherKey))
      return `${unknown} must be the only key of its object`;
    if (unknown) return `there is no matcher ${unknown}; there are ${MATCHER_KEYS.join(', ')}`;
  }
  if (key && key !== '$oneOf' && key !== '$contains') return null;
  const inner = typeof rule === 'object' && rule !== null ? Object.values(rule) : [];
  for (const item of inner) {
    const problem = matcherProblem(item);
    if (problem) return problem;
  }
  return null;
}

const isText = (value: Actual): value is string => typeof value === 'string';

const RULES: Record<MatcherKey, (rule: Json, actual: Actual) => boolean> = {
  $any: (_rule, actual) => actual !== undefined,
  $absent: (rule, actual) => (rule === false) === (actual !== undefined),
  $regex: (rule, actual) => isText(rule) && isText(actual) && (regex(rule)?.test(actual) ?? false),
  $oneOf: (rule, actual) => Array.isArray(rule) && rule.some((one) => matches(one, actual)),
  $number: (rule, actual) => isObject(rule) && typeof actual === 'number' && numberHolds(rule, actual),
  $text: (rule, actual) =>
    isObject(rule) &&
    isText(actual) &&
    isText(rule.value) &&
    textOf(rule.value, rule) === textOf(actual, rule),
  $contains: (rule, actual) =>
    Array.isArray(rule) &&
    Array.isArray(actual) &&
    rule.every((one) => actual.some((item) => matches(one, item))),
};

function numberHolds(rule: JsonObject, actual: number): boolean {
  const { value, tolerance, min, max } = rule;
  const slack = typeof tolerance === 'number' ? tolerance : 0;
  // Floating-point dust: 45.16 and 45.159999999999854 are the same number to a person.
  const dust = 1e-9 * Math.max(1, Math.abs(actual));
  if (typeof value === 'number' && Math.abs(actual - value) > slack + dust) return false;
  if (typeof min === 'number' && actual < min) return false;
  return !(typeof max === 'number' && actual > max);
}

function textOf(text: string, rule: JsonObject): string {
  const trimmed = rule.trim === true ? text.trim().replace(/\s+/g, ' ') : text;
  return (rule.ignoreCase === true ? trimmed.toLowerCase() : trimmed).normalize('NFC');
}

const isNumber = (value: Actual) => value === undefined || typeof value === 'number';
const isSwitch = (value: Actual) => value === undefined || typeof value === 'boolean';

const SHAPES: Record<MatcherKey, (rule: Json) => string | null> = {
  $any: (rule) => (rule === true ? null : '$any must be true'),
  $absent: (rule) => (typeof rule === 'boolean' ? null : '$absent must be true or false'),
  $regex: (rule) => {
    if (!isText(rule)) return '$regex must be a string';
    return regex(rule) ? null : `the pattern ${JSON.stringify(rule)} does not compile`;
  },
  $oneOf: (rule) => (Array.isArray(rule) && rule.length ? null : '$oneOf must be an array that is not empty'),
  $contains: (rule) => (Array.isArray(rule) ? null : '$contains must be an array'),
  $number: (rule) => {
    if (!isObject(rule)) return '$number must be an object with value, tolerance, min or max';
    if (!['value', 'min', 'max'].some((key) => key in rule)) return '$number needs value, min or max';
    return [rule.value, rule.tolerance, rule.min, rule.max].every(isNumber)
      ? null
      : '$number takes numbers only';
  },
  $text: (rule) => {
    if (!isObject(rule) || !isText(rule.value)) return '$text must be an object with a string as its value';
    return isSwitch(rule.ignoreCase) && isSwitch(rule.trim)
      ? null
      : 'ignoreCase and trim must be true or false';
  },
};
