/**
 * The alternatives at the stop, in the flow: a gap is kept open behind the line of the current token, and the
 * card lies over it. The card itself is not inside the tokens' listbox, and keeps the focus when the gap moves.
 */
import { el, oncePerFrame } from '../common/dom';
import { Card, type CardActions, type Subject } from './card';

export class StopCard {
  readonly card: Card;
  private readonly gap = el('div', { class: 'gap', 'aria-hidden': 'true' });
  private readonly watch: ResizeObserver;
  /** Nothing stands behind the gap. */
  private last = false;

  constructor(actions: CardActions) {
    this.card = new Card('stop', actions);
    this.watch = new ResizeObserver(oncePerFrame(() => this.place()));
    this.watch.observe(this.card.element);
  }

  show(subject: Subject): void {
    const before = this.card.subject?.output;
    if (before !== subject.output) {
      if (before) this.watch.unobserve(before.list);
      subject.output.list.after(this.card.element);
      this.watch.observe(subject.output.list);
    }
    this.card.show(subject);
    this.place();
  }

  hide(): void {
    if (!this.card.subject) return;
    this.watch.unobserve(this.card.subject.output.list);
    this.card.hide();
    this.gap.remove();
  }

  /** Tokens were appended: while they come, the gap stays behind them without asking for a layout. */
  settle(): void {
    const span = this.card.subject?.output.spans.at(-1);
    if (span && this.last && this.gap.isConnected) span.after(this.gap);
  }

  /** A step began: what is shown cannot be chosen any more, though it is shown a moment longer. */
  freeze(): void {
    if (this.card.subject) this.card.subject.busy = true;
  }

  /** Whether it shows the alternatives of this token. */
  shows({ output, place }: Pick<Subject, 'output' | 'place'>): boolean {
    const { subject, visible } = this.card;
    return visible && subject?.output === output && subject.place === place;
  }

  /** Puts the gap at the end of the token's line: nothing else moves while a line is being written. */
  private place(): void {
    const { subject, element } = this.card;
    if (!subject || element.offsetParent === null) return;
    const { output, place } = subject;
    const { spans } = output;
    const span = spans[place];
    if (!span) return;
    const line = endOf(span);
    let last = place;
    while (sameChunk(span, spans[last + 1]) && endOf(spans[last + 1]!).top < line.bottom - 4) last++;
    if (this.gap.previousSibling !== spans[last]) spans[last]!.after(this.gap);
    this.last = last === spans.length - 1;
    const box = output.content.getBoundingClientRect();
    const height = `${element.offsetHeight}px`;
    if (this.gap.style.height !== height) this.gap.style.height = height;
    const top = this.gap.getBoundingClientRect().top - box.top;
    element.style.top = `${top}px`;
    const middle = line.left + line.width / 2 - element.getBoundingClientRect().left;
    element.style.setProperty('--at', `${Math.max(middle, 8)}px`);
  }
}

/** Where a token ends: its leading space may hang at the end of the line before. */
function endOf(span: Element): DOMRect {
  const rects = span.getClientRects();
  return rects[rects.length - 1] ?? span.getBoundingClientRect();
}

function sameChunk(a: Element, b: Element | undefined): boolean {
  return b !== undefined && a.parentElement === b.parentElement;
}
