/** JSON Schema of what a rehearsed answer may differ in. */
import { Type } from '@sinclair/typebox';

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
