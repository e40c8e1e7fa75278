/** What a check is called where its author gave it no name. */
import { formatJson } from '../json';
import type { Check, ExpectedCall } from './types';

export function titleOf(check: Check): string {
  if (check.name) return check.name;
  switch (check.kind) {
    case 'calls':
      return check.expected.length
        ? `calls ${check.expected.map(callTitle).join(', then ')}`
        : 'calls nothing else';
    case 'forbidden':
      return `never calls ${check.calls.map(callTitle).join(' or ')}`;
    case 'maxCalls':
      return `at most ${check.max} calls`;
    case 'fromResult':
      return `answer states ${check.path} of ${check.tool}`;
    case 'state':
      return `final state${check.path ? ` ${check.path}` : ''} is ${formatJson(check.equals).slice(0, 100)}`;
    case 'judge':
      return check.question;
    case 'command':
      return check.command.join(' ');
    case 'answer':
      return `answer ${answerTitle(check)}`;
    default:
      return 'check';
  }
}

function answerTitle(check: Extract<Check, { kind: 'answer' }>): string {
  const parts: string[] = [];
  if (check.contains !== undefined)
    parts.push(
      `contains ${[check.contains]
        .flat()
        .map((s) => JSON.stringify(s))
        .join(', ')}`,
    );
  if (check.pattern !== undefined) parts.push(`matches /${check.pattern}/`);
  if (check.schema) parts.push('satisfies its schema');
  return parts.join(' and ') || 'is there';
}

export function callTitle(call: ExpectedCall): string {
  return call.arguments ? `${call.tool}(${formatJson(call.arguments)})` : call.tool;
}
