/** JSON Schema of a tool as people write it, in OpenAI's form or in MCP's. */
import { type Static, Type } from '@sinclair/typebox';
import type { JsonObject } from '../json';

// Light on purpose: completion for the usual keywords, and no verdict, since the loader compiles the schema.
const parameters = (description: string) =>
  Type.Unsafe<JsonObject>({
    type: 'object',
    description,
    properties: {
      type: { examples: ['object'] },
      properties: {
        type: 'object',
        additionalProperties: {
          properties: {
            type: { examples: ['string', 'number', 'integer', 'boolean', 'array', 'object'] },
            description: {},
            enum: {},
            items: {},
            default: {},
          },
        },
      },
      required: {},
      additionalProperties: {},
    },
    defaultSnippets: [
      { label: 'object', body: { type: 'object', properties: { $1: { type: 'string' } }, required: ['$1'] } },
    ],
  });

const PARAMETERS = 'JSON Schema of the arguments (2020-12, or the draft that its $schema names).';

export const ToolSchema = Type.Object(
  {
    type: Type.Optional(
      Type.Literal('function', { description: 'OpenAI form: the tool stands in `function`.' }),
    ),
    function: Type.Optional(
      Type.Object(
        {
          name: Type.String({ minLength: 1, description: 'Name by which the policy calls the tool.' }),
          description: Type.Optional(
            Type.String({ description: 'What the tool does; the policy reads it.' }),
          ),
          parameters: Type.Optional(parameters(PARAMETERS)),
        },
        { description: 'OpenAI form of a tool.' },
      ),
    ),
    name: Type.Optional(
      Type.String({ minLength: 1, description: 'Name by which the policy calls the tool.' }),
    ),
    description: Type.Optional(
      Type.Unsafe<string | null>({
        type: ['string', 'null'],
        description: 'What the tool does; the policy reads it.',
      }),
    ),
    parameters: Type.Optional(parameters(PARAMETERS)),
    inputSchema: Type.Optional(parameters(`MCP form: ${PARAMETERS}`)),
    annotations: Type.Optional(
      Type.Unsafe<JsonObject | null>({
        type: ['object', 'null'],
        description: 'MCP annotations; `readOnlyHint` is used.',
      }),
    ),
    readOnly: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Calling it changes nothing. Recorded answers are reused only after such calls.',
      }),
    ),
  },
  {
    description: 'A tool in OpenAI form (`function`) or in MCP form (`name`, `inputSchema`).',
    anyOf: [{ required: ['function'] }, { required: ['name'] }],
    defaultSnippets: [
      {
        label: 'tool',
        body: {
          type: 'function',
          readOnly: true,
          function: {
            name: '$1',
            description: '$2',
            parameters: { type: 'object', properties: {}, required: [] },
          },
        },
      },
    ],
  },
);

export type ToolEntry = Static<typeof ToolSchema>;
