/** What a chat template does, found out by rendering with it: names of models say nothing reliable. */
import type { Policy } from '../policy';
import { callId } from './render';
import type { Dialect, Message } from './types';

const PROBE_TOOL = {
  name: 'probe_tool',
  description: 'Probe.',
  parameters: { type: 'object', properties: { probe_argument: { type: 'string' } } },
  readOnly: true,
};

export interface TemplateFacts {
  dialect: Dialect;
  templateShowsTools: boolean;
  opensReasoning: boolean;
}

/** Renders one conversation with a tool and one with a call, and reads the result. Two small requests. */
export async function probeTemplate(policy: Pick<Policy, 'render' | 'decode'>): Promise<TemplateFacts> {
  const user: Message = { role: 'user', content: 'a' };
  const shown = await rendered(policy, [user], true);
  const call: Message = {
    role: 'assistant',
    content: '',
    tool_calls: [
      {
        id: callId(0),
        type: 'function',
        function: { name: 'probe_tool', arguments: { probe_argument: 'b' } },
      },
    ],
  };
  const called = await rendered(policy, [user, call], false);
  return {
    dialect: dialectOf(`${called}\n${shown}`),
    templateShowsTools: shown.includes('probe_tool'),
    opensReasoning: shown.trimEnd().endsWith('<think>'),
  };
}

async function rendered(
  policy: Pick<Policy, 'render' | 'decode'>,
  messages: Message[],
  withTools: boolean,
): Promise<string> {
  try {
    const tools = withTools ? [PROBE_TOOL] : undefined;
    return await policy.decode(await policy.render({ messages, tools, generationPrompt: withTools }));
  } catch {
    return ''; // A template without a place for calls may raise: Hermes form is then written by us.
  }
}

function dialectOf(text: string): Dialect {
  if (text.includes('[TOOL_CALLS]')) return 'mistral';
  if (text.includes('<function=')) return 'qwen-coder';
  if (text.includes('<tool_call>')) return 'hermes';
  if (text.includes('<|python_tag|>') || /\{"name": ?"probe_tool", ?"parameters"/.test(text)) return 'llama';
  return 'hermes';
}
