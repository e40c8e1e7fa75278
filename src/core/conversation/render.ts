/**
 * Incremental rendering: ids of what is new, so that a prompt grows and nothing sampled is tokenized again.
 *
 * What a new message adds is taken from rendering a two-message anchor with it behind: everything after the
 * anchor's last end token, which includes the glue that the template puts there (ChatML's line end). End
 * tokens are counted rather than the anchor's ids compared, because templates such as Qwen3's write the
 * anchor itself differently once something follows it.
 */
import type { Policy, Signal } from '../policy';
import type { TemplateSegment } from '../rehearsal/types';
import type { Message } from './types';

export type Renderer = (segment: TemplateSegment, signal?: Signal) => Promise<number[]>;

/** Raised where a chat template cannot be rendered piece by piece. */
export class TemplateError extends Error {}

/** Segments whose ids are kept: rollouts of a task begin alike, and gates say the same again and again. */
const KEPT = 256;

export function createRenderer(policy: Policy): Renderer {
  const kept = new Map<string, number[]>();
  const render = rendererOf(policy);
  return async (segment, signal) => {
    const key = JSON.stringify([segment.messages, segment.tools, segment.after]);
    const known = kept.get(key);
    const ids = known ?? (await render(segment, signal));
    kept.delete(key);
    kept.set(key, ids); // the last used is the last to go
    if (kept.size > KEPT) kept.delete(kept.keys().next().value!);
    return [...ids]; // the caller may go on writing in it
  };
}

function rendererOf(policy: Policy): Renderer {
  const counts = new Map<string, Promise<number>>();
  const ends = new Set(policy.info.endIds);

  async function endsIn(anchor: readonly Message[], signal?: Signal): Promise<number> {
    const ids = await policy.render({ messages: anchor, generationPrompt: false }, signal);
    return ids.filter((id) => ends.has(id)).length;
  }

  return async ({ messages, tools, after }, signal) => {
    if (after === null) return policy.render({ messages, tools, generationPrompt: true }, signal);
    const anchor = anchorFor(messages);
    const key = JSON.stringify(anchor);
    let count = counts.get(key);
    if (!count) {
      count = endsIn(anchor, signal);
      counts.set(key, count);
      count.catch(() => counts.delete(key));
    }
    const full = await policy.render({ messages: [...anchor, ...messages], generationPrompt: true }, signal);
    const at = positionOfEnd(full, ends, await count);
    if (at < 0) {
      throw new TemplateError(
        `The chat template of ${policy.info.model} writes no end token after an assistant message, so a conversation cannot grow token by token.`,
      );
    }
    return full.slice(after === 'stop' ? at + 1 : at);
  };
}

/** Index of the `count`-th end token, or −1. */
function positionOfEnd(ids: readonly number[], ends: ReadonlySet<number>, count: number): number {
  if (count === 0) return -1;
  let seen = 0;
  return ids.findIndex((id) => ends.has(id) && ++seen === count);
}

/** The least conversation after which these messages may stand: tool messages need calls to answer. */
function anchorFor(messages: readonly Message[]): Message[] {
  const user: Message = { role: 'user', content: 'a' };
  const answered = messages.filter((message) => message.role === 'tool');
  if (answered.length === 0) return [user, { role: 'assistant', content: 'b' }];
  const tool_calls = answered.map((message) => ({
    id: message.tool_call_id ?? callId(0),
    type: 'function' as const,
    function: { name: message.name, arguments: {} },
  }));
  return [user, { role: 'assistant', content: '', tool_calls }];
}

/** Nine letters and digits, as Mistral's template demands. */
export function callId(index: number): string {
  return `call${String(index).padStart(5, '0')}`;
}
