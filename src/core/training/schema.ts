/**
 * The training file (`*.training.json`): the one source of its static types, of validation, of the launch page's
 * fields and of the JSON Schema that editors use. What each setting means: `docs/training.md`.
 */
import { type Static, Type } from '@sinclair/typebox';
import { ExampleSchema } from '../environment/example-schema';
import { TaskSchema } from '../environment/schema';
import type { JsonObject } from '../json';

const part = (description: string) =>
  Type.Unsafe<string | (string | Static<typeof TaskSchema>)[]>({
    type: ['string', 'array'],
    items: { anyOf: [{ type: 'string' }, TaskSchema] },
    description: `${description} Ids of the environment's tasks, tasks in place, or the name of a .jsonl file.`,
    examples: [['task-id'], 'train.jsonl'],
  });

const share = (value: number, description: string) =>
  Type.Optional(Type.Number({ minimum: 0, maximum: 1, default: value, description }));
// The server keeps the plan of a step in memory, for all of its runs: limits far above what anybody trains.
const MOST = 1_000_000;
const count = (value: number, description: string, minimum = 1, maximum = MOST) =>
  Type.Optional(Type.Integer({ minimum, maximum, default: value, description }));
const amount = (value: number, description: string) =>
  Type.Optional(Type.Number({ minimum: 0, default: value, description }));
const flag = (value: boolean, description: string) =>
  Type.Optional(Type.Boolean({ default: value, description }));
const oneOf = <const T extends string>(value: T, names: readonly T[], description: string) =>
  Type.Optional(Type.Unsafe<T>({ enum: [...names], type: 'string', default: value, description }));
const group = <T extends Parameters<typeof Type.Object>[0]>(description: string, fields: T) =>
  Type.Optional(Type.Object(fields, { additionalProperties: false, description }));

export const VARIANTS = ['rehearse', 'rehearse-per-role', 'act-only', 'real'] as const;
const LOSSES = ['ppo', 'importance_sampling', 'cispo'] as const;
const LEARNERS = ['engine', 'tinker', 'skyrl'] as const;

const Remote = {
  url: Type.Optional(Type.String({ description: 'Address of the server; absent for our own.' })),
  keyVariable: Type.Optional(
    Type.String({
      description: 'Environment variable that holds its key; in the editor the key is asked for.',
    }),
  ),
};

export const TrainingSchema = Type.Object(
  {
    $schema: Type.Optional(Type.String({ description: 'Ignored: the schema comes with the product.' })),
    name: Type.Optional(Type.String({ description: "Name of its runs; where absent, the file's." })),
    environment: Type.String({
      minLength: 1,
      description: 'The environment file, relative to this one.',
      examples: ['shop.rehearsal.json'],
    }),
    tasks: Type.Object(
      {
        train: part('Tasks that are trained on.'),
        validation: Type.Optional(part('Tasks that choose the best checkpoint, never trained on.')),
        test: Type.Optional(part('Tasks that the result is reported on, never used to choose.')),
      },
      { additionalProperties: false, description: 'Tasks, in three parts that share none.' },
    ),
    examples: Type.Optional(
      Type.Unsafe<string | Static<typeof ExampleSchema>[]>({
        type: ['string', 'array'],
        items: ExampleSchema,
        description: "Recorded calls besides the environment's, or the name of a file that has them.",
        examples: ['calls.jsonl'],
      }),
    ),
    preset: oneOf('default', ['default', 'paper'], 'Defaults of the settings below: ours, or the paper’s.'),
    variant: oneOf(
      'rehearse',
      VARIANTS,
      '`rehearse`: both roles learn, shared weights. `rehearse-per-role`: weights for each role. `act-only`: ACT alone learns. `real`: the real tools answer.',
    ),
    model: Type.Optional(
      Type.String({
        description: "Model to start from, by the name the server offers; where absent, the server's first.",
      }),
    ),
    start: Type.Optional(
      Type.String({
        description: 'A checkpoint to branch from, as `run/step`; where absent, the model itself.',
      }),
    ),
    weights: oneOf(
      'full',
      ['full', 'lora'],
      '`lora`: a low-rank adapter, for large models. `full`: every weight.',
    ),
    rank: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1024, default: 16, description: 'Rank of the adapter (`lora`).' }),
    ),
    steps: count(60, 'Steps of training.'),
    tasksPerStep: count(4, 'Tasks sampled for each step.', 1, 1024),
    groupSize: count(
      8,
      'Rollouts of each task in a step: the group that its advantages are relative to.',
      2,
      1024,
    ),
    learningRate: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        default: 3e-4,
        description: 'Step size of AdamW. Large models want 1e-6 (full) or 1e-5 (lora).',
      }),
    ),
    seed: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 2 ** 31 - 1,
        default: 1,
        description: 'All randomness of the run comes from it.',
      }),
    ),
    concurrency: count(16, 'Rollouts at the same time.', 1, 1024),
    loss: group('Policy-gradient loss.', {
      name: oneOf('ppo', LOSSES, '`ppo` clips the ratio to the sampling weights.'),
      clip: share(0.2, 'How far the ratio may go from 1 (`ppo`, `cispo`).'),
      gradientClip: amount(1, 'Largest norm of the gradient; 0 is off.'),
      weightDecay: amount(0, 'Weight decay of AdamW.'),
    }),
    advantage: group('Role-wise advantages.', {
      normalizeByStd: flag(false, "Divide by the standard deviation of the role's rewards."),
      singleton: oneOf(
        'zero',
        ['zero', 'reward'],
        'Advantage where a role wrote exactly one output in its group.',
      ),
    }),
    rehearsal: group('How rehearsals go; where absent, as the environment says.', {
      gates: oneOf('check', ['check', 'prompt'], '`prompt`: the policy has to refuse bad calls by itself.'),
      reuseExamples: flag(true, 'Answer recorded calls word for word.'),
      onGateFailed: oneOf('continue', ['continue', 'stop'], 'Whether a refused call ends the rollout.'),
      maxTurns: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST, description: 'Limit of turns.' })),
    }),
    replayShare: share(
      0,
      'Share of supervised REHEARSE samples from recorded calls: keeps rehearsals truthful.',
    ),
    kl: group('Weight of the divergence from the starting model, by role.', {
      act: amount(0, 'For ACT.'),
      rehearse: amount(0, 'For REHEARSE.'),
    }),
    evaluation: group('Evaluation on the validation tasks, on the real tools where they may run.', {
      every: count(10, 'Steps from one to the next; 0 is off.', 0),
      attempts: count(1, 'Rollouts of each task.', 1, 1024),
      recorded: flag(true, 'Rehearse the held-out recorded calls too: fidelity and anticipation.'),
    }),
    checkpoints: group('What is kept.', {
      every: count(10, 'Steps from one checkpoint to the next.'),
      keep: count(3, 'How many are kept besides the best and the last; those of evaluations count.'),
    }),
    onPleasing: oneOf(
      'warn',
      ['warn', 'stop'],
      'What to do when the rehearser pleases instead of telling the truth.',
    ),
    learner: group('What learns: our engine, or a server with the Tinker protocol.', {
      kind: oneOf('engine', LEARNERS, 'Which kind of server.'),
      ...Remote,
    }),
    sampler: group(
      'What samples: our engine, or a vLLM that takes the adapter after each step (`lora` only).',
      {
        kind: oneOf('engine', ['engine', 'vllm'], 'Which kind of server.'),
        ...Remote,
      },
    ),
    judge: group('Model that decides `judge` checks, behind an OpenAI-compatible address.', {
      model: Type.Optional(Type.String({ description: 'Its name there.' })),
      ...Remote,
      url: Type.Optional(Type.String({ description: 'Address of its server, with or without /v1.' })),
      timeoutSeconds: Type.Optional(
        Type.Number({
          exclusiveMinimum: 0,
          maximum: 86_400,
          default: 60,
          description: 'How long one judgement may take.',
        }),
      ),
    }),
  },
  { additionalProperties: false, title: 'Training', description: 'A training run of role-wise GRPO.' },
);

export type TrainingFile = Static<typeof TrainingSchema>;

/** The JSON Schema that editors use. */
export function publishedTrainingSchema(): JsonObject {
  const schema = JSON.parse(JSON.stringify(TrainingSchema)) as JsonObject;
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    ...schema,
    allowTrailingCommas: true,
    allowComments: true,
  };
}
