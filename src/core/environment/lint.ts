/** What is wrong with an environment beyond its schema: things that do not fit one another. */
import { equalJson, isObject, type Json } from '../json';
import { isPath } from '../jsonpath';
import { type Report, toolNames } from './diagnostics';
import { compileSchema } from './json-schema';
import { lintTask } from './lint-tasks';
import type { Entry } from './source';
import type { Environment, Example, Tool } from './types';

export interface LintInput {
  environment: Environment;
  root: Entry;
  /** In the order of the environment's tasks. */
  tasks: Entry[];
  /** In the order of the environment's examples. */
  examples: Entry[];
}

export function lintEnvironment(input: LintInput, report: Report): void {
  const { environment, root } = input;
  const tools = new Map(environment.tools.map((tool) => [tool.name, tool]));
  environment.ignore.forEach((path, i) => {
    if (isPath(path)) return;
    const message = `${JSON.stringify(path)} is not a path such as $.items[*].id; it ignores nothing.`;
    report.warning(root.place(['ignore', i]), 'path', message, 'Correct the path.');
  });
  environment.tolerances?.forEach(({ path }, i) => {
    if (isPath(path)) return;
    const message = `${JSON.stringify(path)} is not a path such as $.items[*].price; it tolerates nothing.`;
    report.warning(root.place(['tolerances', i, 'path']), 'path', message, 'Correct the path.');
  });
  lintExamples(environment.examples, input.examples, tools, report);
  environment.tasks.forEach((task, i) => {
    lintTask(task, input.tasks[i]!, tools, report);
  });
}

/** @param entries in the order of the examples */
export function lintExamples(
  examples: Example[],
  entries: Entry[],
  tools: ReadonlyMap<string, Tool>,
  report: Report,
): void {
  examples.forEach((example, i) => {
    lintExample(example, entries[i]!, tools, report);
  });
  lintContradictions(examples, entries, report);
}

function lintExample(example: Example, entry: Entry, tools: ReadonlyMap<string, Tool>, report: Report): void {
  const tool = tools.get(example.tool);
  if (!tool) {
    const message = `This recorded call names the tool ${JSON.stringify(example.tool)}, which the environment does not have.`;
    report.warning(entry.place(['tool']), 'unknown-tool', message, toolNames(tools.keys()));
    return;
  }
  const schema = compileSchema(tool.parameters);
  // An error may well have been recorded because the arguments were wrong.
  if (!schema.ok || example.outcome === 'error') return;
  const [first] = schema.validate(example.arguments);
  if (!first) return;
  const where = first.path ? ` ${first.path.slice(1).replace(/\//g, '.')}` : '';
  const message = `This recorded call contradicts the schema of ${tool.name}:${where} ${first.message}.`;
  report.warning(entry.place(['arguments']), 'example-schema', message, 'Correct the record or the schema.');
}

/** Two records of one call that answer differently: only the first can be reused. */
function lintContradictions(examples: Example[], entries: Entry[], report: Report): void {
  const first = new Map<string, Example>();
  examples.forEach((example, i) => {
    if (example.afterWrite || example.part === 'held-out' || example.verdict === 'real tool wrong') return;
    const key = canonical([example.tool, example.arguments, example.state ?? null]);
    const earlier = first.get(key);
    if (!earlier) first.set(key, example);
    else if (!equalJson(earlier.value, example.value)) {
      const message = `Another record of this call of ${example.tool} has a different answer; only the first one is reused.`;
      report.warning(
        entries[i]!.place(),
        'contradicting-examples',
        message,
        'Remove one, or mark it "afterWrite".',
      );
    }
  });
}

/** One text for equal values, whatever the order of keys. */
function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key]!)}`).join()}}`;
}
