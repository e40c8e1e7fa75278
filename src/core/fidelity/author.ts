/** What the author of an environment gets from a comparison: diagnostics, records, rules. */
import type { Diagnostic, Locations } from '../environment/diagnostics';
import type { Environment, Example } from '../environment/types';
import { equalJson } from '../json';
import type { FidelitySummary } from './summary';
import type { ComparedPair, Pair, Rules } from './types';

export const DIFFERENCE_CODE = 'differs-from-real';

export function rulesOf(environment: Pick<Environment, 'ignore' | 'tolerances'>): Rules {
  return { ignore: environment.ignore, tolerances: environment.tolerances ?? [] };
}

/** One for each field of a tool that differs: "`$.status` differs in 7 of 16 rehearsals". */
export function differenceDiagnostics(
  summary: Pick<FidelitySummary, 'tools'>,
  locations: Pick<Locations, 'tools'>,
): (Diagnostic & { tool: string; field: string })[] {
  return summary.tools.flatMap(({ tool, fields }) => {
    const place = locations.tools.get(tool);
    if (!place) return [];
    return fields.flatMap(({ field, counts, fidelity }) => {
      const wrong = fidelity.n - fidelity.good;
      if (wrong === 0) return [];
      const what = counts.differs
        ? 'differs'
        : counts.missing >= counts.extra
          ? 'is missing'
          : 'is not in the real answer';
      const rehearsals = `${fidelity.n} rehearsal${fidelity.n === 1 ? '' : 's'}`;
      return {
        ...place,
        severity: 'information' as const,
        code: DIFFERENCE_CODE,
        message: `${tool}: \`${field}\` ${what} in ${wrong} of ${rehearsals}.`,
        next: 'Record the real answer as an example, or ignore this field.',
        tool,
        field,
      };
    });
  });
}

/** The real answer of a pair as a recorded call; with a verdict also what it is about. */
export function recordOf(
  pair: Pair,
  more: Partial<Pick<Example, 'state' | 'afterWrite' | 'part' | 'verdict' | 'note'>> = {},
): Example {
  const { tool, arguments: args, real } = pair;
  const { state, afterWrite = false, part = 'train', verdict, note } = more;
  return {
    tool,
    arguments: args,
    outcome: real.outcome,
    value: real.value,
    ...(state === undefined ? {} : { state }),
    afterWrite,
    part,
    ...(verdict === undefined ? {} : verdictFields(pair, verdict)),
    ...(note ? { note } : {}),
  };
}

/** A verdict on the real tool is about every rehearsal; any other only about the one that was seen. */
export function verdictFields(
  { rehearsed }: Pick<Pair, 'rehearsed'>,
  verdict: NonNullable<Example['verdict']>,
): Pick<Example, 'verdict' | 'rehearsed'> {
  return verdict === 'real tool wrong' ? { verdict } : { verdict, rehearsed: rehearsed.value };
}

/** The record with the author's verdict on this pair, where the real answer is still the same. */
export function authorRecord(
  examples: readonly Example[],
  pair: Pick<Pair, 'tool' | 'arguments' | 'real' | 'rehearsed'>,
): Example | undefined {
  return examples.find(
    (example) =>
      example.verdict !== undefined &&
      example.tool === pair.tool &&
      equalJson(example.arguments, pair.arguments) &&
      equalJson(example.value, pair.real.value) &&
      (example.verdict === 'real tool wrong' ||
        example.rehearsed === undefined ||
        equalJson(example.rehearsed, pair.rehearsed.value)),
  );
}

/** The verdict that the author gave on this pair before. */
export function authorVerdict(
  examples: readonly Example[],
  pair: Parameters<typeof authorRecord>[1],
): ComparedPair['author'] {
  return authorRecord(examples, pair)?.verdict;
}
