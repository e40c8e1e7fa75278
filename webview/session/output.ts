/** One output, ACT or REHEARSE: its mark, its tokens, and where the cursor stands in it. */
import type { OutputView, TokenView } from '../../src/core/rehearsal/view.types';
import { el, icon, setAttribute, setText } from '../common/dom';
import { count, percent } from '../common/format';
import { nameOf, spoken } from '../common/text';
import { Chunks, placeOfSpan } from './chunks';

const outputs = new WeakMap<Element, OutputElement>();

export class OutputElement {
  readonly list = el('div', { class: 'toks', role: 'listbox', 'aria-orientation': 'horizontal' });
  /** Holds the tokens, and the alternatives card of a stop. */
  readonly content: HTMLElement;
  readonly foot = el('div', 'foot');
  readonly element: HTMLElement;
  private readonly chunks = new Chunks(this.list);
  private readonly note = el('div', { class: 'note', hidden: true });
  private readonly cut = el('div', { class: 'note warn', hidden: true });
  /** Node of the prompt that it begins with. */
  start = 0;
  private cursor = 0;
  /** How many tokens stand at or before the cursor. */
  private behind = 0;
  /** The token with the tab stop. */
  private active = -1;

  constructor(
    readonly role: OutputView['role'],
    readonly turn: number,
    readonly call: number | null,
  ) {
    this.content = el('div', 'content', this.list, this.cut, this.foot, this.note);
    this.element = el('div', `out ${role}`, roleMark(role), this.content);
    fillCut(this.cut);
    outputs.set(this.list, this);
  }

  /** The output that a token's span stands in. */
  static of(span: Element): OutputElement | undefined {
    const list = span.closest('.toks');
    return list ? outputs.get(list) : undefined;
  }

  get tokens(): readonly TokenView[] {
    return this.chunks.tokens;
  }

  get spans(): readonly HTMLElement[] {
    return this.chunks.spans;
  }

  /** Place of the token at the cursor, or −1. */
  get here(): number {
    return this.tokens[this.behind - 1]?.node === this.cursor ? this.behind - 1 : -1;
  }

  /** Brings the tokens to those of `view`: what stands already is kept, the rest is appended. */
  update(view: OutputView): void {
    const { tokens } = view;
    this.start = view.node;
    let same = 0;
    while (same < tokens.length && tokens[same]!.node === this.tokens[same]?.node) same++;
    if (same < this.tokens.length) {
      this.mark(this.here, false);
      this.chunks.truncate(same);
      this.behind = Math.min(this.behind, same);
    }
    this.append(tokens.slice(same));
  }

  append(tokens: readonly TokenView[]): void {
    for (const token of tokens) this.chunks.append(token, token.node > this.cursor);
    const last = this.tokens.at(-1);
    this.cut.hidden = last?.end !== 'length';
    this.setCursor(this.cursor);
  }

  /** Nodes grow along a branch: what is behind the cursor is a prefix, and only what changed side is touched. */
  setCursor(cursor: number): void {
    const was = this.here;
    this.cursor = cursor;
    const behind = this.countBehind(cursor);
    for (let i = Math.min(behind, this.behind); i < Math.max(behind, this.behind); i++) {
      this.spans[i]!.classList.toggle('ahead', i >= behind);
    }
    this.behind = behind;
    const { here } = this;
    // Where the cursor left for another output, the last token is still the last one behind it.
    if (was !== here) this.mark(was, false);
    if (here >= 0) this.mark(here, true);
    const focused = this.list.contains(document.activeElement);
    if (!focused && here >= 0) this.activate(here);
    else if (this.active < 0 || this.active >= this.tokens.length) this.activate(this.tokens.length - 1);
    this.describe(here);
  }

  /** Gives the tab stop to a token, and its name to screen readers. */
  activate(place: number): HTMLElement | null {
    const old = this.spans[this.active];
    if (old && this.active !== place) old.removeAttribute('tabindex');
    const span = this.spans[place];
    this.active = span ? place : -1;
    if (!span) return null;
    span.tabIndex = 0;
    span.setAttribute('aria-label', this.nameAt(place));
    return span;
  }

  /** "hash, 91 percent, rank 1, token 12 of 24, current". */
  nameAt(place: number): string {
    const token = this.tokens[place]!;
    const { logprob, rank } = token;
    const parts = [spoken(nameOf(token))];
    if (logprob !== null) parts.push(percent(logprob));
    if (rank !== null) parts.push(`rank ${rank}`);
    if (token.origin !== 'sampled') parts.push(token.origin);
    parts.push(`token ${place + 1} of ${this.tokens.length}`);
    if (place === this.here) parts.push('current');
    else if (place >= this.behind) parts.push('stored ahead');
    return parts.join(', ');
  }

  placeOf(span: Element): number {
    return placeOfSpan(span);
  }

  private countBehind(cursor: number): number {
    let low = 0;
    let high = this.tokens.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.tokens[middle]!.node <= cursor) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private mark(place: number, here: boolean): void {
    const span = this.spans[place];
    if (!span) return;
    span.classList.toggle('here', here);
    span.setAttribute('aria-selected', String(here));
    setAttribute(span, 'aria-current', here ? 'location' : null);
  }

  private describe(here: number): void {
    const total = this.tokens.length;
    const at = here >= 0 ? `, at token ${here + 1}` : '';
    const label = `${this.role === 'act' ? 'ACT' : 'REHEARSE'}, turn ${this.turn}, ${count(total, 'token')}${at}`;
    setAttribute(this.list, 'aria-label', label);
    const ahead = total - this.behind;
    this.note.hidden = ahead === 0 || this.behind === 0;
    if (!this.note.hidden)
      setText(this.note, `dotted: ${count(ahead, 'stored token')}, replayed as you step`);
  }
}

/** ACT is solid, square and points out; REHEARSE is dashed and round. Never by colour alone. */
export function roleMark(role: OutputView['role']): HTMLElement {
  return el('span', `role ${role}`, role === 'act' ? 'ACT' : 'REHEARSE');
}

function fillCut(element: HTMLElement): void {
  element.append(icon('warning'), 'cut at the limit: the output did not end by itself');
}
