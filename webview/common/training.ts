/**
 * Messages between the extension and the training pages: the page over a training file, and the page of a run.
 * Checked on receipt at both ends, like those of `messages.ts`.
 */
import { type Static, Type as T, type TSchema } from '@sinclair/typebox';
import { Estimate, Metrics, RunState, RunStatus } from '../../src/core/training/run.types';

const nullable = <S extends TSchema>(schema: S) => T.Union([schema, T.Null()]);
const role = T.Union([T.Literal('act'), T.Literal('rehearse')]);

/** A problem or a message, with the one button that helps. */
export const Notice = T.Object({
  message: T.String(),
  action: T.Optional(T.Object({ title: T.String(), id: T.String() })),
});

// ---- the page of a run ----

/** What does not change while a run lasts. */
export const RunFacts = T.Object({
  groupSize: T.Integer(),
  tasksPerStep: T.Integer(),
  weights: T.String(),
  /** Where it learns and samples: "this machine", or an address. */
  place: T.String(),
  tasks: T.Object({ train: T.Integer(), validation: T.Integer(), test: T.Integer() }),
  /** Whether its evaluations run the real tools. */
  real: T.Boolean(),
});

/** A run that curves can be laid over. */
export const RunChoice = T.Object({
  id: T.String(),
  name: T.String(),
  state: RunState,
  variant: T.String(),
  step: T.Integer(),
  /** Steps that were evaluated, so that they can be compared. */
  evaluated: T.Array(T.Integer()),
});

export const RolloutCell = T.Object({
  index: T.Integer(),
  attempt: T.Integer(),
  reward: nullable(T.Number()),
  success: T.Boolean(),
  /** Why it has less than the whole reward, in a few words. */
  reason: T.String(),
});

/** The rollouts of one task in one step. */
export const GroupView = T.Object({
  task: T.String(),
  rollouts: T.Array(RolloutCell),
  mean: nullable(T.Number()),
  unscored: T.Integer(),
  /** Rewards differ, so the group taught something. */
  spread: T.Boolean(),
});

export const OutputDetail = T.Object({
  role,
  turn: T.Integer(),
  /** One line: the call, the rehearsed answer, or what was said. */
  summary: T.String(),
  /** Where the observation came from that this output wrote or asked for, where it is worth a word. */
  source: nullable(T.String()),
  advantage: nullable(T.Number()),
  /** Texts and log-probabilities of its tokens. */
  tokens: T.Array(T.Object({ text: T.String(), logprob: nullable(T.Number()) })),
});

export const RolloutDetail = T.Object({
  step: T.Integer(),
  index: T.Integer(),
  task: T.String(),
  attempt: T.Integer(),
  reward: nullable(T.Number()),
  mean: nullable(T.Number()),
  success: T.Boolean(),
  stop: T.String(),
  outputs: T.Array(OutputDetail),
  checks: T.Array(
    T.Object({
      title: T.String(),
      verdict: T.String(),
      reason: T.String(),
      turn: T.Optional(T.Integer()),
    }),
  ),
  /** Reward that the outputs of a role had on average in this group; null where the role wrote none. */
  baseline: T.Object({ act: nullable(T.Number()), rehearse: nullable(T.Number()) }),
  /** Turn at which the debugger opens it. */
  turn: T.Integer(),
  /** Step of the kept weights that are nearest to those that sampled it; null where none is known. */
  weights: nullable(T.Integer()),
});

/** A checkpoint of a run, as a side of a comparison. */
export const Side = T.Object({ run: T.String(), step: T.Integer() });

export const CheckpointsView = T.Object({
  first: Side,
  second: Side,
  /** What was compared: success on real tools, or in rehearsal where nothing real ran. */
  measure: T.String(),
  part: T.String(),
  firstMean: T.Number(),
  secondMean: T.Number(),
  /** Second minus first, paired by task. */
  difference: Estimate,
  /** Tasks whose success changed, the largest change first. */
  tasks: T.Array(T.Object({ task: T.String(), first: T.Number(), second: T.Number() })),
  same: T.Integer(),
});

// ---- the page over a training file ----

export const Field = T.Object({
  /** Where its value stands in the file. */
  path: T.Array(T.String()),
  label: T.String(),
  kind: T.Union([
    T.Literal('text'),
    T.Literal('number'),
    T.Literal('integer'),
    T.Literal('flag'),
    T.Literal('choice'),
    T.Literal('environment'),
    T.Literal('model'),
    T.Literal('tasks'),
  ]),
  /** The schema's own sentence; `code` in backticks. */
  description: T.String(),
  /** What holds where the file says nothing; null for none. */
  default: T.Unknown(),
  options: T.Optional(T.Array(T.String())),
  minimum: T.Optional(T.Number()),
  maximum: T.Optional(T.Number()),
});

export const FieldGroup = T.Object({
  title: T.String(),
  description: T.String(),
  folded: T.Boolean(),
  fields: T.Array(Field),
});

export const FileProblem = T.Object({
  path: T.Array(T.String()),
  severity: T.String(),
  message: T.String(),
});

export const FileView = T.Object({
  name: T.String(),
  groups: T.Array(FieldGroup),
  /** What the file says, as JSON; null where it cannot be read as an object. */
  values: T.Unknown(),
  problems: T.Array(FileProblem),
  /** Environment files that can be named, as they would be written. */
  environments: T.Array(T.String()),
  /** Tasks of the environment. */
  tasks: T.Array(T.String()),
  /** How many tasks each part has, those of files included. */
  counts: T.Record(T.String(), T.Integer()),
  /** Models of the server; empty while it is not known. */
  models: T.Array(T.String()),
  /** One sentence on what a launch would do, or why it cannot. */
  summary: T.String(),
  launchable: T.Boolean(),
});

/** Measured, for the settings as they were then. */
export const EstimateView = T.Object({
  state: T.Union([T.Literal('measuring'), T.Literal('measured'), T.Literal('failed')]),
  secondsPerStep: nullable(T.Number()),
  tokensPerStep: nullable(T.Number()),
  memoryBytes: nullable(T.Number()),
  seconds: nullable(T.Number()),
  /** How it was measured, or why it could not be. */
  why: T.String(),
});

export const ToTraining = T.Union([
  T.Object({
    type: T.Literal('run'),
    status: RunStatus,
    facts: RunFacts,
    metrics: T.Array(Metrics),
    runs: T.Array(RunChoice),
  }),
  T.Object({ type: T.Literal('status'), status: RunStatus }),
  /** New steps; a step that is known already was computed again and takes its place. */
  T.Object({ type: T.Literal('metrics'), metrics: T.Array(Metrics) }),
  T.Object({ type: T.Literal('runs'), runs: T.Array(RunChoice) }),
  T.Object({ type: T.Literal('overlay'), run: T.String(), metrics: T.Array(Metrics) }),
  T.Object({ type: T.Literal('rollouts'), step: T.Integer(), groups: T.Array(GroupView) }),
  T.Object({ type: T.Literal('rollout'), detail: RolloutDetail }),
  T.Object({ type: T.Literal('comparison'), comparison: CheckpointsView }),
  T.Object({ type: T.Literal('openCompare') }),
  /** An error, or null when it is over. */
  T.Object({ type: T.Literal('notice'), notice: nullable(Notice) }),
  T.Object({ type: T.Literal('file'), file: FileView }),
  T.Object({ type: T.Literal('estimate'), estimate: EstimateView }),
]);

const place = { step: T.Integer(), index: T.Integer() };

export const FromTraining = T.Union([
  T.Object({ type: T.Literal('ready') }),
  T.Object({ type: T.Literal('stop') }),
  T.Object({ type: T.Literal('resume') }),
  /** Stop, and go on with the best checkpoint. */
  T.Object({ type: T.Literal('keepBest') }),
  T.Object({ type: T.Literal('rollouts'), step: T.Integer() }),
  T.Object({ type: T.Literal('rollout'), ...place }),
  T.Object({ type: T.Literal('debug'), ...place }),
  T.Object({ type: T.Literal('overlay'), run: T.String() }),
  T.Object({ type: T.Literal('compare'), first: Side, second: Side }),
  /** The menu of a checkpoint. */
  T.Object({
    type: T.Literal('checkpoint'),
    step: T.Integer(),
    do: T.Union([T.Literal('branch'), T.Literal('export'), T.Literal('use')]),
  }),
  T.Object({ type: T.Literal('exportRollouts') }),
  /** A value of the file: `value` absent takes it out, so that the default holds. */
  T.Object({ type: T.Literal('set'), path: T.Array(T.String()), value: T.Optional(T.Unknown()) }),
  /** A task goes into a part, or out of it. */
  T.Object({ type: T.Literal('task'), part: T.String(), task: T.String(), in: T.Boolean() }),
  T.Object({ type: T.Literal('text') }),
  T.Object({ type: T.Literal('estimate') }),
  T.Object({ type: T.Literal('launch') }),
  T.Object({ type: T.Literal('action'), id: T.String() }),
]);

export type Notice = Static<typeof Notice>;
export type RunFacts = Static<typeof RunFacts>;
export type RunChoice = Static<typeof RunChoice>;
export type RolloutCell = Static<typeof RolloutCell>;
export type GroupView = Static<typeof GroupView>;
export type OutputDetail = Static<typeof OutputDetail>;
export type RolloutDetail = Static<typeof RolloutDetail>;
export type Side = Static<typeof Side>;
export type CheckpointsView = Static<typeof CheckpointsView>;
export type Field = Static<typeof Field>;
export type FieldGroup = Static<typeof FieldGroup>;
export type FileProblem = Static<typeof FileProblem>;
export type FileView = Static<typeof FileView>;
export type EstimateView = Static<typeof EstimateView>;
export type ToTraining = Static<typeof ToTraining>;
export type FromTraining = Static<typeof FromTraining>;
