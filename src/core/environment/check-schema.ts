/** JSON Schemas of checks: one object for each kind, published as one schema that tells them apart by `kind`. */
import { type Static, type TObject, type TUnsafe, Type } from '@sinclair/typebox';
import type { Json, JsonObject } from '../json';

const closed = { additionalProperties: false } as const;

const common = {
  id: Type.Optional(
    Type.String({ minLength: 1, description: 'By which a `judge` check of this task refers to this one.' }),
  ),
  name: Type.Optional(
    Type.String({ description: 'Name shown to people; a sentence is made where it is absent.' }),
  ),
  weight: Type.Optional(
    Type.Number({ minimum: 0, default: 1, description: 'Share of the reward among the checks of the task.' }),
  ),
  required: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Where this check fails, the reward is 0 whatever else holds.',
    }),
  ),
};

const matchers = Type.Unsafe<JsonObject>({
  type: 'object',
  description:
    'Matchers by argument name: a value, compared as it is, or {"$any": true}, {"$regex": "…"}, {"$oneOf": […]}, ' +
    '{"$number": {"value", "tolerance", "min", "max"}}, {"$text": {"value", "ignoreCase", "trim"}}, ' +
    '{"$contains": […]}, {"$absent": true}. Arguments that are not named may be anything.',
  additionalProperties: {
    defaultSnippets: [
      { label: '$any: given, whatever its value', body: { $any: true } },
      { label: '$regex: text that matches a pattern', body: { $regex: '^$1$' } },
      { label: '$oneOf: one of these', body: { $oneOf: ['$1'] } },
      { label: '$number: within bounds', body: { $number: { min: 0, max: 1 } } },
      { label: '$text: ignoring case', body: { $text: { value: '$1', ignoreCase: true } } },
      { label: '$contains: list with these items', body: { $contains: ['$1'] } },
      { label: '$absent: not given', body: { $absent: true } },
    ],
  },
});

const ExpectedCallSchema = Type.Object(
  {
    tool: Type.String({ minLength: 1, description: 'Name of a tool of this environment.' }),
    arguments: Type.Optional(matchers),
  },
  { ...closed, description: 'A call; without `arguments`, any arguments do.' },
);

const kind = <const K extends string>(name: K, description: string) => Type.Literal(name, { description });

const Calls = Type.Object(
  {
    kind: kind('calls', 'These calls are made, each by a call of its own.'),
    expected: Type.Array(ExpectedCallSchema, { description: 'Calls that must be made; empty for none.' }),
    ordered: Type.Optional(Type.Boolean({ default: true, description: 'They must come in this order.' })),
    others: Type.Optional(
      Type.Union([Type.Literal('any'), Type.Literal('reads'), Type.Literal('none')], {
        default: 'reads',
        description: 'What else may be called: anything, tools that only read, or nothing.',
      }),
    ),
    ...common,
  },
  closed,
);

const Forbidden = Type.Object(
  {
    kind: kind('forbidden', 'None of these calls is made.'),
    calls: Type.Array(ExpectedCallSchema, {
      minItems: 1,
      description: 'Calls that must not be made.',
    }),
    ...common,
  },
  closed,
);

const Answer = Type.Object(
  {
    kind: kind('answer', 'The answer has a text, matches a pattern, or satisfies a schema.'),
    contains: Type.Optional(
      Type.Unsafe<string | string[]>({
        type: ['string', 'array'],
        items: { type: 'string' },
        description: 'Texts that the answer contains, as whole words and numbers: "10" is not in "2010".',
      }),
    ),
    pattern: Type.Optional(
      Type.String({ description: 'Regular expression that the answer matches somewhere.' }),
    ),
    schema: Type.Optional(
      Type.Unsafe<JsonObject>({
        type: 'object',
        description: 'JSON Schema of the answer, which is then JSON.',
      }),
    ),
    ignoreCase: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Upper and lower case are the same to `contains` and `pattern`.',
      }),
    ),
    ...common,
  },
  closed,
);

const FromResult = Type.Object(
  {
    kind: kind('fromResult', 'The answer states a field of the last result of a tool.'),
    tool: Type.String({ minLength: 1, description: 'Name of a tool of this environment.' }),
    path: Type.String({
      description: 'JSONPath of the field in the result.',
      examples: ['$.price', '$.items[0].name'],
    }),
    ...common,
  },
  closed,
);

const MaxCalls = Type.Object(
  {
    kind: kind('maxCalls', 'At most so many calls are made.'),
    max: Type.Integer({ minimum: 0, description: 'Calls allowed, refused ones included.' }),
    ...common,
  },
  closed,
);

const FinalState = Type.Object(
  {
    kind: kind('state', 'The state at the end of a real execution is as expected; left out in rehearsal.'),
    path: Type.Optional(
      Type.String({
        description: 'JSONPath of the part that is looked at; absent means the whole state.',
        examples: ["$.orders['#W1'].status"],
      }),
    ),
    equals: Type.Unsafe<Json>({
      description:
        'The value, or a matcher. It is compared as it is: keys that are not named must not be there.',
    }),
    ...common,
  },
  closed,
);

const Command = Type.Object(
  {
    kind: kind('command', 'A program says whether a real execution is a success; left out in rehearsal.'),
    command: Type.Array(Type.String(), {
      minItems: 1,
      description:
        'Program and arguments, run in the folder of the environment. It reads one JSON object and writes one.',
      examples: [['python3', 'check.py']],
    }),
    timeoutSeconds: Type.Optional(
      Type.Number({ exclusiveMinimum: 0, maximum: 3600, default: 30, description: 'Time that it may take.' }),
    ),
    ...common,
  },
  closed,
);

const Judge = Type.Object(
  {
    kind: kind('judge', 'A model says whether something holds of the transcript.'),
    question: Type.String({ minLength: 1, description: 'What it is asked, answered with yes or no.' }),
    passCondition: Type.String({ minLength: 1, description: 'When the check holds, in words.' }),
    focusOn: Type.Optional(
      Type.String({
        description: 'Part of the transcript that decides it, in words.',
        examples: ['the last answer'],
      }),
    ),
    failureExamples: Type.Optional(
      Type.Array(Type.String(), { description: 'What it does not hold for, in words.' }),
    ),
    dependsOn: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Ids of checks of this task that must hold; where one fails, this one fails unasked.',
      }),
    ),
    ...common,
  },
  closed,
);

export const CHECK_KINDS = {
  calls: Calls,
  forbidden: Forbidden,
  answer: Answer,
  fromResult: FromResult,
  maxCalls: MaxCalls,
  state: FinalState,
  command: Command,
  judge: Judge,
} as const;

/** A check as people write it: the same as `Check`, which evaluates it. */
export type FileCheck = Static<(typeof CHECK_KINDS)[keyof typeof CHECK_KINDS]>;
/** `if kind is … then …`, so that an editor names what is wrong in that kind, and not five ways to be wrong. */
function byKind(kinds: Record<string, TObject>): TUnsafe<FileCheck> {
  const names = Object.keys(kinds);
  return Type.Unsafe<FileCheck>({
    type: 'object',
    required: ['kind'],
    properties: {
      kind: {
        enum: names,
        enumDescriptions: names.map((name) => kinds[name]!.properties.kind!.description),
        description: 'What is checked.',
      },
    },
    allOf: names.map((name) => ({
      if: { properties: { kind: { const: name } }, required: ['kind'] },
      // biome-ignore lint/suspicious/noThenProperty: `then` is JSON Schema's keyword
      then: kinds[name]!,
    })),
    defaultSnippets: [
      {
        label: 'calls',
        description: 'Expected calls',
        body: { kind: 'calls', expected: [{ tool: '$1', arguments: {} }] },
      },
      {
        label: 'forbidden',
        description: 'Forbidden calls',
        body: { kind: 'forbidden', required: true, calls: [{ tool: '$1' }] },
      },
      { label: 'answer', description: 'Text of the answer', body: { kind: 'answer', contains: '$1' } },
      {
        label: 'fromResult',
        description: 'Answer states a result',
        body: { kind: 'fromResult', tool: '$1', path: '$$.$2' },
      },
      { label: 'maxCalls', description: 'Number of calls', body: { kind: 'maxCalls', max: 5 } },
      {
        label: 'state',
        description: 'Final state of a real execution',
        body: { kind: 'state', path: '$$.$1', equals: '$2' },
      },
      { label: 'command', description: 'A program decides', body: { kind: 'command', command: ['$1'] } },
      {
        label: 'judge',
        description: 'A model decides',
        body: { kind: 'judge', question: '$1', passCondition: '$2' },
      },
    ],
  });
}

export const CheckSchema = byKind(CHECK_KINDS);
