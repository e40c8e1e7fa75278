/**
 * The REHEARSE prompt: a chat of its own, in which each user message brings what is new since the last
 * rehearsal and each assistant message is a rehearsed answer. So it only ever grows: the stable parts (role,
 * policy, tools, recorded calls) stand in the system message, earlier answers keep their sampled ids, and a
 * prefix never changes. The called tool's schema is in the list of tools above and is not repeated.
 * Source: EnvACE (arXiv 2608.06197), tool simulator; wording ours.
 */
import { holdsAtStart } from '../environment/recorded';
import type { Environment, Example, Tool } from '../environment/types';
import { formatJson, type Json } from '../json';

export const RESULT_OPEN = '<execution_result>';
export const RESULT_CLOSE = '</execution_result>';

/** Sentences are constants of their own: the embedded model's tokenizer holds each as one token. */
export const REHEARSE_ROLE = [
  'You are the tools of this environment. You get one call and answer exactly as the tool would, and say nothing else.',
  `Answer with one JSON object or array between ${RESULT_OPEN} and ${RESULT_CLOSE}.`,
  'Answer a recorded call as it was recorded. Agree with the calls and results so far.',
  'Where the tool itself would fail, answer {"error": "its message"}.',
  'Where the call is not valid JSON with a name and arguments, answer {"error_tool_call": {"code": "INVALID_TOOL_CALL_FORMAT", "message": "why"}}.',
  'Where the tool is not in the list, answer {"error_tool_call": {"code": "TOOL_NOT_AVAILABLE", "message": "why"}}.',
  'Where the arguments do not satisfy the schema, answer {"error_tool_call": {"code": "INVALID_PARAMETERS", "message": "why"}}.',
] as const;

export const POLICY_HEADING = '# What the assistant was told';
export const TOOLS_HEADING = '# Tools';
export const RECORDED_HEADING = '# Recorded calls';
export const NO_RECORDED = 'There are no recorded calls.';

/** A tool as one line of JSON: what both the REHEARSE prompt and a template without tools show. */
function toolLine(tool: Tool): string {
  return formatJson({ name: tool.name, description: tool.description, parameters: tool.parameters });
}

export function callLine(name: string, argumentsText: string): string {
  return `${name} ${argumentsText}`;
}

function exampleLines(example: Example): string {
  return `Call: ${callLine(example.tool, formatJson(example.arguments))}\nResult: ${formatJson(example.value)}`;
}

/**
 * The system message of REHEARSE. Records of other initial states would contradict this one's, and are not shown.
 * @param initial the task's own initial state; absent means the environment's
 */
export function rehearseSystem(environment: Environment, initial?: Json): string {
  const recorded = environment.examples.filter((example) => holdsAtStart(example, initial));
  return [
    REHEARSE_ROLE.join('\n'),
    ...(environment.policy ? [`${POLICY_HEADING}\n${environment.policy}`] : []),
    `${TOOLS_HEADING}\n${environment.tools.map(toolLine).join('\n')}`,
    `${RECORDED_HEADING}\n${recorded.length ? recorded.map(exampleLines).join('\n') : NO_RECORDED}`,
  ].join('\n\n');
}

/** What happened since the last rehearsal, in order. A rehearsed answer is not among it: it is in the chat. */
export type RehearseEvent =
  | { kind: 'user'; text: string }
  | { kind: 'assistant'; text: string }
  | { kind: 'call'; line: string }
  | { kind: 'result'; value: Json };

function eventLine(event: RehearseEvent): string {
  if (event.kind === 'user') return `User: ${event.text}`;
  if (event.kind === 'assistant') return `Assistant: ${event.text}`;
  if (event.kind === 'call') return `Call: ${event.line}`;
  return `Result: ${formatJson(event.value)}`;
}

/** The user message that asks for one rehearsal; its last line is always the call to answer. */
export function rehearseUser(events: readonly RehearseEvent[]): string {
  return events.map(eventLine).join('\n');
}

/** For templates that drop the tools: the system message then says what Hermes templates say. */
export function actSystemWithTools(policy: string, tools: readonly Tool[]): string {
  const list = tools
    .map((tool) => formatJson({ type: 'function', function: openAiFunction(tool) }))
    .join('\n');
  return [
    policy,
    `${TOOLS_HEADING}\n<tools>\n${list}\n</tools>`,
    'To call a tool, write its name and arguments as JSON:\n<tool_call>\n{"name": "…", "arguments": {…}}\n</tool_call>',
  ]
    .filter(Boolean)
    .join('\n\n');
}

export function openAiFunction(tool: Tool): { name: string; description: string; parameters: Json } {
  return { name: tool.name, description: tool.description, parameters: tool.parameters };
}

/** What a rehearsed answer looks like when it is written, not sampled: targets of warm start, scoring, replay. */
export function resultText(value: Json): string {
  return `${RESULT_OPEN}${formatJson(value)}${RESULT_CLOSE}`;
}

/** What an ACT call looks like in the Hermes dialect, for templates and targets. */
export function hermesCall(name: string, args: Json): string {
  return `<tool_call>\n${formatJson({ name, arguments: args })}\n</tool_call>`;
}
