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
  attempt: T.Integer(),
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
