/** Other answers for the panel's pictures and tests: compared and marked by the real core. */
import { compareAnswers } from '../../src/core/fidelity/compare';
import { answerSpan, scoredText, surpriseOf } from '../../src/core/fidelity/surprise';
import type { Answer } from '../../src/core/fidelity/types';
import type { OtherAnswer } from '../../src/features/session/beside';
import { otherView } from '../../src/features/session/other-view';
import type { ToSession } from '../../webview/common/messages';
import type { Story } from './story';

type Observed = NonNullable<ReturnType<Story['view']>['turns'][number]['calls'][number]['observation']>;

export function observationOf(story: Story, turn: number): Observed {
  return story.view().turns[turn - 1]!.calls[0]!.observation!;
}

/** What stands beside the observation of a turn's first call. */
export function beside(story: Story, turn: number, change: Partial<OtherAnswer> = {}): ToSession {
  const { node } = observationOf(story, turn);
  const other: OtherAnswer = {
    node,
    source: 'real',
    status: 'done',
    answer: null,
    durationMs: 3.2,
    failure: null,
    notes: [],
    comparison: null,
    surprise: null,
    unscored: null,
    ...change,
  };
  return { type: 'other', node, other: otherView(other) };
}

/** Both answers compared, and the real one with a surprise: as a model would find one that it half knows. */
export function compared(rehearsed: Answer, real: Answer): Partial<OtherAnswer> {
  const pieces = scoredText(real).match(/<[^>]+>|[\p{L}_]+|\d+|[^\p{L}\d]/gu)!;
  const tokens = pieces.map((text, i) => {
    const known = JSON.stringify(rehearsed.value).includes(text);
    const logprob = known ? -0.05 : -[0.6, 1.2, 2.2, 4.5][i % 4]!;
    return { text, bytes: [...new TextEncoder().encode(text)], logprob };
  });
  return {
    answer: real,
    comparison: compareAnswers(rehearsed, real),
    surprise: surpriseOf(tokens, answerSpan(real)),
  };
}
