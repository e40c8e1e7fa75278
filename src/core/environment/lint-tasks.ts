/** What is wrong with a task beyond its schema. */
import { isObject, type JsonObject } from '../json';
import { isPath } from '../jsonpath';
import { mayRunLong, patternsIn as patternsOfSchema } from '../patterns';
import { matcherKey, matcherProblem } from '../reward/matchers';
import { regex } from '../reward/text';
import type { Check, ExpectedCall, Matcher } from '../reward/types';
import { type Report, toolNames } from './diagnostics';
import { compileSchema } from './json-schema';
import type { Entry, Path } from './source';
import type { Task, Tool } from './types';

type Tools = ReadonlyMap<string, Tool>;

export function lintTask(task: Task, entry: Entry, tools: Tools, report: Report): void {
  const checks = entry.child(['checks'])!.items();
  task.checks.forEach((check, i) => {
    lintCheck(check, checks[i]!, tools, report);
  });
  lintDependences(task.checks, checks, report);
  const counting = task.checks.filter((check) => check.required || (check.weight ?? 1) > 0);
  const place = entry.keyPlace(['checks']);
  if (!counting.some((check) => canFail(check))) {
    const why = !task.checks.length
      ? 'it has no checks'
      : counting.length
        ? 'its checks always hold'
        : 'all its checks have weight 0';
    report.warning(
      place,
      'cannot-fail',
      `Task ${task.id} says nothing about a rollout: ${why}.`,
      'Add a check that can fail.',
    );
  } else if (counting.every((check) => check.kind === 'fromResult')) {
    const message = `Task ${task.id} can be pleased: its only checks compare the answer with results that the policy may have rehearsed itself.`;
    report.warning(place, 'can-be-pleased', message, 'Add a check of kind "calls" or "forbidden".');
  }
}

/** Ids that stand twice, and dependences on what is no check or comes round in a circle. */
function lintDependences(checks: readonly Check[], entries: readonly Entry[], report: Report): void {
  const ids = new Map<string, Check>();
  checks.forEach((check, i) => {
    if (check.id === undefined) return;
    if (ids.has(check.id)) {
      const message = `There is already a check ${JSON.stringify(check.id)} in this task; the first one is meant.`;
      report.warning(entries[i]!.place(['id']), 'duplicate-check', message, 'Give it another id.');
    } else ids.set(check.id, check);
  });
  const reaches = (from: Check, wanted: Check, seen = new Set<Check>()): boolean => {
    if (from.kind !== 'judge' || seen.has(from)) return false;
    seen.add(from);
    return (from.dependsOn ?? []).some((id) => {
      const next = ids.get(id);
      return next !== undefined && (next === wanted || reaches(next, wanted, seen));
    });
  };
  checks.forEach((check, i) => {
    if (check.kind !== 'judge') return;
    check.dependsOn?.forEach((id, at) => {
      if (ids.has(id)) return;
      const known = [...ids.keys()].join(', ') || 'none';
      const message = `This check depends on ${JSON.stringify(id)}, which is no check of this task; it cannot be scored.`;
      report.error(entries[i]!.place(['dependsOn', at]), 'unknown-check', message, `Ids are: ${known}.`);
    });
    if (reaches(check, check))
      report.error(
        entries[i]!.place(['dependsOn']),
        'circular-check',
        'This check depends on itself, over others; it cannot be scored.',
        'Remove one of the dependences.',
      );
  });
}

function canFail(check: Check): boolean {
  switch (check.kind) {
    case 'calls':
      return check.expected.length > 0 || check.others !== 'any';
    case 'answer':
      return (
        [check.contains ?? []].flat().some((text) => text.trim()) ||
        check.pattern !== undefined ||
        !!check.schema
      );
    default:
      return true;
  }
}

function lintCheck(check: Check, entry: Entry, tools: Tools, report: Report): void {
  if (check.kind === 'calls') {
    check.expected.forEach((call, i) => {
      lintCall(call, entry, ['expected', i], tools, report);
    });
  } else if (check.kind === 'forbidden') {
    check.calls.forEach((call, i) => {
      lintCall(call, entry, ['calls', i], tools, report);
    });
  } else if (check.kind === 'fromResult') {
    if (!tools.has(check.tool)) unknownTool(check.tool, entry, ['tool'], tools, report);
    if (!isPath(check.path)) {
      const message = `${JSON.stringify(check.path)} is not a path such as $.items[0].price; the check cannot be scored.`;
      report.error(entry.place(['path']), 'path', message, 'Correct the path.');
    }
  } else if (check.kind === 'answer') lintAnswer(check, entry, report);
  else if (check.kind === 'state') lintState(check, entry, report);
}

function lintState(check: Extract<Check, { kind: 'state' }>, entry: Entry, report: Report): void {
  if (check.path !== undefined && !isPath(check.path)) {
    const message = `${JSON.stringify(check.path)} is not a path such as $.orders; the check cannot be scored.`;
    report.error(entry.place(['path']), 'path', message, 'Correct the path.');
  }
  const problem = matcherProblem(check.equals);
  if (problem) report.error(entry.place(['equals']), 'matcher', `${problem}.`, 'Correct the matcher.');
}

function lintAnswer(check: Extract<Check, { kind: 'answer' }>, entry: Entry, report: Report): void {
  if (check.pattern !== undefined) lintPattern(check.pattern, entry, ['pattern'], report);
  const compiled = check.schema ? compileSchema(check.schema) : null;
  if (compiled && !compiled.ok) {
    const message = `The schema of the answer does not compile, so the check cannot be scored: ${compiled.problem}.`;
    report.error(entry.place(['schema']), 'answer-schema', message, 'Correct the schema.');
  }
  for (const pattern of patternsOfSchema(check.schema)) warnOfSlow(pattern, '', entry, ['schema'], report);
}

function lintPattern(pattern: string, entry: Entry, path: Path, report: Report): void {
  if (!regex(pattern)) {
    report.error(
      entry.place(path),
      'pattern',
      `The pattern /${pattern}/ does not compile.`,
      'Correct the pattern.',
    );
  } else warnOfSlow(pattern, '', entry, path, report);
}

/** @param whose `' of …'`, where the place does not say it */
export function warnOfSlow(pattern: string, whose: string, entry: Entry, path: Path, report: Report): void {
  const reason = mayRunLong(pattern);
  if (!reason) return;
  const message = `The pattern /${pattern}/${whose} ${reason} and may take very long on some texts.`;
  const advice =
    'Write it so that each text can match in one way only, without a repetition inside a repetition.';
  report.warning(entry.place(path), 'slow-pattern', message, advice);
}

function unknownTool(name: string, entry: Entry, path: Path, tools: Tools, report: Report): void {
  const message = `This check names the tool ${JSON.stringify(name)}, which the environment does not have.`;
  report.error(entry.place(path), 'unknown-tool', message, toolNames(tools.keys()));
}

function lintCall(call: ExpectedCall, entry: Entry, path: Path, tools: Tools, report: Report): void {
  const tool = tools.get(call.tool);
  if (!tool) {
    unknownTool(call.tool, entry, [...path, 'tool'], tools, report);
    return;
  }
  const args = (call.arguments ?? {}) as JsonObject;
  const known = knownArguments(tool.parameters);
  for (const [name, matcher] of Object.entries(args)) {
    const at = [...path, 'arguments', name];
    const problem = matcherProblem(matcher);
    if (problem)
      report.error(
        entry.place(at),
        'matcher',
        `This matcher of ${name} never holds: ${problem}.`,
        'Correct the matcher.',
      );
    for (const pattern of patternsIn(matcher)) if (regex(pattern)) lintPattern(pattern, entry, at, report);
    if (known && !known.has(name)) {
      const message = `${tool.name} has no argument ${JSON.stringify(name)}.`;
      report.warning(
        entry.keyPlace(at),
        'unknown-argument',
        message,
        `Its arguments are: ${[...known].join(', ') || 'none'}.`,
      );
    }
  }
  if (call.arguments) lintValues(args, tool, entry, [...path, 'arguments'], report);
}

/** Names that a schema declares, or null where it allows others on purpose or the names stand elsewhere. */
function knownArguments(schema: JsonObject): Set<string> | null {
  const open = schema.additionalProperties;
  const elsewhere = ['patternProperties', '$ref', 'allOf', 'anyOf', 'oneOf'].some(
    (keyword) => keyword in schema,
  );
  if (elsewhere || open === true || isObject(open)) return null;
  return new Set(isObject(schema.properties) ? Object.keys(schema.properties) : []);
}

/** Expected values that the schema refuses: a call with them never passes the gate. The check runs all the same. */
function lintValues(args: JsonObject, tool: Tool, entry: Entry, path: Path, report: Report): void {
  const schema = compileSchema(tool.parameters);
  if (!schema.ok) return;
  const literal = Object.fromEntries(Object.entries(args).filter(([, value]) => !hasMatcher(value)));
  for (const violation of schema.validate(literal)) {
    const [name] = violation.path.slice(1).split('/');
    if (!name || violation.keyword === 'required') continue; // what is not named may still be given
    const where = violation.path.slice(1).replace(/\//g, '.');
    const message = `This value is not allowed by the schema of ${tool.name}: ${where} ${violation.message}.`;
    report.warning(
      entry.place([...path, name]),
      'expected-value',
      message,
      'Correct the value or the schema.',
    );
  }
}

function hasMatcher(value: Matcher): boolean {
  if (matcherKey(value)) return true;
  return typeof value === 'object' && value !== null && Object.values(value).some(hasMatcher);
}

function patternsIn(matcher: Matcher): string[] {
  if (typeof matcher !== 'object' || matcher === null) return [];
  if (matcherKey(matcher) === '$regex')
    return [(matcher as JsonObject).$regex].filter((p) => typeof p === 'string');
  return Object.values(matcher).flatMap(patternsIn);
}
