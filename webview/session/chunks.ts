/**
 * Token spans in chunks that the browser skips while they are off screen (`content-visibility`). Tokens are only
 * ever appended, or cut off at the end; a span that stands is never touched again.
 */

import type { TokenView } from '../../src/core/rehearsal/view.types';
import { el } from '../common/dom';
import { flowText, kindOf } from '../common/text';
import { entropyLevel, probabilityLevel } from './heat';

/** A chunk is a block, so it is cut at a line end where one comes in time. */
const SOFT_SIZE = 150;
const HARD_SIZE = 200;

const template = el('span', { class: 't', role: 'option', 'aria-selected': 'false' });
const places = new WeakMap<Element, number>();

/** Place of a token's span in its output. */
export function placeOfSpan(span: Element): number {
  return places.get(span) ?? -1;
}

export class Chunks {
  readonly spans: HTMLElement[] = [];
  readonly tokens: TokenView[] = [];
  private chunk: HTMLElement | null = null;
  private sizes: number[] = [];

  constructor(private readonly list: HTMLElement) {}

  append(token: TokenView, ahead: boolean): void {
    const before = this.tokens.at(-1);
    const endsLine = before !== undefined && this.breaksAfter(before, token);
    this.openChunk(endsLine);
    if (before && this.chunk!.lastChild) {
      if (endsLine) this.chunk!.append(document.createElement('br'));
      else if (!/\s$/.test(before.text) && !/^\s/.test(token.text))
        this.chunk!.append(document.createElement('wbr'));
    }
    const span = template.cloneNode() as HTMLElement;
    span.className = classOf(token, ahead);
    span.textContent = flowText(token);
    places.set(span, this.spans.length);
    this.chunk!.append(span);
    this.spans.push(span);
    this.tokens.push(token);
    this.sizes[this.sizes.length - 1]!++;
  }

  /** Cuts everything behind the first `length` tokens off. */
  truncate(length: number): void {
    if (length >= this.spans.length) return;
    this.spans.length = this.tokens.length = length;
    let kept = 0;
    let chunks = 0;
    while (kept < length) kept += this.sizes[chunks++]!;
    this.sizes.length = chunks;
    while (this.list.children.length > this.sizes.length) this.list.lastChild!.remove();
    this.chunk = (this.list.lastElementChild as HTMLElement | null) ?? null;
    if (!this.chunk) return;
    this.sizes[chunks - 1]! -= kept - length;
    this.chunk.classList.remove('full');
    while (this.chunk.lastChild !== this.spans[length - 1]) this.chunk.lastChild!.remove();
  }

  private openChunk(endsLine: boolean): void {
    const size = this.sizes.at(-1) ?? HARD_SIZE;
    if (size < (endsLine ? SOFT_SIZE : HARD_SIZE)) return;
    this.chunk?.classList.add('full');
    this.chunk = el('div', 'chunk');
    this.list.append(this.chunk);
    this.sizes.push(0);
  }

  /** A line ends at a newline, except inside a pair of tags: a call stays on the line of its brackets. */
  private breaksAfter(before: TokenView, token: TokenView): boolean {
    if (!before.text.endsWith('\n') || kindOf(token) === 'end') return false;
    if (kindOf(token) === 'tag' && token.text.startsWith('</')) return false;
    const earlier = this.tokens.at(-2);
    const opens = earlier && kindOf(earlier) === 'tag' && !earlier.text.startsWith('</');
    return !(opens && before.text === '\n');
  }
}

function classOf(token: TokenView, ahead: boolean): string {
  const origin = token.origin === 'sampled' ? '' : ' placed';
  const heat = `p${probabilityLevel(token.logprob)} e${entropyLevel(token.entropy)}`;
  return `t ${heat} ${kindOf(token)}${origin}${ahead ? ' ahead' : ''}`;
}
