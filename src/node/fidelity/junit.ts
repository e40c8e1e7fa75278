/** A comparison as a JUnit file: a suite a tool, a case a call. */
import { formatJson } from '../../core/json';
import type { PairResult, Uncompared } from './compare';

export function junitOf(
  name: string,
  pairs: readonly PairResult[],
  uncompared: readonly Uncompared[],
): string {
  const tools = [...new Set([...pairs.map(({ tool }) => tool), ...uncompared.map(({ tool }) => tool)])];
  const suites = tools.map((tool) => {
    const own = pairs.filter((pair) => pair.tool === tool);
    const broken = uncompared.filter((call) => call.tool === tool);
    const failures = own.filter(({ comparison }) => comparison.verdict === 'differs');
    const cases = [...own.map(caseOf), ...broken.map(errorOf)].join('\n');
    return `  <testsuite name="${escaped(tool || 'tasks')}" tests="${own.length + broken.length}" failures="${failures.length}" errors="${broken.length}">\n${cases}\n  </testsuite>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="${escaped(name)}">\n${suites.join('\n')}\n</testsuites>\n`;
}

function caseOf({ tool, arguments: args, task, comparison, rehearsed, real }: PairResult): string {
  const open = `    <testcase classname="${escaped(tool)}" name="${escaped(`${task ? `${task}: ` : ''}${formatJson(args)}`)}"`;
  const { first } = comparison;
  if (!first) return `${open}/>`;
  const message = `${first.path} ${first.kind}${first.label ? ` (${first.label})` : ''}`;
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
