/**
 * A policy in memory: bytes are tokens, the template is ChatML with Hermes tools, and what it "samples" is a
 * script. For what no real model writes on demand; whatever a model can do is tested on the real engine.
 */

import { openAiFunction, REHEARSE_ROLE } from '../../../src/core/conversation/prompts';
import { formatJson } from '../../../src/core/json';
import type {
  Policy,
  PolicyInfo,
  RenderRequest,
  SampledToken,
  SampleRequest,
  Signal,
} from '../../../src/core/policy';

export const START = 256;
export const END = 257;

export const INFO: PolicyInfo = {
  model: 'memory',
  tier: 'token-exact',
  contextLength: 100_000,
  dialect: 'hermes',
  templateShowsTools: true,
  endIds: [END],
  opensReasoning: false,
};

/** Output n of each role: text, raw bytes, or tokens; it ends with an end token unless `cut`. */
export interface Script {
  act: readonly Scripted[];
  rehearse?: readonly Scripted[];
}
export type Scripted = string | { bytes: readonly number[]; cut?: boolean };

export function idsOf(text: string): number[] {
  const parts = text.split(/(<\|im_start\|>|<\|im_end\|>)/);
  return parts.flatMap((part) =>
    part === '<|im_start|>' ? [START] : part === '<|im_end|>' ? [END] : [...Buffer.from(part)],
  );
}

export function textOf(ids: readonly number[]): string {
  const parts: Buffer[] = ids.map((id) =>
    id === START ? Buffer.from('<|im_start|>') : id === END ? Buffer.from('<|im_end|>') : Buffer.from([id]),
  );
  return Buffer.concat(parts).toString('utf8');
}

export function chatml({ messages, tools, generationPrompt }: RenderRequest): string {
  let text = '';
  const list = [...messages];
  const system = list[0]?.role === 'system' ? list.shift()!.content : '';
  if (system || tools?.length) {
    const shown = tools?.length
      ? `\n<tools>\n${tools.map((tool) => formatJson(openAiFunction(tool))).join('\n')}\n</tools>`
      : '';
    text += `<|im_start|>system\n${system}${shown}<|im_end|>\n`;
  }
  for (const message of list) {
    const calls =
      message.role === 'assistant'
        ? (message.tool_calls ?? [])
            .map((call) => `\n<tool_call>\n${formatJson(call.function)}\n</tool_call>`)
            .join('')
        : '';
    text += `<|im_start|>${message.role}\n${message.content}${calls}<|im_end|>\n`;
  }
  return generationPrompt ? `${text}<|im_start|>assistant\n` : text;
}

export interface MemoryPolicy extends Policy {
  /** Requests so far, for tests of what was asked. */
  requests: SampleRequest[];
}

/** What comes next is a function of the prompt alone, so that stepping and continuing must agree. */
export function memoryPolicy(script: Script, info: Partial<PolicyInfo> = {}): MemoryPolicy {
  const requests: SampleRequest[] = [];
  return {
    info: { ...INFO, ...info },
    requests,
    render: async (request) => idsOf(chatml(request)),
    decode: async (ids) => textOf(ids),
    async *sample(request: SampleRequest, signal?: Signal) {
      requests.push(request);
      const { scripted, written } = next(script, request.prompt);
      const bytes = typeof scripted === 'string' ? [...Buffer.from(scripted)] : scripted.bytes;
      const cut = typeof scripted !== 'string' && scripted.cut;
      const tokens = cut ? [...bytes] : [...bytes, END];
      const rest = tokens.slice(written);
      // A chosen token may stand where the script had ended.
      if (rest.length === 0 && !cut) rest.push(END);
      for (const [index, id] of rest.entries()) {
        if (signal?.aborted || index >= request.maxTokens) return;
        await Promise.resolve();
        yield token(id, request.alternatives);
      }
    },
  };
}

/** Which output the prompt asks for, and how much of it is there. */
function next(script: Script, prompt: readonly number[]): { scripted: Scripted; written: number } {
  const text = textOf(prompt);
  const header = '<|im_start|>assistant\n';
  const outputs = text.split(header).length - 1;
  const list = (text.includes(REHEARSE_ROLE[0]) ? script.rehearse : script.act) ?? [];
  let at = prompt.length;
  const open = idsOf(header);
  while (!open.every((id, i) => prompt[at - open.length + i] === id)) at--;
  return { scripted: list[outputs - 1] ?? '', written: prompt.length - at };
}

export function token(id: number, alternatives = 2): SampledToken {
  const bytes = id < 256 ? [id] : [];
  const text = id < 128 ? String.fromCharCode(id) : id < 256 ? `\\x${id.toString(16)}` : '';
  const others = [
    { id, text, bytes, logprob: -0.1 },
    { id: END, text: '<|im_end|>', bytes: [...Buffer.from('<|im_end|>')], logprob: -3 },
    { id: 88, text: 'X', bytes: [88], logprob: -4 },
  ].filter((other, index, all) => all.findIndex((first) => first.id === other.id) === index);
  const end = id === END ? { end: 'stop' as const } : {};
  return {
    id,
    text,
    bytes,
    logprob: -0.1,
    entropy: 0.5,
    rank: 1,
    alternatives: others.slice(0, alternatives),
    ...end,
  };
}
