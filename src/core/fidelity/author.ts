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

/** The real answer of a pair as a recorded call. */
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
    ...(verdict === undefined ? {} : { verdict }),
    ...(note ? { note } : {}),
  };
}

/** The verdict that the author gave on this call before, where the real answer is still the same. */
export function authorVerdict(
  examples: readonly Example[],
  pair: Pick<Pair, 'tool' | 'arguments' | 'real'>,
): ComparedPair['author'] {
  return examples.find(
    (example) =>
      example.verdict !== undefined &&
      example.tool === pair.tool &&
      equalJson(example.arguments, pair.arguments) &&
      equalJson(example.value, pair.real.value),
  )?.verdict;
}
