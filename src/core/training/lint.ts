/** What is wrong with a training file beyond its schema: settings that do not fit one another or the tasks. */
import type { Place, Report } from '../environment/diagnostics';
import type { Entry } from '../environment/source';
import type { Environment, Task } from '../environment/types';
import { parentOf } from './checkpoints';
import { type FoundPart, PARTS } from './parts';
import type { TrainingFile } from './schema';
import type { Part, Settings } from './types';

export interface LintTrainingInput {
  root: Entry;
  /** As it stands; absent fields are absent. */
  file: Partial<TrainingFile>;
  settings: Settings;
  environment: Environment;
  parts: Record<Part, FoundPart[]>;
}

/** Fewer tasks than this, and an interval of their success spans more than 40 points. */
const FEW_TASKS = 20;
const SHOWN = 5;

export function lintTraining(input: LintTrainingInput, report: Report): void {
  lintChecks(input, report);
  lintReal(input, report);
  lintParts(input, report);
  lintServers(input, report);
  lintTerms(input, report);
}

const REAL_ONLY = new Set(['state', 'command']);
const counting = (task: Task) => task.checks.filter(({ required, weight }) => required || (weight ?? 1) > 0);

function lintChecks({ root, settings, parts }: LintTrainingInput, report: Report): void {
  const { variant, judge } = settings;
  if (variant !== 'real') {
    const undecided = parts.train.filter(({ task }) =>
      counting(task).every(({ kind }) => REAL_ONLY.has(kind)),
    );
    each(
      undecided,
      (task, more) =>
        `Task ${task.id}${more} cannot be trained on in rehearsal: only a real execution can decide its checks.`,
      (place, message) =>
        report.error(
          place,
          'real-checks',
          message,
          'Add a check of its calls or answer, or train with "variant": "real".',
        ),
    );
    const pleased = parts.train.filter(({ task }) => {
      const left = counting(task).filter(({ kind }) => !REAL_ONLY.has(kind));
      return left.length > 0 && left.every(({ kind }) => kind === 'fromResult');
    });
    if (pleased.length)
      report.warning(
        root.place(['tasks', 'train']),
        'can-be-pleased',
        `${pleased.length} of ${parts.train.length} training tasks can be pleased: they reward an answer that states what the policy may have rehearsed itself.`,
        'Add checks of kind "calls" or "forbidden", or a "replayShare" of 0.05.',
      );
  }
  const judged = PARTS.flatMap((part) => parts[part]).filter(({ task }) =>
    task.checks.some(({ kind }) => (kind as string) === 'judge'),
  );
  if (judged.length && !judge)
    report.error(
      judged[0]!.place,
      'no-judge',
      `${judged.length} tasks have checks that a model judges, and the file names none.`,
      'Add "judge" with "url" and "model".',
    );
}

/** The first few at their places, the others counted with the last of them. */
function each(
  found: readonly FoundPart[],
  message: (task: Task, more: string) => string,
  tell: (place: Place, message: string) => void,
): void {
  found.slice(0, SHOWN).forEach(({ task, place }, i) => {
    const left = i === SHOWN - 1 ? found.length - SHOWN : 0;
    tell(place, message(task, left > 0 ? ` (and ${left} more)` : ''));
  });
}

function lintReal({ root, file, settings, environment }: LintTrainingInput, report: Report): void {
  if (settings.variant !== 'real') return;
  const place = root.place(['variant']);
  const { executor } = environment;
  if (!executor)
    report.error(
      place,
      'no-executor',
      'The variant "real" trains on the real tools, and the environment has no executor.',
      'Give it an "executor", or choose another variant.',
    );
  else if (executor.kind === 'vscode')
    report.error(
      place,
      'no-executor',
      'The tools of VS Code run in its window, and training runs without one.',
      'Choose another variant.',
    );
  else if (executor.kind !== 'replay' && executor.sandbox !== true)
    report.error(
      place,
      'no-sandbox',
      'The variant "real" executes whatever the policy calls, thousands of times, and the executor is not declared a sandbox.',
      `Add "sandbox": true to the executor in ${file.environment} where nothing can be harmed by it.`,
    );
}

function lintParts({ root, file, settings, parts, environment }: LintTrainingInput, report: Report): void {
  const { evaluation, tasksPerStep } = settings;
  const { train, validation } = parts;
  if (file.tasksPerStep !== undefined && train.length && tasksPerStep > train.length)
    report.error(
      root.place(['tasksPerStep']),
      'few-tasks',
      `A step takes ${tasksPerStep} tasks, and there ${train.length === 1 ? 'is 1' : `are ${train.length}`} to train on.`,
      `Lower it to ${train.length} or less, or add tasks.`,
    );
  if (!validation.length) {
    if (evaluation.every > 0)
      report.warning(
        root.keyPlace(['tasks']),
        'no-validation',
        'There are no validation tasks: the last checkpoint counts as the best, and nobody sees where learning turned.',
        'Add "validation" with tasks that are not trained on.',
      );
  } else if (validation.length * evaluation.attempts < FEW_TASKS)
    report.information(
      root.place(['tasks', 'validation']),
      'few-validation',
      `Rollouts of a validation: ${validation.length * evaluation.attempts}. So few tell checkpoints apart only where they differ a lot.`,
      `Add tasks or "attempts": ${FEW_TASKS} or more in all.`,
    );
  if (!environment.executor && evaluation.every > 0 && settings.variant !== 'real')
    report.information(
      root.place(['environment']),
      'no-executor',
      'The environment has no executor: success on the real tools and the reality gap are not measured.',
      'Add an "executor" to the environment.',
    );
}

function lintServers({ root, settings }: LintTrainingInput, report: Report): void {
  const { learner, sampler, judge, weights, start, variant } = settings;
  if (learner.kind !== 'engine' && !learner.url) missing(['learner'], `The learner "${learner.kind}"`);
  if (learner.kind === 'tinker' && weights === 'full')
    report.error(
      root.place(['weights']),
      'weights',
      'Tinker trains adapters only.',
      'Write "weights": "lora".',
    );
  if (sampler.kind === 'vllm') {
    if (!sampler.url) missing(['sampler'], 'The sampler "vllm"');
    if (weights === 'full')
      report.error(
        root.place(['sampler', 'kind']),
        'weights',
        'vLLM takes adapters only, and this run trains every weight.',
        'Write "weights": "lora", or leave "sampler" out.',
      );
    if (variant === 'rehearse-per-role')
      report.warning(
        root.place(['sampler', 'kind']),
        'weights',
        'vLLM must serve an adapter for each role.',
        'Start it with --max-loras 2 or more.',
      );
  }
  if (judge && !judge.url) missing(['judge'], 'The judge');
  if (judge && !judge.model)
    report.error(root.place(['judge']), 'no-model', 'The judge has no model.', 'Add its "model".');
  for (const group of ['learner', 'sampler', 'judge'] as const) {
    const { url, keyVariable } = settings[group] ?? {};
    if (url !== undefined && !isAddress(url))
      report.error(
        root.place([group, 'url']),
        'address',
        `${JSON.stringify(url)} is no http address without user and password.`,
        'Write https://host/path; a key is named with "keyVariable".',
      );
    if (keyVariable !== undefined && !/^[A-Za-z_][A-Za-z0-9_]{0,99}$/.test(keyVariable))
      report.error(
        root.place([group, 'keyVariable']),
        'key',
        'This is no name of an environment variable.',
        'Write the name of the variable that holds the key, never the key itself.',
      );
  }
  if (start !== undefined && !parentOf(start))
    report.error(
      root.place(['start']),
      'start',
      `${JSON.stringify(start)} names no checkpoint.`,
      'Write run/step, for example shop-1/40.',
    );

  function missing(path: string[], what: string): void {
    report.error(root.place(path), 'no-address', `${what} has no address.`, 'Add its "url".');
  }
}

/** Host, and port where there is one; core has no URL of its own. */
const ADDRESS = /^https?:\/\/(\[[0-9a-f:.]+\]|[^\s/:?#@]+)(?::([1-9]\d{0,4}))?(?:[/?#]\S*)?$/i;

const isAddress = (text: string) => ADDRESS.test(text);

/** Settings that change nothing: whoever wrote them expected otherwise. */
function lintTerms({ root, file, settings, environment }: LintTrainingInput, report: Report): void {
  const { variant, replayShare, kl, weights, learningRate } = settings;
  const trainsRehearse = variant === 'rehearse' || variant === 'rehearse-per-role';
  const nothing = (path: string[], why: string) =>
    report.warning(root.place(path), 'no-effect', `This changes nothing: ${why}.`, 'Remove it.');
  if (replayShare > 0) {
    const records = environment.examples.filter(
      ({ part, verdict }) => part === 'train' && verdict !== 'real tool wrong',
    );
    if (!trainsRehearse) nothing(['replayShare'], `"${variant}" does not train REHEARSE`);
    else if (!records.length)
      report.error(
        root.place(['replayShare']),
        'no-records',
        'There are no recorded calls to replay.',
        'Add "examples", or remove it.',
      );
  }
  if (kl.rehearse > 0 && !trainsRehearse) nothing(['kl', 'rehearse'], `"${variant}" does not train REHEARSE`);
  if (file.rank !== undefined && weights === 'full') nothing(['rank'], 'every weight is trained');
  if (variant === 'real' && file.rehearsal?.reuseExamples !== undefined)
    nothing(['rehearsal', 'reuseExamples'], 'the real tools answer');
  if (learningRate > 0.01)
    report.warning(
      root.place(['learningRate']),
      'learning-rate',
      `A learning rate of ${learningRate} diverges with almost every model.`,
      'Small models want about 3e-4, large ones 1e-5 (lora) or 1e-6 (full).',
    );
  if (environment.limits.act < 8)
    report.warning(
      root.place(['environment']),
      'limits',
      `An ACT output may have ${environment.limits.act} tokens only.`,
      'Raise "limits" in the environment.',
    );
}
