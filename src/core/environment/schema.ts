/**
 * The environment file: the one source of its static types, of validation, and of the JSON Schema (draft-07) that
 * editors complete and check against (`scripts/generate.ts` writes it to `media/schemas`).
 */
import { type Static, type TSchema, Type } from '@sinclair/typebox';
import type { Json, JsonObject } from '../json';
import { CheckSchema } from './check-schema';
import { ExampleSchema } from './example-schema';
import { ExecutorSchema } from './executor-schema';
import { ToleranceSchema } from './tolerance-schema';
import { ToolSchema } from './tool-schema';

/** A list written in place, or the name of a file that has it. Both are offered, the list with its first item. */
function listOrFile<T extends TSchema>(items: T, description: string, examples: string[]) {
  const [item]: { label: string; body: unknown }[] = items.defaultSnippets ?? [];
  return Type.Unsafe<string | Static<T>[]>({
    type: ['string', 'array'],
    items,
    description,
    examples,
    ...(item && { defaultSnippets: [{ label: `a list with a ${item.label}`, body: [item.body] }] }),
  });
}

const text = (description: string) => Type.String({ description });
const json = (description: string) => Type.Unsafe<Json>({ description });

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
