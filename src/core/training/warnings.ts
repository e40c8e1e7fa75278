/** What a person should look at after a step. A warning is given once, and again only when it had gone meanwhile. */
import type { Collapse, Metrics, RunStatus, Warning } from './run.types';

/** Mean absolute difference of the sampler's and the learner's log-probabilities, nats. */
const DIFFERENCE_WARNS = 0.05;
export const DIFFERENCE_STOPS = 0.5;
/** Share of tokens that one update moved further than the clip range: a larger step would be cut off anyway. */
const CLIPPED_WARNS = 0.2;
const SILENT_STEPS = 5;
const UNSCORED_WARNS = 0.1;
const FEWEST_RECORDED = 10;
const CONTRADICTED = 0.5;

type Row = Omit<Metrics, 'time' | 'seconds' | 'warnings'>;
type Code = Warning['code'];

/** @param before rows of the earlier steps, in their order */
export function warningsOf(row: Row, before: readonly Metrics[], known: RunStatus['warnings']): Warning[] {
  const { step } = row;
  const found: Warning[] = [];
  const last = before.at(-1);
  const warn = (code: Code, message: string, already: boolean) => {
    if (!already) found.push({ step, code, message });
  };
  const wasTold = (code: Code) => Boolean(last?.warnings.some((one) => one.code === code));
  const { difference, ratio } = row;
  if (difference && difference.mean > DIFFERENCE_WARNS) {
    warn(
      'sampler-learner',
      `Sampler and learner disagree by ${difference.mean.toFixed(3)} nats a token: they should run the same weights at the same precision.`,
      (last?.difference?.mean ?? 0) > DIFFERENCE_WARNS,
    );
  }
  if (ratio && ratio.clipped > CLIPPED_WARNS) {
    warn(
      'diverging',
      `One update moved ${percent(ratio.clipped)} of the tokens further than the clip range: the learning rate is too high.`,
      (last?.ratio?.clipped ?? 0) > CLIPPED_WARNS,
    );
  }
  const recent = [...before.slice(1 - SILENT_STEPS), row];
  const silent = (one: Pick<Metrics, 'step' | 'groups' | 'groupsWithoutSignal'>) =>
    one.step > 0 && one.groups === one.groupsWithoutSignal;
  if (recent.length === SILENT_STEPS && recent.every(silent)) {
    warn(
      'no-signal',
      `In the last ${SILENT_STEPS} steps all rollouts of each task had the same reward, so nothing was learned: choose harder or easier tasks, or larger groups.`,
      wasTold('no-signal') || (before.length >= SILENT_STEPS && before.slice(-SILENT_STEPS).every(silent)),
    );
  }
  if (row.rollouts > 0 && row.unscored > UNSCORED_WARNS * row.rollouts) {
    warn(
      'unscored',
      `${row.unscored} of ${row.rollouts} rollouts could not be scored; open one to see why.`,
      Boolean(last && last.unscored > UNSCORED_WARNS * last.rollouts),
    );
  }
  if (row.recordedCalls >= FEWEST_RECORDED && row.contradictions > CONTRADICTED * row.recordedCalls) {
    warn(
      'contradiction',
      `${row.contradictions} of ${row.recordedCalls} rehearsals say otherwise than the record of the same call.`,
      Boolean(last && last.contradictions > CONTRADICTED * last.recordedCalls),
    );
  }
  // What nothing tells has to be invented, and a habit there harms nobody while success on the real tools is at its best.
  const alarming = realIsAtBest([...before, row]) ? [] : row.collapse;
  const alarmed = realIsAtBest(before) ? [] : (last?.collapse ?? []);
  for (const one of alarming) {
    const message = collapseText(one);
    const place = placeOf(one);
    const already =
      alarmed.some((other) => placeOf(other) === place) ||
      known.some((other) => other.code === 'collapse' && other.message.startsWith(place));
    warn('collapse', message, already);
  }
  return found;
}

function realIsAtBest(rows: readonly Pick<Metrics, 'evaluation'>[]): boolean {
  const measured = rows.flatMap(({ evaluation }) => evaluation?.realSuccess?.value ?? []);
  return measured.length > 0 && measured.at(-1)! >= Math.max(...measured);
}

const placeOf = ({ tool, field, value }: Collapse) => `${tool} ${field} is ${value} in `;

export function collapseText(collapse: Collapse): string {
  const { count, of, reference } = collapse;
  const told = reference.source === 'records' ? 'records' : 'rehearsals before training';
  return `${placeOf(collapse)}${count} of ${of} rehearsals; ${reference.mostlyCount} of ${reference.of} ${told} say ${reference.mostly}.`;
}

const percent = (share: number) => `${Math.round(share * 100)} %`;
