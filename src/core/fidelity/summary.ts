/** Fidelity over many calls: per tool, per field, and the anticipation of failures. */
import { type Anticipation, anticipationOf } from './anticipation';
import { type Share, wilson } from './interval';
import type { ComparedPair, Comparison, FieldKind } from './types';

export type Verdict = Comparison['verdict'];
export type Counts = { [kind in FieldKind]: number };

export interface FieldSummary {
  /** `$.items[*].price` */
  field: string;
  /** Calls by the worst that became of this field in each. */
  counts: Counts;
  /** Share of calls in which it matches or is tolerable. */
  fidelity: Share;
}

export interface ToolSummary {
  tool: string;
  verdicts: { [verdict in Verdict]: number };
  /** Share of calls all of whose fields match or are tolerable. */
  fidelity: Share;
  /** Calls whose outcome class is the same on both sides. */
  outcomes: Share;
  /** In the order in which they came up. */
  fields: FieldSummary[];
}

export interface FidelitySummary extends Omit<ToolSummary, 'tool' | 'fields'> {
  tools: ToolSummary[];
  anticipation: Anticipation;
  /** Calls that count for nothing, since the author says that the real tool is wrong. */
  leftOut: number;
}

/** The author's word goes before what was computed; null where the pair says nothing about the policy. */
export function verdictOf({
  comparison,
  author,
}: Pick<ComparedPair, 'comparison' | 'author'>): Verdict | null {
  if (author === undefined) return comparison.verdict;
  if (author === 'real tool wrong') return null;
  return author === 'wrong rehearsal' ? 'differs' : author;
}

export function summarize(pairs: readonly ComparedPair[]): FidelitySummary {
  const counted = pairs.filter((pair) => verdictOf(pair) !== null);
  const byTool = new Map<string, ComparedPair[]>();
  for (const pair of counted) {
    const own = byTool.get(pair.tool);
    if (own) own.push(pair);
    else byTool.set(pair.tool, [pair]);
  }
  return {
    ...sharesOf(counted),
    tools: [...byTool].map(([tool, own]) => ({ tool, ...sharesOf(own), fields: fieldsOf(own) })),
    anticipation: anticipationOf(counted),
    leftOut: pairs.length - counted.length,
  };
}

function sharesOf(pairs: readonly ComparedPair[]): Pick<ToolSummary, 'verdicts' | 'fidelity' | 'outcomes'> {
  const verdicts = { match: 0, tolerable: 0, differs: 0 };
  for (const pair of pairs) verdicts[verdictOf(pair)!]++;
  return {
    verdicts,
    fidelity: wilson(verdicts.match + verdicts.tolerable, pairs.length),
    outcomes: wilson(pairs.filter(({ comparison }) => comparison.outcome.same).length, pairs.length),
  };
}

const WORST: readonly FieldKind[] = ['differs', 'missing', 'extra', 'tolerable', 'match'];

function fieldsOf(pairs: readonly ComparedPair[]): FieldSummary[] {
  const all = new Map<string, Counts>();
  for (const { comparison } of pairs) {
    for (const [field, kind] of worstKinds(comparison)) {
      const counts = all.get(field) ?? { match: 0, tolerable: 0, differs: 0, missing: 0, extra: 0 };
      counts[kind]++;
      all.set(field, counts);
    }
  }
  return [...all].map(([field, counts]) => {
    const n = WORST.reduce((sum, kind) => sum + counts[kind], 0);
    return { field, counts, fidelity: wilson(counts.match + counts.tolerable, n) };
  });
}

/** One call is one observation of a field, however many items its list has. */
function worstKinds({ fields }: Comparison): Map<string, FieldKind> {
  const worst = new Map<string, FieldKind>();
  for (const { field, kind } of fields) {
    const known = worst.get(field);
    if (known === undefined || WORST.indexOf(kind) < WORST.indexOf(known)) worst.set(field, kind);
  }
  return worst;
}
