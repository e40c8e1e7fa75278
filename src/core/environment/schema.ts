/**
 * The environment file: the one source of its static types, of validation, and of the JSON Schema (draft-07) that
 * editors complete and check against (`scripts/generate.ts` writes it to `media/schemas`).
 */
import { type Static, type TSchema, Type } from '@sinclair/typebox';
import type { Json, JsonObject } from '../json';
import { CheckSchema } from './check-schema';
import { ExecutorSchema } from './executor-schema';

/** A list written in place, or the name of a file that has it. */
function listOrFile<T extends TSchema>(items: T, description: string, examples: string[]) {
  return Type.Unsafe<string | Static<T>[]>({ type: ['string', 'array'], items, description, examples });
}

const text = (description: string) => Type.String({ description });
const json = (description: string) => Type.Unsafe<Json>({ description });

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
          description: Type.Optional(text('What the tool does; the policy reads it.')),
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

export const ExampleSchema = Type.Object(
  {
    tool: Type.String({ minLength: 1, description: 'Name of the tool that was called.' }),
    arguments: Type.Unsafe<JsonObject>({ type: 'object', description: 'Arguments of the call.' }),
    value: json('What the tool answered.'),
    outcome: Type.Optional(
      Type.Union([Type.Literal('result'), Type.Literal('error')], {
        description: 'Whether it is a result or an error; where absent, a value with `error` is an error.',
      }),
    ),
    state: Type.Optional(
      text("Name of the initial state it was recorded from; absent means the environment's own."),
    ),
    afterWrite: Type.Optional(
      Type.Boolean({ default: false, description: 'A call that writes had gone before.' }),
    ),
    part: Type.Optional(
      Type.Union([Type.Literal('train'), Type.Literal('held-out')], {
        default: 'train',
        description: 'Held-out records are never shown to the model: they measure it.',
      }),
    ),
    verdict: Type.Optional(
      Type.Union(
        [
          Type.Literal('match'),
          Type.Literal('tolerable'),
          Type.Literal('wrong rehearsal'),
          Type.Literal('real tool wrong'),
        ],
        { description: "The author's verdict; records where the real tool is wrong are not used." },
      ),
    ),
    note: Type.Optional(text('For people.')),
  },
  { additionalProperties: false, description: 'A recorded call with its real answer.' },
);

export const ToleranceSchema = Type.Object(
  {
    path: Type.String({
      minLength: 1,
      description: 'JSONPath (RFC 9535) of the fields.',
      examples: ['$.items[*].price'],
    }),
    number: Type.Optional(
      Type.Object(
        {
          absolute: Type.Optional(Type.Number({ minimum: 0, description: 'Numbers may differ by so much.' })),
          relative: Type.Optional(
            Type.Number({ minimum: 0, description: 'Numbers may differ by this share of the real one.' }),
          ),
        },
        { additionalProperties: false, description: 'Numbers may differ; numbers written as text count.' },
      ),
    ),
    time: Type.Optional(
      Type.Object(
        { seconds: Type.Number({ minimum: 0, description: 'Times may differ by so many seconds.' }) },
        { additionalProperties: false, description: 'Times (ISO 8601, RFC 2822, Unix) may differ.' },
      ),
    ),
    list: Type.Optional(
      Type.Unsafe<'set' | { key: string }>({
        description:
          '`set`: the order of items carries no meaning. `{"key": "id"}`: items are told apart by a field.',
        anyOf: [
          { const: 'set' },
          {
            type: 'object',
            properties: { key: { type: 'string' } },
            required: ['key'],
            additionalProperties: false,
          },
        ],
        examples: ['set', { key: 'id' }],
      }),
    ),
    null: Type.Optional(Type.Literal('absent', { description: '`null` and an absent field are the same.' })),
  },
  {
    additionalProperties: false,
    description: 'A difference from the real answer that passes.',
    defaultSnippets: [
      { label: 'numbers', body: { path: '$.$1', number: { absolute: 0.01 } } },
      { label: 'times', body: { path: '$.$1', time: { seconds: 60 } } },
      { label: 'a list whose order carries no meaning', body: { path: '$.$1', list: 'set' } },
    ],
  },
);

export const TaskSchema = Type.Object(
  {
    id: Type.String({ minLength: 1, description: 'Name of the task, once in an environment.' }),
    instruction: Type.String({ minLength: 1, description: "The user's first message." }),
    user: Type.Optional(
      Type.Unsafe<string | string[]>({
        type: ['string', 'array'],
        items: { type: 'string' },
        description: 'Further messages of the user, given in this order whenever the policy answers.',
      }),
    ),
    state: Type.Optional(json('Initial state of real executions: a file or a value.')),
    checks: Type.Array(CheckSchema, { description: 'What makes a rollout a success.' }),
    maxTurns: Type.Optional(Type.Integer({ minimum: 1, description: 'Limit of turns for this task.' })),
  },
  {
    additionalProperties: false,
    description: 'A task.',
    defaultSnippets: [
      {
        label: 'task',
        body: { id: '$1', instruction: '$2', checks: [{ kind: 'calls', expected: [{ tool: '$3' }] }] },
      },
    ],
  },
);

export const DEFAULTS = {
  gates: 'check',
  reuseExamples: true,
  reasoning: 'keep',
  onGateFailed: 'continue',
  maxTurns: 30,
  limits: { act: 1024, rehearse: 1024 },
} as const;

const limit = (role: string, value: number) =>
  Type.Optional(
    Type.Integer({ minimum: 1, default: value, description: `Tokens that one ${role} output may have.` }),
  );

export const EnvironmentSchema = Type.Object(
  {
    $schema: Type.Optional(text('Ignored: the schema comes with the product and is never fetched.')),
    name: Type.Optional(text("Name of the environment; where absent, the file's.")),
    policy: Type.Optional(
      Type.String({
        description: 'System prompt of the policy: text, or the name of a .md or .txt file without spaces.',
        examples: ['policy.md'],
      }),
    ),
    tools: Type.Optional(
      listOrFile(
        ToolSchema,
        'Tools in OpenAI or MCP form, or the name of a file that has them. An MCP executor brings its own where absent.',
        ['tools.json'],
      ),
    ),
    executor: Type.Optional(ExecutorSchema),
    examples: Type.Optional(
      listOrFile(ExampleSchema, 'Recorded calls with their answers, or the name of a .jsonl or .json file.', [
        'calls.jsonl',
      ]),
    ),
    ignore: Type.Optional(
      Type.Array(Type.String({ examples: ['$.id'] }), {
        description: 'JSONPath of fields that may differ between a rehearsed and a real answer.',
      }),
    ),
    tolerances: Type.Optional(
      Type.Array(ToleranceSchema, {
        description: 'How else a rehearsed answer may differ from the real one.',
      }),
    ),
    tasks: Type.Optional(
      listOrFile(TaskSchema, 'Tasks, or the name of a .jsonl or .json file.', ['tasks.jsonl']),
    ),
    gates: Type.Optional(
      Type.Union([Type.Literal('check'), Type.Literal('prompt')], {
        default: DEFAULTS.gates,
        description:
          '`check`: format, tool and arguments are checked first. `prompt`: the policy has to refuse by itself.',
      }),
    ),
    reuseExamples: Type.Optional(
      Type.Boolean({
        default: DEFAULTS.reuseExamples,
        description: 'Answer from an example with equal arguments, word for word.',
      }),
    ),
    reasoning: Type.Optional(
      Type.Union([Type.Literal('keep'), Type.Literal('drop')], {
        default: DEFAULTS.reasoning,
        description: "Whether earlier reasoning stays in the policy's history.",
      }),
    ),
    onGateFailed: Type.Optional(
      Type.Union([Type.Literal('continue'), Type.Literal('stop')], {
        default: DEFAULTS.onGateFailed,
        description: 'Whether a refused call ends the rollout.',
      }),
    ),
    maxTurns: Type.Optional(
      Type.Integer({ minimum: 1, default: DEFAULTS.maxTurns, description: 'Limit of turns.' }),
    ),
    limits: Type.Optional(
      Type.Object(
        { act: limit('ACT', DEFAULTS.limits.act), rehearse: limit('REHEARSE', DEFAULTS.limits.rehearse) },
        { additionalProperties: false, description: 'Token limits of outputs.' },
      ),
    ),
  },
  {
    additionalProperties: false,
    title: 'Rehearsal environment',
    description: 'Tools, recorded calls and tasks in which a policy rehearses.',
  },
);

/** The file as people write it. */
export type EnvironmentFile = Static<typeof EnvironmentSchema>;
export type ToolEntry = Static<typeof ToolSchema>;
export type ExampleEntry = Static<typeof ExampleSchema>;
export type TaskEntry = Static<typeof TaskSchema>;

/** The JSON Schema that editors use. */
export function publishedSchema(): JsonObject {
  // TypeBox keeps its own marks under symbols, which JSON does not have.
  const schema = JSON.parse(JSON.stringify(EnvironmentSchema)) as JsonObject;
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    ...schema,
    allowTrailingCommas: true,
    allowComments: true,
  };
}
