/**
 * What a run leaves behind and tells: plain data, written by the runner (`server/runner/training`), kept in the run
 * folder (`src/node/runs`, format in `docs/run-format.md`), shown by the training page. One row of `metrics.jsonl`
 * is a `Metrics`; one row of `rollouts.jsonl` is a `RolloutRecord`.
 */
import { type Static, Type as T, type TSchema } from '@sinclair/typebox';

const nullable = <S extends TSchema>(schema: S) => T.Union([schema, T.Null()]);
const number = (description: string) => nullable(T.Number({ description }));
const byRole = <S extends TSchema>(schema: S) => T.Object({ act: schema, rehearse: schema });

/** A share or mean with a 95 % interval. */
export const Estimate = T.Object({ value: T.Number(), low: T.Number(), high: T.Number(), n: T.Integer() });

/** One part's tasks, rolled out with the weights of a step. */
export const Evaluation = T.Object({
  part: T.Union([T.Literal('validation'), T.Literal('test')]),
  /** Success and mean reward on the real tools; null where they may not run. */
  realSuccess: nullable(Estimate),
  realReward: nullable(Estimate),
  rehearsedSuccess: nullable(Estimate),
  rehearsedReward: nullable(Estimate),
  /** Mean reward in rehearsal minus on real tools, over checks that both decide; paired by task. */
  gap: nullable(Estimate),
  /** Held-out recorded (or real) calls rehearsed. */
  fidelity: nullable(Estimate),
  anticipation: nullable(T.Object({ recall: nullable(Estimate), precision: nullable(Estimate) })),
  /** Success by task (share of attempts), for paired comparison of checkpoints: real where there is one. */
  tasks: T.Array(T.Object({ task: T.String(), real: nullable(T.Number()), rehearsed: nullable(T.Number()) })),
  seconds: T.Number(),
});

/** A field of a tool's answers whose rehearsed values crowd on one. */
export const Collapse = T.Object({
  tool: T.String(),
  /** JSONPath of the field. */
  field: T.String(),
  value: T.String({ description: 'The value that most rehearsals give, as JSON.' }),
  count: T.Integer(),
  of: T.Integer(),
  /** How often records, or the base model, have it, and what they have most. */
  reference: T.Object({
    source: T.Union([T.Literal('records'), T.Literal('base')]),
    count: T.Integer(),
    of: T.Integer(),
    mostly: T.String(),
    mostlyCount: T.Integer(),
  }),
});

/** What a step's rehearsals say where the record of the same call has a certain value. */
export const Told = T.Object({
  tool: T.String(),
  /** JSONPath of the field; `outcome`: whether it is a result or an error. */
  field: T.String(),
  /** The record's value, as JSON. */
  recorded: T.String(),
  /** Rehearsals, by the value that they give (as JSON). */
  told: T.Record(T.String(), T.Integer()),
  /** Rehearsals, and how many different calls of tasks they answer. */
  of: T.Integer(),
  calls: T.Integer(),
  /** Index of a rollout that says otherwise. */
  rollout: nullable(T.Integer()),
});

/** Something a person should look at. `code` is stable; `message` is one sentence. */
export const Warning = T.Object({
  step: T.Integer(),
  code: T.Union([
    T.Literal('pleasing'),
    T.Literal('contradiction'),
    T.Literal('collapse'),
    T.Literal('sampler-learner'),
    T.Literal('diverging'),
    T.Literal('no-signal'),
    T.Literal('unscored'),
    T.Literal('checkpoint'),
    T.Literal('task-changed'),
    T.Literal('other'),
  ]),
  message: T.String(),
  /** A rollout that shows it. */
  rollout: T.Optional(T.Object({ step: T.Integer(), index: T.Integer() })),
});

/** One step of training. Step 0 is the start: an evaluation and nothing learned. */
export const Metrics = T.Object({
  step: T.Integer(),
  /** ISO 8601. */
  time: T.String(),
  reward: number('Mean over scored rollouts.'),
  success: number('Share of scored rollouts with reward 1.'),
  rollouts: T.Integer(),
  unscored: T.Integer(),
  groups: T.Integer(),
  groupsWithoutSignal: T.Integer(),
  advantageSpread: byRole(number('Standard deviation over outputs.')),
  outputs: byRole(T.Integer()),
  /** Sampled tokens. */
  tokens: byRole(T.Integer()),
  calls: T.Integer(),
  /** Failed gates by code. */
  gateFailures: T.Record(T.String(), T.Integer()),
  /** Share of rehearsals that could be parsed. */
  wellFormed: number('Null where nothing was rehearsed.'),
  /** Rehearsed although a record has the answer: how many, and how many of them say otherwise. */
  recordedCalls: T.Integer(),
  contradictions: T.Integer(),
  /** Empty where recorded answers are reused. Rows of older runs lack it. */
  told: T.Optional(T.Array(Told)),
  collapse: T.Array(Collapse),
  stops: T.Record(T.String(), T.Integer()),
  /** Mean entropy of the sampled tokens' distributions, nats. */
  entropy: byRole(number('Null where unknown.')),
  /** Mean of logp − logp_base of sampled tokens, nats. */
  kl: byRole(number('Null where not measured.')),
  /** Mean and largest absolute difference of the sampler's and the learner's log-probabilities, nats. */
  difference: nullable(T.Object({ mean: T.Number(), max: T.Number() })),
  /** Of the importance ratio: mean, share clipped. */
  ratio: nullable(T.Object({ mean: T.Number(), clipped: T.Number() })),
  loss: number('Sum over the step, as the learner gives it.'),
  replayLoss: number('Supervised REHEARSE samples, nats a token.'),
  gradientNorm: number(''),
  /** Tokens the learner was sent, and computed after sharing prefixes. */
  learnedTokens: T.Integer(),
  computedTokens: number(''),
  seconds: T.Object({
    sample: T.Number(),
    learn: T.Number(),
    sync: T.Number(),
    evaluate: T.Number(),
    save: T.Number(),
    /** The runner's own work. */
    other: T.Number(),
    total: T.Number(),
  }),
  evaluation: nullable(Evaluation),
  warnings: T.Array(Warning),
});

export const RunState = T.Union([
  T.Literal('queued'),
  T.Literal('starting'),
  T.Literal('running'),
  T.Literal('stopping'),
  T.Literal('stopped'),
  T.Literal('done'),
  T.Literal('failed'),
  T.Literal('needs key'),
]);

export const Checkpoint = T.Object({
  step: T.Integer(),
  /** Name under which the server offers it as a model: `run/step-N`. */
  model: T.String(),
  /** Where the learner keeps it, by set of weights (`shared`, or `act` and `rehearse`). Absent: the start itself. */
  addresses: T.Optional(T.Record(T.String(), T.String())),
  best: T.Boolean(),
  /** Real success (rehearsed where nothing real may run) on validation, if evaluated. */
  success: nullable(Estimate),
  kept: T.Boolean(),
});

/** What came of a run, on the test tasks: its best checkpoint, and the start. */
export const RunResult = T.Object({
  /** Of the best checkpoint; 0 where nothing was better than the start. */
  step: T.Integer(),
  best: Evaluation,
  start: Evaluation,
  /** Success of the best less the start's, paired by task: real where both have it, else rehearsed. */
  on: T.Union([T.Literal('real'), T.Literal('rehearsed')]),
  difference: nullable(
    T.Composite([Estimate, T.Object({ better: T.Integer(), worse: T.Integer(), same: T.Integer() })]),
  ),
});

/** `status.json`: where the run stands. Written whole, atomically. */
export const RunStatus = T.Object({
  id: T.String(),
  name: T.String(),
  state: RunState,
  /** Why it failed, waits or was stopped, with what to do next. */
  message: T.String(),
  step: T.Integer(),
  steps: T.Integer(),
  /** What it does now: sampling, learning, evaluating, saving. */
  phase: T.String(),
  created: T.String(),
  started: nullable(T.String()),
  ended: nullable(T.String()),
  /** Estimated; null before the first step. */
  secondsLeft: number(''),
  environmentFile: T.String(),
  trainingFile: nullable(T.String()),
  environment: T.String(),
  variant: T.String(),
  model: T.String(),
  /** Run and step it was branched from. */
  parent: nullable(T.Object({ run: T.String(), step: T.Integer() })),
  bestStep: nullable(T.Integer()),
  checkpoints: T.Array(Checkpoint),
  warnings: T.Array(Warning),
  /** Once the run is done, where it has test tasks. */
  result: T.Optional(RunResult),
});

/** One output as it was trained on. Prompt ids of the first output of a chain are kept, later ones extend it. */
export const OutputRecord = T.Object({
  role: T.Union([T.Literal('act'), T.Literal('rehearse')]),
  turn: T.Integer(),
  prompt: T.Array(T.Integer()),
  ids: T.Array(T.Integer()),
  /** The sampler's, nats; null where none was given. */
  logprobs: T.Array(nullable(T.Number())),
  advantage: number('Null where the role is not trained or the rollout unscored.'),
});

/** One rollout of a step, in the order of tasks and attempts. */
export const RolloutRecord = T.Object({
  step: T.Integer(),
  index: T.Integer(),
  task: T.String(),
  attempt: T.Integer(),
  seed: T.Integer(),
  reward: number('Null where it could not be scored.'),
  success: T.Boolean(),
  stop: T.String(),
  checks: T.Array(
    T.Object({ title: T.String(), verdict: T.String(), reason: T.String(), turn: T.Optional(T.Integer()) }),
  ),
  outputs: T.Array(OutputRecord),
  /** The session's records after its header: with the run's config they make a session that can be opened. */
  records: T.Array(T.Unknown()),
});

export type Estimate = Static<typeof Estimate>;
export type Evaluation = Static<typeof Evaluation>;
export type Collapse = Static<typeof Collapse>;
export type Told = Static<typeof Told>;
export type Warning = Static<typeof Warning>;
export type Metrics = Static<typeof Metrics>;
export type RunState = Static<typeof RunState>;
export type Checkpoint = Static<typeof Checkpoint>;
export type RunResult = Static<typeof RunResult>;
export type RunStatus = Static<typeof RunStatus>;
export type OutputRecord = Static<typeof OutputRecord>;
export type RolloutRecord = Static<typeof RolloutRecord>;
