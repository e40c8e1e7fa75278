/** JSON Schema of a recorded call with its real answer. */
import { type Static, Type } from '@sinclair/typebox';
import type { Json, JsonObject } from '../json';

export const ExampleSchema = Type.Object(
  {
    tool: Type.String({ minLength: 1, description: 'Name of the tool that was called.' }),
    arguments: Type.Unsafe<JsonObject>({ type: 'object', description: 'Arguments of the call.' }),
    value: Type.Unsafe<Json>({ description: 'What the tool answered.' }),
    outcome: Type.Optional(
      Type.Union([Type.Literal('result'), Type.Literal('error')], {
        description: 'Whether it is a result or an error; where absent, a value with `error` is an error.',
      }),
    ),
    state: Type.Optional(
      Type.String({
        description: "Name of the initial state it was recorded from; absent means the environment's own.",
      }),
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
    rehearsed: Type.Optional(
      Type.Unsafe<Json>({
        description: 'The rehearsed answer that the verdict is about; where absent, it is about any.',
      }),
    ),
    note: Type.Optional(Type.String({ description: 'For people.' })),
  },
  { additionalProperties: false, description: 'A recorded call with its real answer.' },
);

export type ExampleEntry = Static<typeof ExampleSchema>;
