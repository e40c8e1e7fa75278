/**
 * Messages between the extension and its webviews: one union for each direction, checked on receipt at both
 * ends. Validators are generated at build (`scripts/generate.ts`), since a webview's CSP forbids `new Function`.
 */
import { type Static, Type as T } from '@sinclair/typebox';
import {
  BranchesView,
  BranchView,
  EndView,
  OtherView,
  SessionView,
  TokenView,
  TurnView,
} from '../../src/core/rehearsal/view.types';

/** What the head of the panel shows, and which buttons work. */
export const Head = T.Object({
  status: T.Union([T.Literal('stopped'), T.Literal('running'), T.Literal('ended'), T.Literal('failed')]),
  /** Why it stopped, in words: "Stopped at turn 3, token 12". */
  reason: T.String(),
  /** The error to show, with what to do next, when `status` is failed. */
  error: T.Optional(
    T.Object({ message: T.String(), action: T.Optional(T.Object({ title: T.String(), id: T.String() })) }),
  ),
  /** Tokens of this session sampled so far, all branches. */
  tokens: T.Integer(),
  /** Tokens of the current prompt and output. */
  contextUsed: T.Integer(),
  /** Time it has run since it was opened, in seconds. */
  seconds: T.Number(),
  cursor: T.Integer(),
  canStepBack: T.Boolean(),
});

const observationsFrom = T.Union([T.Literal('rehearse'), T.Literal('real')]);

export const ToSession = T.Union([
  /** Everything: on opening, after a fork, after moving to another branch. */
  T.Object({ type: T.Literal('session'), view: SessionView, head: Head }),
  /** Tokens appended to the output that is being written (the last of the last turn). */
  T.Object({
    type: T.Literal('tokens'),
    turn: T.Integer(),
    call: T.Union([T.Integer(), T.Null()]),
    tokens: T.Array(TokenView),
    head: Head,
  }),
  /** One turn is new or has changed. */
  T.Object({
    type: T.Literal('turn'),
    turn: TurnView,
    branches: T.Array(BranchView),
    end: T.Union([EndView, T.Null()]),
    tip: T.Integer(),
    head: Head,
  }),
  /** The cursor moved on the branch shown, or the status changed. */
  T.Object({ type: T.Literal('head'), head: Head }),
  /** The other answer to the call that was answered at a node; null where there is none any more. */
  T.Object({ type: T.Literal('other'), node: T.Integer(), other: T.Union([OtherView, T.Null()]) }),
  /** Who answers the next calls, and why nothing can be executed, if so. */
  T.Object({
    type: T.Literal('tools'),
    observations: observationsFrom,
    unavailable: T.Union([T.String(), T.Null()]),
  }),
  /** Two branches to be shown side by side. */
  T.Object({ type: T.Literal('branches'), view: BranchesView }),
]);

const node = T.Object({ node: T.Integer() });

export const FromSession = T.Union([
  T.Object({ type: T.Literal('ready') }),
  T.Object({
    type: T.Literal('step'),
    step: T.Union([
      T.Literal('token'),
      T.Literal('output'),
      T.Literal('turn'),
      T.Literal('continue'),
      T.Literal('pause'),
      T.Literal('back'),
      T.Literal('restart'),
      T.Literal('stop'),
    ]),
  }),
  /** Fork: choose the alternative with this id at this token. */
  T.Composite([node, T.Object({ type: T.Literal('choose'), id: T.Integer() })]),
  /** Sample the output that begins at this node again. */
  T.Composite([node, T.Object({ type: T.Literal('again') })]),
  /** Go to a node: a token that is focused and activated, or the tip of a branch. */
  T.Composite([node, T.Object({ type: T.Literal('goto') })]),
  /** About the answer at a node and the other one: have it, compare both, take it, score it, look at it. */
  T.Composite([
    node,
    T.Object({
      type: T.Union([
        T.Literal('execute'),
        T.Literal('compare'),
        T.Literal('take'),
        T.Literal('score'),
        T.Literal('openAnswer'),
        T.Literal('openDiff'),
      ]),
    }),
  ]),
  T.Composite([node, T.Object({ type: T.Literal('cancel') })]),
  /** Who is to answer the next calls. */
  T.Object({ type: T.Literal('observations'), from: observationsFrom }),
  /** Run the task with the real tools, in a branch beside the one shown. */
  T.Object({ type: T.Literal('runForReal') }),
  T.Object({ type: T.Literal('compareBranches'), left: T.Integer(), right: T.Integer() }),
  /** The button of an error. */
  T.Object({ type: T.Literal('action'), id: T.String() }),
]);

export type Head = Static<typeof Head>;
export type ToSession = Static<typeof ToSession>;
export type FromSession = Static<typeof FromSession>;
