/**
 * What people see of a session, as plain data: the panel, the terminal and `--json` all show this. TypeBox
 * schemas, since the panel checks every message it receives.
 */
import { type Static, Type as T } from '@sinclair/typebox';

const nullable = <S extends Parameters<typeof T.Union>[0][number]>(schema: S) => T.Union([schema, T.Null()]);

export const AlternativeView = T.Object({
  id: T.Integer(),
  text: T.String(),
  logprob: T.Number(),
});

export const TokenView = T.Object({
  /** Node of the session: what a click forks at. */
  node: T.Integer(),
  id: T.Integer(),
  text: T.String(),
  /** Nats; null where the server gave none. */
  logprob: nullable(T.Number()),
  /** Nats. */
  entropy: nullable(T.Number()),
  rank: nullable(T.Integer()),
  origin: T.Union([T.Literal('sampled'), T.Literal('chosen'), T.Literal('typed'), T.Literal('edited')]),
  /** An end token (its text is empty), or the one at which the limit cut the output. */
  end: T.Optional(T.Union([T.Literal('stop'), T.Literal('length')])),
  alternatives: T.Array(AlternativeView),
});

export const OutputView = T.Object({
  role: T.Union([T.Literal('act'), T.Literal('rehearse')]),
  /** Node of the prompt with which this output begins. */
  node: T.Integer(),
  draw: T.Integer(),
  tokens: T.Array(TokenView),
  done: T.Boolean(),
});

export const GateView = T.Object({ code: T.String(), message: T.String() });

export const ObservationView = T.Object({
  /** Node with which it stands there. */
  node: T.Integer(),
  source: T.Union([
    T.Literal('gate'),
    T.Literal('recorded'),
    T.Literal('rehearsed'),
    T.Literal('real'),
    T.Literal('edited'),
  ]),
  outcome: T.Union([T.Literal('result'), T.Literal('error')]),
  /** JSON text, or its beginning where `cut`. */
  text: T.String(),
  cut: T.Optional(T.Boolean()),
  /** One line for a folded turn. */
  summary: T.String(),
});

export const CallView = T.Object({
  index: T.Integer(),
  /** `name({…})`, or what the model wrote where it is no call. */
  text: T.String(),
  tool: nullable(T.String()),
  gate: nullable(GateView),
  /** Whether gates were checked at all (`gates: "prompt"` leaves them to the policy). */
  gatesChecked: T.Boolean(),
  rehearsal: nullable(OutputView),
  observation: nullable(ObservationView),
});

export const TurnView = T.Object({
  index: T.Integer(),
  user: nullable(T.String()),
  act: OutputView,
  /** The answer to the user, where this turn has no call. */
  answer: nullable(T.String()),
  notes: T.Array(T.String()),
  calls: T.Array(CallView),
});

export const BranchView = T.Object({
  tip: T.Integer(),
  forkedAt: nullable(T.Integer()),
  from: nullable(T.Integer()),
  turn: T.Integer(),
  role: nullable(T.Union([T.Literal('act'), T.Literal('rehearse')])),
  token: nullable(T.Integer()),
  label: T.String(),
  instead: nullable(T.String()),
  reward: nullable(T.Number()),
  done: T.Boolean(),
  tokens: T.Integer(),
  shown: T.Boolean(),
  /** Where it leaves the branch shown, and with which token. */
  leaves: nullable(T.Object({ at: T.Integer(), id: nullable(T.Integer()) })),
});

export const CheckView = T.Object({
  index: T.Integer(),
  title: T.String(),
  verdict: T.Union([T.Literal('holds'), T.Literal('fails'), T.Literal('left out'), T.Literal('unscored')]),
  reason: T.String(),
  weight: T.Number(),
  required: T.Boolean(),
  turn: T.Optional(T.Integer()),
  expected: T.Optional(T.String()),
  actual: T.Optional(T.String()),
});

export const EndView = T.Object({
  stop: T.String(),
  message: T.Optional(T.String()),
  reward: nullable(T.Number()),
  success: T.Boolean(),
  checks: T.Array(CheckView),
});

export const SessionView = T.Object({
  environment: T.String(),
  task: T.String(),
  instruction: T.String(),
  model: T.String(),
  tier: T.String(),
  contextLength: T.Integer(),
  /** Turns of the branch shown, those stored ahead of the cursor included. */
  turns: T.Array(TurnView),
  branches: T.Array(BranchView),
  /** How the branch shown ends, once it does. */
  end: nullable(EndView),
  /** Node of the cursor; tokens and observations behind it are stored ahead. */
  cursor: T.Integer(),
  tip: T.Integer(),
});

/** The other answer to a call, beside the one in the session: see `OtherAnswer` in `features/session/beside.ts`. */
export const OtherView = T.Object({
  source: T.Union([T.Literal('real'), T.Literal('rehearsed')]),
  status: T.Union([T.Literal('running'), T.Literal('done'), T.Literal('failed')]),
  outcome: nullable(T.Union([T.Literal('result'), T.Literal('error')])),
  /** The answer as text, or its beginning where `cut`. */
  text: T.String(),
  cut: T.Boolean(),
  /** Characters of all that came, where it is cut and that is known. */
  size: T.Optional(T.Integer()),
  durationMs: nullable(T.Number()),
  /** Why there is no answer. */
  failure: nullable(T.String()),
  notes: T.Array(T.String()),
  /** Once both were compared. */
  comparison: nullable(
    T.Object({
      verdict: T.Union([T.Literal('match'), T.Literal('tolerable'), T.Literal('differs')]),
      /** What does not match, the first ones. */
      fields: T.Array(
        T.Object({ path: T.String(), kind: T.String(), rehearsed: T.String(), real: T.String() }),
      ),
      /** How many there are. */
      total: T.Integer(),
    }),
  ),
  /** How unlikely the policy finds the real answer. */
  surprise: nullable(
    T.Object({
      bitsPerToken: nullable(T.Number()),
      bitsPerByte: nullable(T.Number()),
      tokens: T.Array(T.Object({ text: T.String(), bits: nullable(T.Number()), counted: T.Boolean() })),
      /** Whether there are more tokens than are shown. */
      cut: T.Boolean(),
    }),
  ),
  unscored: nullable(T.String()),
});

const BranchCall = T.Object({
  text: T.String(),
  source: nullable(ObservationView.properties.source),
  outcome: nullable(ObservationView.properties.outcome),
  answer: T.String(),
});

/** Two branches of a session, call by call. */
export const BranchesView = T.Object({
  left: T.Integer(),
  right: T.Integer(),
  rows: T.Array(
    T.Object({
      turn: T.Integer(),
      left: nullable(BranchCall),
      right: nullable(BranchCall),
      /** `call`: they ask for something else; `answer`: the same call has another answer. */
      differs: T.Union([T.Literal('no'), T.Literal('call'), T.Literal('answer'), T.Literal('alone')]),
      /** Fields of the answers that differ, the first ones. */
      fields: T.Array(T.String()),
    }),
  ),
});

export type AlternativeView = Static<typeof AlternativeView>;
export type TokenView = Static<typeof TokenView>;
export type OutputView = Static<typeof OutputView>;
export type ObservationView = Static<typeof ObservationView>;
export type CallView = Static<typeof CallView>;
export type TurnView = Static<typeof TurnView>;
export type BranchView = Static<typeof BranchView>;
export type CheckView = Static<typeof CheckView>;
export type EndView = Static<typeof EndView>;
export type SessionView = Static<typeof SessionView>;
export type OtherView = Static<typeof OtherView>;
export type BranchesView = Static<typeof BranchesView>;
