/** Two models (or two checkpoints of one) on the same calls: what each knows, side by side. */
import type { Share } from './interval';
import { type FidelitySummary, summarize, verdictOf } from './summary';
import { type Surprise, surpriseSummary } from './surprise';
import type { ComparedPair } from './types';

interface ModelPairs<P> {
  model: string;
  pairs: readonly P[];
}

/** In each list the first model's comes first. Surprise is null where nothing was to be scored. */
export interface ModelsSummary {
  models: [string, string];
  /** Calls that both were compared on; only these count. */
  calls: number;
  fidelity: [Share, Share];
  surprise: [Surprise | null, Surprise | null];
  anticipation: [FidelitySummary['anticipation'], FidelitySummary['anticipation']];
  tools: {
    tool: string;
    fidelity: [Share, Share];
    surprise: [Surprise | null, Surprise | null];
  }[];
  /** Calls that one of them answers as the real tool does and the other does not. */
  onlyFirst: number;
  onlySecond: number;
}

/** Pairs are of the same call where `index` is the same. */
export function besideEachOther<P extends ComparedPair & { index: number }>(
  first: ModelPairs<P>,
  second: ModelPairs<P>,
): ModelsSummary {
  const others = new Map(second.pairs.map((pair) => [pair.index, pair]));
  const both = first.pairs.flatMap((pair): [P, P][] => {
    const other = others.get(pair.index);
    return other ? [[pair, other]] : [];
  });
  // What the author says of a call counts where it was said, and a real side that is wrong is so for both.
  const counted = both.filter((pairs) => pairs.every((pair) => verdictOf(pair) !== null));
  const knows = (pair: P) => verdictOf(pair) !== 'differs';
  const sides = (pairs: readonly [P, P][]) => [pairs.map(([a]) => a), pairs.map(([, b]) => b)] as const;
  const [a, b] = sides(counted);
  const [one, two] = [summarize(a), summarize(b)];
  return {
    models: [first.model, second.model],
    calls: counted.length,
    fidelity: [one.fidelity, two.fidelity],
    surprise: [surpriseSummary(a), surpriseSummary(b)].map(withoutTools) as ModelsSummary['surprise'],
    anticipation: [one.anticipation, two.anticipation],
    tools: one.tools.map(({ tool, fidelity }) => {
      const [own, other] = sides(counted.filter(([pair]) => pair.tool === tool));
      return {
        tool,
        fidelity: [fidelity, summarize(other).fidelity],
        surprise: [surpriseSummary(own), surpriseSummary(other)].map(
          withoutTools,
        ) as ModelsSummary['surprise'],
      };
    }),
    onlyFirst: counted.filter(([x, y]) => knows(x) && !knows(y)).length,
    onlySecond: counted.filter(([x, y]) => !knows(x) && knows(y)).length,
  };
}

function withoutTools(summary: ReturnType<typeof surpriseSummary>): Surprise | null {
  if (!summary) return null;
  const { bits, tokens, bytes, gaps, bitsPerToken, bitsPerByte } = summary;
  return { bits, tokens, bytes, gaps, bitsPerToken, bitsPerByte };
}
