/** The tables of `docs/training-results.md`. */
import { meanOf } from '../../src/core/training/estimate';
import type { Estimate } from '../../src/core/training/run.types';
import { byTask, type KeptEvaluation, type KeptRun } from './kept';

export const VARIANTS = ['rehearse', 'rehearse-per-role', 'act-only', 'real'] as const;

const two = (value: number | null | undefined) =>
  value === null || value === undefined
    ? '–'
    : (Math.abs(value) < 0.005 ? 0 : value)
        .toFixed(2)
        .replace('-', '−')
        .replace(/^(−?)0\./, '$1.');
const signed = (value: number) => `${value >= 0.005 ? '+' : ''}${two(value)}`;
const between = ({ value, low, high }: Estimate, show: (value: number) => string = two) =>
  `${show(value)} (${show(low)} to ${show(high)})`;
const line = (...cells: (string | number)[]) => `| ${cells.join(' | ')} |\n`;

export function tables(runs: readonly KeptRun[]): Record<string, string> {
  const shop = runs.filter(({ file }) => file === 'shop');
  return {
    runs: runTable(shop),
    variants: variantTable(shop),
    please: pleaseTable(runs),
  };
}

const tested = (runs: readonly KeptRun[]) => runs.filter((run) => run.test !== null);

/** A run a line: start and best checkpoint on the test tasks, paired by task. */
function runTable(runs: readonly KeptRun[]): string {
  let text = line(
    'variant',
    'seed',
    'start',
    'best checkpoint',
    'difference (95 %)',
    'better, worse',
    'its step',
    'minutes',
  );
  text += line('---', '---', '---', '---', '---', '---', '---', '---');
  for (const variant of VARIANTS)
    for (const { seed, bestStep, test, minutes } of tested(runs).filter((run) => run.variant === variant)) {
      const { start, best } = test!;
      const differences = [...best.tasks].map((one, i) => Number(one) - Number(start.tasks[i]));
      const count = (sign: number) => differences.filter((one) => one === sign).length;
      const difference = meanOf(differences, -1, 1)!;
      text += line(
        `\`${variant}\``,
        seed,
        two(start.real),
        two(best.real),
        between(difference, signed),
        `${count(1)}, ${count(-1)}`,
        bestStep,
        minutes.toFixed(1),
      );
    }
  return text;
}

/** A variant a line, all seeds; each against `rehearse` on the same tasks. */
function variantTable(runs: readonly KeptRun[]): string {
  const of = (variant: string) => tested(runs).filter((run) => run.variant === variant);
  const tasks = (variant: string) => byTask(of(variant).map(({ test }) => test!.best.tasks));
  const reference = tasks('rehearse');
  let text = line(
    'variant',
    'seeds',
    'success on test',
    'less `rehearse`',
    'rehearsed success',
    'gap',
    'fidelity',
    'errors foreseen',
  );
  text += line('---', '---', '---', '---', '---', '---', '---', '---');
  const every = tested(runs).map(({ test }) => test!.start);
  if (every.length) {
    const mean = (of: (one: KeptEvaluation) => number | null) => {
      const some = every.flatMap((one) => of(one) ?? []);
      return two(some.length ? some.reduce((sum, one) => sum + one, 0) / some.length : null);
    };
    const success = meanOf(byTask(every.map(({ tasks: one }) => one)))!;
    text += line(
      'start',
      '',
      between(success),
      '',
      mean((one) => one.rehearsed),
      mean((one) => one.gap),
      mean((one) => one.fidelity),
      mean((one) => one.recall),
    );
  }
  for (const variant of VARIANTS) {
    const own = of(variant);
    if (!own.length) continue;
    const values = tasks(variant);
    const mean = (of: (run: KeptRun) => number | null) => {
      const some = own.flatMap((run) => of(run) ?? []);
      return some.length ? two(some.reduce((sum, one) => sum + one, 0) / some.length) : '–';
    };
    const less =
      variant === 'rehearse' || !reference.length
        ? ''
        : between(
            meanOf(
              values.map((value, i) => value - reference[i]!),
              -1,
              1,
            )!,
            signed,
          );
    text += line(
      `\`${variant}\``,
      own.length,
      between(meanOf(values)!),
      less,
      mean((run) => run.test!.best.rehearsed),
      mean((run) => run.test!.best.gap),
      mean((run) => run.test!.best.fidelity),
      mean((run) => run.test!.best.recall),
    );
  }
  return text;
}

const TERMS: Record<string, string> = {
  please: 'as it is',
  'please-replay': '`replayShare` .05',
  'please-reuse': '`reuseExamples`',
};

/** A run that pleases a line. */
function pleaseTable(all: readonly KeptRun[]): string {
  const runs = Object.keys(TERMS).flatMap((file) => all.filter((run) => run.file === file));
  let text = line(
    'terms',
    'seed',
    'best real success (step)',
    'reward in rehearsal then',
    'warned at step',
    'real success at the end',
    'reward in rehearsal at the end',
    'kept: success on test',
  );
  text += line('---', '---', '---', '---', '---', '---', '---', '---');
  for (const { file, seed, bestStep, rows, warnings, test } of runs) {
    const at = (step: number) =>
      rows.filter((row) => row.validation && row.step <= step).at(-1)?.validation?.real;
    const last = rows.at(-1)!.step;
    const warning = warnings.find(({ code }) => code === 'pleasing');
    text += line(
      TERMS[file]!,
      seed,
      `${two(at(bestStep))} (${bestStep})`,
      two(meanReward(rows, bestStep)),
      warning?.step ?? 'never',
      two(at(last)),
      two(meanReward(rows, last)),
      two(test?.best.real),
    );
  }
  return text;
}

/** Of the five steps up to one. */
export function meanReward(rows: KeptRun['rows'], upTo: number): number | null {
  const rewards = rows
    .flatMap(({ step, reward }) => (step <= upTo && reward !== null ? reward : []))
    .slice(-5);
  return rewards.length ? rewards.reduce((sum, one) => sum + one, 0) / rewards.length : null;
}
