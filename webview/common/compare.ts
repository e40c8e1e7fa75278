/**
 * Messages between the extension and the compare page. Figures and rows are made by the extension; the page asks for
 * what a person looks at, so that thousands of calls cost what is shown of them.
 */
import { type Static, Type as T } from '@sinclair/typebox';
import { AuthorVerdict, ComparisonView, Kind, PairView, RowView } from '../../src/core/fidelity/view.types';

const nullable = <S extends Parameters<typeof T.Union>[0][number]>(schema: S) => T.Union([schema, T.Null()]);

/** How the comparison stands, and what can be done with it now. */
export const CompareHead = T.Object({
  status: T.Union([T.Literal('running'), T.Literal('done'), T.Literal('cancelled')]),
  /** "12 of 40 calls, nano" while it runs, else what ended it early. */
  progress: T.String(),
  /** From 0 to 1, null where it is not known. */
  share: nullable(T.Number()),
  error: T.Optional(
    T.Object({ message: T.String(), action: T.Optional(T.Object({ title: T.String(), id: T.String() })) }),
  ),
  /** Tools that were changed since, and what follows from it; null where the figures are of what is there now. */
  stale: nullable(T.String()),
  /** Why no other model can be compared on these calls, or null where one can. */
  noModel: nullable(T.String()),
  /** Why verdicts cannot be written, or null. */
  readOnly: nullable(T.String()),
});

export const RowFilter = T.Object({
  side: T.Integer({ minimum: 0 }),
  tool: T.Optional(T.String()),
  field: T.Optional(T.String()),
  kind: T.Optional(Kind),
  show: T.Optional(
    T.Unsafe<'differs' | 'tolerable' | 'match' | 'unjudged' | 'judged' | 'uncompared'>({
      type: 'string',
      enum: ['differs', 'tolerable', 'match', 'unjudged', 'judged', 'uncompared'],
    }),
  ),
  real: T.Optional(T.String()),
  rehearsed: T.Optional(T.String()),
  text: T.Optional(T.String()),
});

export const ToCompare = T.Union([
  T.Object({ type: T.Literal('comparison'), view: ComparisonView, head: CompareHead }),
  T.Object({ type: T.Literal('head'), head: CompareHead }),
  /** Rows that are new or have changed; there are `total`. */
  T.Object({ type: T.Literal('rows'), total: T.Integer(), rows: T.Array(RowView) }),
  /** The rows that fit the filter with this number. */
  T.Object({ type: T.Literal('list'), filter: T.Integer(), ids: T.Array(T.Integer()) }),
  /** Null where this model was not compared on this call. */
  T.Object({
    type: T.Literal('pair'),
    id: T.Integer(),
    side: T.Integer(),
    pair: nullable(PairView),
    /** Why there is none. */
    reason: T.String(),
  }),
]);

const call = T.Object({ id: T.Integer({ minimum: 0 }), side: T.Integer({ minimum: 0 }) });
const tool = T.Object({ tool: T.String() });

export const FromCompare = T.Union([
  T.Object({ type: T.Literal('ready') }),
  /** Answered by `list` with the same number. */
  T.Object({ type: T.Literal('filter'), number: T.Integer(), filter: RowFilter }),
  T.Composite([call, T.Object({ type: T.Literal('pair') })]),
  /** Opens the two answers in the editor's own diff. */
  T.Composite([call, T.Object({ type: T.Literal('diff') })]),
  T.Composite([
    call,
    T.Object({ type: T.Literal('verdict'), verdict: nullable(AuthorVerdict), note: T.String() }),
  ]),
  /** Records the real answer as an example. */
  T.Composite([call, T.Object({ type: T.Literal('record') })]),
  /** Records the real answers of all calls of a tool that differ. */
  T.Composite([tool, T.Object({ type: T.Literal('recordAll'), side: T.Integer({ minimum: 0 }) })]),
  T.Object({ type: T.Literal('ignore'), path: T.String() }),
  /** Opens the session, or starts one of the task, that the call is from. */
  T.Composite([call, T.Object({ type: T.Literal('debug') })]),
  /** To the tool in the environment file. */
  T.Composite([tool, T.Object({ type: T.Literal('tool') })]),
  T.Object({ type: T.Literal('again') }),
  T.Object({ type: T.Literal('cancel') }),
  T.Object({ type: T.Literal('addModel') }),
  T.Object({ type: T.Literal('export'), format: T.Union([T.Literal('json'), T.Literal('junit')]) }),
  /** The button of an error. */
  T.Object({ type: T.Literal('action'), id: T.String() }),
]);

export type CompareHead = Static<typeof CompareHead>;
export type RowFilter = Static<typeof RowFilter>;
export type ToCompare = Static<typeof ToCompare>;
export type FromCompare = Static<typeof FromCompare>;
