/**
 * What people see of a comparison, as plain data for the compare page. TypeBox schemas, since the page checks every
 * message it receives.
 */
import { type Static, Type as T } from '@sinclair/typebox';

const nullable = <S extends Parameters<typeof T.Union>[0][number]>(schema: S) => T.Union([schema, T.Null()]);
const literals = <const L extends readonly string[]>(names: L) =>
  T.Unsafe<L[number]>({ type: 'string', enum: [...names] });

export const KINDS = ['match', 'tolerable', 'differs', 'missing', 'extra'] as const;
export const AUTHOR_VERDICTS = ['match', 'tolerable', 'wrong rehearsal', 'real tool wrong'] as const;

export const Kind = literals(KINDS);
export const VerdictView = literals(['match', 'tolerable', 'differs']);
export const AuthorVerdict = literals(AUTHOR_VERDICTS);

export const ShareView = T.Object({
  good: T.Integer(),
  n: T.Integer(),
  share: nullable(T.Number()),
  low: T.Number(),
  high: T.Number(),
});

export const SurpriseView = T.Object({
  bits: T.Number(),
  tokens: T.Integer(),
  bytes: T.Integer(),
  gaps: T.Integer(),
  bitsPerToken: nullable(T.Number()),
  bitsPerByte: nullable(T.Number()),
});

export const CountsView = T.Object({
  match: T.Integer(),
  tolerable: T.Integer(),
  differs: T.Integer(),
  missing: T.Integer(),
  extra: T.Integer(),
});

export const FieldView = T.Object({ field: T.String(), counts: CountsView, fidelity: ShareView });

export const ToolView = T.Object({
  tool: T.String(),
  fidelity: ShareView,
  outcomes: ShareView,
  fields: T.Array(FieldView),
  /** Fields that are not among `fields`, since there are too many to look at; all of them match everywhere. */
  more: T.Integer(),
  surprise: nullable(SurpriseView),
  /** Pairs of this tool that differ and whose real answer is not among the examples yet. */
  recordable: T.Integer(),
});

export const ConfusionView = T.Object({ real: T.String(), rehearsed: T.String(), n: T.Integer() });

export const AnticipationView = T.Object({
  recall: ShareView,
  precision: ShareView,
  sameError: ShareView,
  confusion: T.Array(ConfusionView),
});

/** One model's figures. */
export const SideView = T.Object({
  model: T.String(),
  fidelity: ShareView,
  outcomes: ShareView,
  verdicts: T.Object({ match: T.Integer(), tolerable: T.Integer(), differs: T.Integer() }),
  tools: T.Array(ToolView),
  anticipation: AnticipationView,
  surprise: nullable(SurpriseView),
  /** Why there is no surprise, where there is none. */
  noSurprise: nullable(T.String()),
  unscored: T.Integer(),
  /** Calls that count for nothing, since the real tool is wrong, the author says. */
  leftOut: T.Integer(),
  /** Calls whose answer was not rehearsed: a gate's, a recorded or an edited one. */
  notRehearsed: T.Integer(),
  uncompared: T.Integer(),
  /** How often the author gave each verdict. */
  author: T.Array(T.Object({ verdict: AuthorVerdict, n: T.Integer() })),
  /** Pairs that differ by what was computed. */
  differing: T.Integer(),
});

export const DifferenceView = T.Object({
  value: T.Number(),
  low: T.Number(),
  high: T.Number(),
  n: T.Integer(),
});

export const ModelsView = T.Object({
  models: T.Array(T.String()),
  calls: T.Integer(),
  fidelity: T.Array(ShareView),
  surprise: T.Array(nullable(SurpriseView)),
  anticipation: T.Array(AnticipationView),
  tools: T.Array(
    T.Object({
      tool: T.String(),
      fidelity: T.Array(ShareView),
      surprise: T.Array(nullable(SurpriseView)),
    }),
  ),
  differences: T.Array(
    T.Object({
      model: T.String(),
      onlyFirst: T.Integer(),
      onlyThis: T.Integer(),
      fidelity: nullable(DifferenceView),
      bitsPerByte: nullable(DifferenceView),
    }),
  ),
});

export const ComparisonView = T.Object({
  environment: T.String(),
  /** What was compared: "2 held-out records". */
  what: T.String(),
  /** ISO 8601. */
  created: T.String(),
  sides: T.Array(SideView),
  /** Null for one model. */
  beside: nullable(ModelsView),
});

/** One model's answer to a call, in the list. */
export const CellView = T.Object({
  /** What counts: the author's word before what was computed; null where it counts for nothing. */
  verdict: nullable(VerdictView),
  author: nullable(AuthorVerdict),
  /** First difference: `$.status differs`. */
  first: nullable(T.Object({ path: T.String(), kind: Kind })),
  /** Bits per token of the real answer. */
  bits: nullable(T.Number()),
  /** Why it is not compared, or counts for nothing. */
  note: nullable(T.String()),
});

export const RowView = T.Object({
  /** Place of the call among all, from 0. */
  id: T.Integer(),
  tool: T.String(),
  /** JSON text, cut where it is long. */
  arguments: T.String(),
  task: nullable(T.String()),
  /** `result`, or which error the real tool answered. */
  outcome: nullable(T.String()),
  /** In the order of the models; null where this model was not asked. */
  cells: T.Array(nullable(CellView)),
});

export const FieldRow = T.Object({
  path: T.String(),
  /** The same for every item of a list. */
  field: T.String(),
  kind: Kind,
  /** JSON text, cut where it is long; null where that side has it not. */
  rehearsed: nullable(T.String()),
  real: nullable(T.String()),
  label: nullable(T.String()),
});

export const MarkView = T.Object({
  text: T.String(),
  bits: nullable(T.Number()),
  counted: T.Boolean(),
});

export const PairView = T.Object({
  id: T.Integer(),
  side: T.Integer(),
  tool: T.String(),
  arguments: T.String(),
  task: nullable(T.String()),
  /** 0-based, of the call in its task. */
  index: T.Integer(),
  source: T.String(),
  recorded: T.Boolean(),
  afterWrite: T.Boolean(),
  durationMs: nullable(T.Number()),
  notes: T.Array(T.String()),
  verdict: nullable(VerdictView),
  computed: VerdictView,
  author: nullable(AuthorVerdict),
  note: T.String(),
  outcome: T.Object({ rehearsed: T.String(), real: T.String(), same: T.Boolean() }),
  first: nullable(T.String()),
  fields: T.Array(FieldRow),
  /** Fields that are not among `fields`. */
  moreFields: T.Integer(),
  /** The model's own text, where it could not be read. */
  raw: nullable(T.String()),
  /** Tokens of the real answer; the wrapper's are not counted. */
  marks: T.Array(MarkView),
  moreMarks: T.Integer(),
  surprise: nullable(SurpriseView),
  unscored: nullable(T.String()),
  /** The real answer stands among the examples already. */
  isExample: T.Boolean(),
});

export type ComparisonView = Static<typeof ComparisonView>;
export type SideView = Static<typeof SideView>;
export type ToolView = Static<typeof ToolView>;
export type FieldView = Static<typeof FieldView>;
export type ShareView = Static<typeof ShareView>;
export type SurpriseView = Static<typeof SurpriseView>;
export type ModelsView = Static<typeof ModelsView>;
export type DifferenceView = Static<typeof DifferenceView>;
export type AnticipationView = Static<typeof AnticipationView>;
export type RowView = Static<typeof RowView>;
export type CellView = Static<typeof CellView>;
export type PairView = Static<typeof PairView>;
export type FieldRow = Static<typeof FieldRow>;
export type MarkView = Static<typeof MarkView>;
export type Kind = Static<typeof Kind>;
export type AuthorVerdict = Static<typeof AuthorVerdict>;
