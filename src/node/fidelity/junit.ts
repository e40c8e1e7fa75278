/** A comparison as a JUnit file: a suite a tool (and model, where there are several), a case a call. */
import {
  type ComparedCall,
  type ComparisonRun,
  inOrder,
  type Uncompared,
} from '../../core/fidelity/comparison';
import { verdictOf } from '../../core/fidelity/summary';
import { formatJson } from '../../core/json';

export function junitOf(name: string, runs: readonly ComparisonRun[]): string {
  const suites = runs.flatMap((run) => suitesOf(run, runs.length > 1 ? run.model : null));
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="${escaped(name)}">\n${suites.join('\n')}\n</testsuites>\n`;
}

function suitesOf({ pairs, uncompared }: Omit<ComparisonRun, 'model'>, model: string | null): string[] {
  const tools = [...new Set([...inOrder(pairs), ...inOrder(uncompared)].map(({ tool }) => tool))];
  return tools.map((tool) => {
    const own = inOrder(pairs.filter((pair) => pair.tool === tool));
    const broken = inOrder(uncompared.filter((call) => call.tool === tool));
    const failures = own.filter(fails);
    const cases = [...own.map(caseOf), ...broken.map(errorOf)].join('\n');
    const suite = `${tool || 'tasks'}${model === null ? '' : ` (${model})`}`;
    return `  <testsuite name="${escaped(suite)}" tests="${own.length + broken.length}" failures="${failures.length}" errors="${broken.length}">\n${cases}\n  </testsuite>`;
  });
}

/** The author's word goes before what was computed, and what was not rehearsed fails nothing. */
function fails(pair: ComparedCall): boolean {
  return pair.source === 'rehearsed' && verdictOf(pair) === 'differs';
}

function caseOf(pair: ComparedCall): string {
  const { tool, arguments: args, task, comparison, rehearsed, real } = pair;
  const open = `    <testcase classname="${escaped(tool)}" name="${escaped(`${task ? `${task}: ` : ''}${formatJson(args)}`)}"`;
  if (!fails(pair)) return `${open}/>`;
  const { first } = comparison;
  const message = first
    ? `${first.path} ${first.kind}${first.label ? ` (${first.label})` : ''}`
    : 'wrong, the author says';
  const text = `rehearsed ${formatJson(rehearsed.value)}\nreal ${formatJson(real.value)}`;
  return `${open}>\n      <failure message="${escaped(message)}">${escaped(text)}</failure>\n    </testcase>`;
}

function errorOf({ tool, arguments: args, task, reason }: Uncompared): string {
  const name = escaped(`${task ? `${task}: ` : ''}${formatJson(args)}`);
  return `    <testcase classname="${escaped(tool || 'tasks')}" name="${name}">\n      <error message="${escaped(reason)}"/>\n    </testcase>`;
}

/** XML has no control characters at all, not even escaped ones. */
function escaped(text: string): string {
  return text
    .replace(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replace(/[&<>"\n\r\t]/g, (char) => `&#${char.charCodeAt(0)};`);
}
