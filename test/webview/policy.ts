/**
 * A policy in memory that writes what its rules say, token by token, with made-up but repeatable probabilities.
 * Forced tokens are respected: it goes on with the first text that begins as what stands there.
 */
import type { Alternative, Policy, PolicyInfo, SampledToken } from '../../src/core/policy';
import type { TemplateSegment } from '../../src/core/rehearsal/types';

export interface Rule {
  /** Matched against the end of the message that the output answers. */
  when: RegExp;
  /** What may be written, most likely first. */
  write: string[];
}

export const INFO: PolicyInfo = {
  model: 'nano-1.7m',
  tier: 'token-exact',
  contextLength: 4096,
  dialect: 'hermes',
  templateShowsTools: true,
  opensReasoning: false,
  endIds: [1],
};

const END = '<|im_end|>';
const PIECES =
  /<\|im_end\|>|<\/?[a-z_]+>|\n|\{"|": \{?"|", "|"\}+|#| ?[A-Za-z_]+|\d| ?[^\sA-Za-z_\d<#]{1,4}|\s+|[\s\S]/g;
/** Ids from here on mark prompts: each rendering has one of its own, which says whose output follows. */
const PROMPTS = 1_000_000;
const FILLER = 40;

export class ScriptedPolicy implements Policy {
  readonly info = INFO;
  private readonly ids = new Map<string, number>([[END, 1]]);
  private readonly texts: string[] = ['', END];
  private readonly scripts: string[][] = [];

  /** Ids of a segment; what is written behind it is decided here. */
  renderBy(rules: readonly Rule[], segment: TemplateSegment): number[] {
    const text = segment.messages.at(-1)!.content.slice(-160);
    const rule = rules.find(({ when }) => when.test(text));
    if (!rule) throw new Error(`no rule for ${text}`);
    this.scripts.push(rule.write);
    return [PROMPTS + this.scripts.length - 1, ...new Array<number>(FILLER).fill(this.idOf(' '))];
  }

  async render(): Promise<number[]> {
    throw new Error('this policy renders segments only');
  }

  async decode(ids: readonly number[]): Promise<string> {
    return ids.map((id) => this.texts[id] ?? '').join('');
  }

  async *sample({
    prompt,
    alternatives,
    maxTokens,
  }: Parameters<Policy['sample']>[0]): AsyncIterable<SampledToken> {
    const at = prompt.findLastIndex((id) => id >= PROMPTS);
    const scripts = this.scripts[prompt[at]! - PROMPTS]!;
    let written = prompt
      .slice(at + 1 + FILLER)
      .map((id) => this.texts[id])
      .join('');
    for (let given = 0; given < maxTokens; given++) {
      const script = scripts.find((text) => text.startsWith(written));
      const rest = (script ?? written).slice(written.length);
      const piece = rest.match(PIECES)?.[0] ?? END;
      yield this.token(piece, written, scripts, alternatives);
      if (piece === END) return;
      written += piece;
    }
  }

  private token(piece: string, written: string, scripts: string[], count: number): SampledToken {
    const others = new Set(
      scripts
        .filter((text) => text.startsWith(written))
        .map((text) => text.slice(written.length).match(PIECES)?.[0] ?? END),
    );
    for (const other of DISTRACTORS) others.add(other);
    others.delete(piece);
    const forks = scripts.filter((text) => text.startsWith(written)).length > 1;
    const p = forks ? 0.912 : probabilityOf(written.length, piece);
    const list: Alternative[] = [this.alternative(piece, Math.log(p))];
    let rest = 1 - p;
    for (const other of [...others].slice(0, Math.max(count - 1, 0))) {
      list.push(this.alternative(other, Math.log(rest * 0.7)));
      rest *= 0.3;
    }
    list.sort((a, b) => b.logprob - a.logprob);
    const own = list.find(({ text }) => text === piece)!;
    const entropy = list.reduce((sum, { logprob }) => sum - Math.exp(logprob) * logprob, 0);
    return {
      id: own.id,
      text: piece === END ? '' : piece,
      bytes: [],
      logprob: own.logprob,
      entropy,
      rank: list.indexOf(own) + 1,
      alternatives: count > 0 ? list : [],
      ...(piece === END && { end: 'stop' as const }),
    };
  }

  private alternative(text: string, logprob: number): Alternative {
    return { id: this.idOf(text), text, logprob };
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

const DISTRACTORS = ['_id', ' ', '4', '#W', '", "', ' the', '\n'];

/** Mostly sure, now and then not at all: enough for every level of heat to be seen. */
function probabilityOf(at: number, piece: string): number {
  let hash = at * 2654435761;
  for (const letter of piece) hash = Math.imul(hash ^ letter.charCodeAt(0), 0x01000193);
  const unit = ((hash >>> 8) % 1000) / 1000;
  if (unit > 0.22) return 0.99 - (unit % 0.04);
  return 0.15 + unit * 3.6;
}
