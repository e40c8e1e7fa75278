/** Text that never changes in prompts and takes one token each: only prompts hold it, never an output. */
import {
  NO_RECORDED,
  POLICY_HEADING,
  RECORDED_HEADING,
  REHEARSE_ROLE,
  RESULT_CLOSE,
  RESULT_OPEN,
  TOOLS_HEADING,
} from '../../../src/core/conversation/prompts';
import { flightsWorld, shopWorld } from './examples';
import { properNouns } from './words';

/** How schemas begin and end wherever they are written as JSON with the usual order of keys. */
const SCHEMA = [
  '{"type": "function", "function": {"name": "',
  '", "description": "',
  '", "parameters": {"type": "object", "properties": {"',
  '": {"type": "string", "description": "',
  '": {"type": "string", "enum": ["',
  '": {"type": "string"}',
  '": {"type": "integer", "description": "',
  '": {"type": "integer"}',
  '": {"type": "number", "description": "',
  '": {"type": "number"}',
  '": {"type": "boolean", "description": "',
  '": {"type": "boolean"}',
  '"}}, "required": ["',
  '}, "required": ["',
  '"]}}}',
  '"], "additionalProperties": false}',
];

/** Names with underscores in the example environments: one token each, where a name of others is several. */
function names(): string[] {
  const found = new Set(['basic_economy', 'in_stock', 'customer_id']);
  for (const tool of [...shopWorld.tools, ...flightsWorld.tools]) {
    for (const name of [tool.name, ...Object.keys(tool.parameters.properties as object)]) found.add(name);
  }
  return [...found].filter((name) => name.includes('_'));
}

/**
 * `tags` are what a person sees as tokens of their own in outputs; `sentences` stand in prompts only; `spelled` are
 * words that stay in letters however frequent they are.
 */
export function constants(): { tags: string[]; sentences: string[]; names: string[]; spelled: string[] } {
  return {
    tags: [RESULT_OPEN, RESULT_CLOSE],
    sentences: [
      REHEARSE_ROLE.join('\n'),
      ...REHEARSE_ROLE,
      POLICY_HEADING,
      TOOLS_HEADING,
      RECORDED_HEADING,
      NO_RECORDED,
      ...SCHEMA,
    ],
    names: names(),
    spelled: properNouns(),
  };
}
