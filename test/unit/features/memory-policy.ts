/**
 * A model in memory: it has a chat template, a vocabulary that grows as texts come, and writes what a script
 * says follows a conversation. Tokens that a person chose instead are respected.
 */
import type { Message } from '../../../src/core/conversation/types';
import type {
  Alternative,
  Policy,
  PolicyInfo,
  RenderRequest,
  SampledToken,
  SampleRequest,
} from '../../../src/core/policy';

/** Texts that may follow a conversation, most likely first. */
export type Script = (conversation: string) => string[];

const END = '<|end|>';
const PIECES = /<\|\w+\|>|<\/?\w+>| ?[A-Za-z_]+|\d| ?[^\sA-Za-z_\d<]{1,3}|\s|[\s\S]/g;

export class MemoryPolicy implements Policy {
  readonly info: PolicyInfo;
  private readonly ids = new Map<string, number>();
  private readonly texts: string[] = [];

  constructor(private readonly script: Script) {
    this.info = {
      model: 'memory',
      tier: 'token-exact',
      contextLength: 4096,
      dialect: 'hermes',
      templateShowsTools: false,
      opensReasoning: false,
      endIds: [this.idOf(END)],
    };
  }

  async render({ messages, generationPrompt }: RenderRequest): Promise<number[]> {
    const text = messages.map(templateOf).join('') + (generationPrompt ? '<|assistant|>' : '');
    return pieces(text).map((piece) => this.idOf(piece));
  }

  async decode(ids: readonly number[]): Promise<string> {
    return ids.map((id) => this.texts[id] ?? '').join('');
  }

  async *sample({ prompt, maxTokens, alternatives }: SampleRequest): AsyncIterable<SampledToken> {
    const text = await this.decode(prompt);
    const at = text.lastIndexOf('<|assistant|>') + '<|assistant|>'.length;
    const options = this.script(text.slice(0, at));
    let written = text.slice(at);
    for (let given = 0; given < maxTokens; given++) {
      const fitting = options.filter((option) => option.startsWith(written));
      const next = fitting.map((option) => pieces(option.slice(written.length))[0] ?? END);
      const token = this.token([...new Set(next.length > 0 ? next : [END])], alternatives);
      yield token;
      if (token.end) return;
      written += token.text;
    }
  }

  /** The first is taken; each of the others is a tenth as likely as the one before. */
  private token(choices: string[], count: number): SampledToken {
    const list = [...choices, '~'].map((text, i): Alternative => {
      return { id: this.idOf(text), text, logprob: Math.log(0.9 * 0.1 ** i) };
    });
    const { id, text, logprob } = list[0]!;
    const isEnd = text === END;
    return {
      id,
      text: isEnd ? '' : text,
      bytes: [],
      logprob,
      entropy: 0.5,
      rank: 1,
      alternatives: list.slice(0, count),
      ...(isEnd && { end: 'stop' as const }),
    };
  }

  private idOf(text: string): number {
    let id = this.ids.get(text);
    if (id === undefined) {
      id = this.texts.push(text) - 1;
      this.ids.set(text, id);
    }
    return id;
  }
}

function pieces(text: string): string[] {
  return text.match(PIECES) ?? [];
}

function templateOf(message: Message): string {
  const calls = message.role === 'assistant' ? (message.tool_calls ?? []) : [];
  return `<|${message.role}|>${message.content}${calls.map((call) => JSON.stringify(call)).join('')}${END}`;
}
