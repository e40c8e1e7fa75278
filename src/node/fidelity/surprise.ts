/**
 * How unlikely the policy finds a real answer: scores it behind the prompt in which it rehearsed. A model that reasons
 * first is given an empty reasoning block, as its own template writes one, so that the answer may follow at once.
 */
import {
  answerSpan,
  byteLength,
  type MarkedSurprise,
  scoredText,
  surpriseOf,
} from '../../core/fidelity/surprise';
import type { Answer } from '../../core/fidelity/types';
import type { Policy, Signal } from '../../core/policy';

export type Scorer = (prompt: readonly number[], real: Answer, signal?: Signal) => Promise<MarkedSurprise>;

/** Null where the policy's server cannot score. The scorer throws where one answer cannot be. */
export function answerScorer(policy: Policy): Scorer | null {
  if (!policy.info.canScore || !policy.score || !policy.encode) return null;
  const encode = policy.encode.bind(policy);
  const score = policy.score.bind(policy);
  let lead: Promise<number[]> | null = null;
  return async (prompt, real, signal) => {
    lead ??= emptyReasoning(policy).then((text) => (text ? encode(text) : []));
    lead.catch(() => {
      lead = null;
    });
    const text = scoredText(real);
    const [before, ids] = await Promise.all([lead, encode(text, signal)]);
    const tokens = await score({ prompt: [...prompt, ...before], ids, priority: 1 }, signal);
    const bytes = tokens.reduce((sum, token) => sum + token.bytes.length, 0);
    if (bytes !== byteLength(text)) throw new Error('the tokens of the model do not spell this answer');
    return surpriseOf(tokens, answerSpan(real));
  };
}

const ANSWER = 'zz';

/** What stands between the header of a message and its text where it has no reasoning; mostly nothing. */
export async function emptyReasoning(policy: Policy): Promise<string> {
  if (policy.info.opensReasoning) return '\n</think>\n\n';
  const user = { role: 'user' as const, content: 'a' };
  const [open, said] = await Promise.all([
    policy.render({ messages: [user], generationPrompt: true }).then((ids) => policy.decode(ids)),
    policy
      .render({ messages: [user, { role: 'assistant', content: ANSWER }], generationPrompt: false })
      .then((ids) => policy.decode(ids)),
  ]);
  const between = said.startsWith(open) ? said.slice(open.length, said.indexOf(ANSWER, open.length)) : '';
  return /^<think>\s*<\/think>\s*$/.test(between) ? between : '';
}
