/**
 * Texts of tokens, for servers that give ids without bytes (vLLM). One small request a token id, then
 * remembered. A token is decoded behind an `a`, because some tokenizers drop a leading space at the start.
 */
import type { Signal } from '../../core/policy';

type Decode = (ids: readonly number[], signal?: Signal) => Promise<string>;

const PARTIAL = /\ufffd+$/;

export class TokenTexts {
  private readonly known = new Map<number, Promise<string>>();
  private anchor: Promise<{ id: number; text: string }> | null = null;

  constructor(
    private readonly decode: Decode,
    private readonly idOfA: (signal?: Signal) => Promise<number>,
  ) {}

  /** Text of one token; a part of a character shows as U+FFFD. */
  of(id: number, signal?: Signal): Promise<string> {
    let text = this.known.get(id);
    if (!text) {
      text = this.find(id, signal);
      this.known.set(id, text);
      text.catch(() => this.known.delete(id));
    }
    return text;
  }

  /** What a token adds to the text before it: whole characters only, so '' until one is complete. */
  async added(before: readonly number[], id: number, signal?: Signal): Promise<string> {
    const tail = before.slice(-8);
    const [old, grown] = await Promise.all([this.decode(tail, signal), this.decode([...tail, id], signal)]);
    const from = old.replace(PARTIAL, '');
    const to = grown.replace(PARTIAL, '');
    return to.startsWith(from) ? to.slice(from.length) : '';
  }

  private async find(id: number, signal?: Signal): Promise<string> {
    this.anchor ??= this.findAnchor(signal);
    this.anchor.catch(() => {
      this.anchor = null;
    });
    const anchor = await this.anchor;
    const text = await this.decode([anchor.id, id], signal);
    return text.startsWith(anchor.text) ? text.slice(anchor.text.length) : this.decode([id], signal);
  }

  private async findAnchor(signal?: Signal) {
    const id = await this.idOfA(signal);
    return { id, text: await this.decode([id], signal) };
  }
}
