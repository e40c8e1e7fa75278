/** Several models (or checkpoints of one) on the same calls: what each knows, side by side. */
import type { Share } from './interval';
import { type Difference, pairedRates, pairedShares } from './paired';
import { type FidelitySummary, summarize, verdictOf } from './summary';
import { type Surprise, surpriseSummary } from './surprise';
import type { ComparedPair } from './types';

export interface ModelPairs<P> {
  model: string;
  pairs: readonly P[];
}

/** In each list there is one entry a model, in their order. Surprise is null where nothing was to be scored. */
export interface ModelsSummary {
  models: string[];
  /** Calls that all were compared on; only these count. */
  calls: number;
  fidelity: Share[];
  surprise: (Surprise | null)[];
  anticipation: FidelitySummary['anticipation'][];
  tools: {
    tool: string;
    fidelity: Share[];
    surprise: (Surprise | null)[];
  }[];
  /** Each of the other models against the first one. */
  differences: ModelDifference[];
}

export interface ModelDifference {
  model: string;
  /** Calls that one of them answers as the real tool does and the other does not. */
  onlyFirst: number;
  onlyThis: number;
  /** Of the fidelity: this model's less the first one's. Null where there is no call. */
  fidelity: Difference | null;
  /** Of the bits per byte, over the calls that both have scored. */
  bitsPerByte: Difference | null;
}

type Indexed = ComparedPair & { index: number; task?: string | null };

/** Pairs are of the same call where `task` and `index` are the same. */
export function besideEachOther<P extends Indexed>(runs: readonly ModelPairs<P>[]): ModelsSummary {
  const [first, ...others] = runs.map(({ pairs }) => new Map(pairs.map((pair) => [keyOf(pair), pair])));
  // What the author says of a call counts where it was said, and a real side that is wrong is so for all.
  const calls = [...(first ?? [])].flatMap(([key, pair]): P[][] => {
    const same = [pair, ...others.flatMap((other) => other.get(key) ?? [])];
    return same.length === runs.length && same.every((one) => verdictOf(one) !== null) ? [same] : [];
  });
  const sides = (some: readonly P[][]) => runs.map((_, model) => some.map((call) => call[model]!));
  const summaries = sides(calls).map((pairs) => summarize(pairs));
  return {
    models: runs.map(({ model }) => model),
    calls: calls.length,
    fidelity: summaries.map(({ fidelity }) => fidelity),
    surprise: sides(calls).map(surpriseOfAll),
    anticipation: summaries.map(({ anticipation }) => anticipation),
    tools: (summaries[0]?.tools ?? []).map(({ tool }) => {
      const own = sides(calls.filter(([pair]) => pair!.tool === tool));
      return {
        tool,
        fidelity: own.map((pairs) => summarize(pairs).fidelity),
        surprise: own.map(surpriseOfAll),
      };
    }),
    differences: runs.slice(1).map(({ model }, index) => ({ model, ...differenceOf(calls, index + 1) })),
  };
}

/** Which call a pair is of, the same for every model. */
export function keyOf({ index, task }: Pick<Indexed, 'index' | 'task'>): string {
  return `${index} ${task ?? ''}`;
}

function differenceOf(calls: readonly ComparedPair[][], at: number): Omit<ModelDifference, 'model'> {
  const knows = (pair: ComparedPair) => verdictOf(pair) !== 'differs';
  const onlyFirst = calls.filter((call) => knows(call[0]!) && !knows(call[at]!)).length;
  const onlyThis = calls.filter((call) => !knows(call[0]!) && knows(call[at]!)).length;
  const scored = calls.flatMap((call) => {
    const [first, second] = [call[0]!.surprise, call[at]!.surprise];
    // Gaps are elsewhere on either side: only what was scored whole is the same text.
    if (!first || !second || first.gaps || second.gaps || !first.bytes) return [];
    return [{ first: first.bits, second: second.bits, size: first.bytes }];
  });
  return {
    onlyFirst,
    onlyThis,
    fidelity: pairedShares(onlyFirst, onlyThis, calls.length),
    bitsPerByte: pairedRates(scored),
  };
}

function surpriseOfAll(pairs: readonly ComparedPair[]): Surprise | null {
  const summary = surpriseSummary(pairs);
  if (!summary) return null;
  const { bits, tokens, bytes, gaps, bitsPerToken, bitsPerByte } = summary;
  return { bits, tokens, bytes, gaps, bitsPerToken, bitsPerByte };
}
