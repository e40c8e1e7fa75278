/** The same card, floating over the column: for a token under the pointer or with the focus. */
import { Card, type CardActions, type Subject } from './card';
import { OutputElement } from './output';

const SHOW_MS = 180;
const HIDE_MS = 160;
const MARGIN = 6;

export interface FloatHost {
  /** What the card is to show for a token, or null where it shows already. */
  subject(output: OutputElement, place: number): Subject | null;
  actions: CardActions;
}

export class FloatingCard {
  readonly card: Card;
  private timer: number | undefined;
  private anchor: HTMLElement | null = null;
  /** Opened by a click or the keyboard: it stays until it is closed. */
  private pinned = false;

  constructor(
    /** The scrolling column: the card moves with what it belongs to. */
    private readonly column: HTMLElement,
    private readonly host: FloatHost,
  ) {
    this.card = new Card('float', host.actions);
    column.append(this.card.element);
    column.addEventListener('pointerover', ({ target }) => this.over(target as Element));
    column.addEventListener('pointerleave', () => this.later(HIDE_MS, () => this.hide()));
    column.addEventListener('focusin', ({ target }) => this.focused(target as Element));
    document.addEventListener('pointerdown', ({ target }) => {
      if (!column.contains(target as Element)) this.hide(true);
    });
  }

  /** Shows the card of a token at once and keeps it. */
  pin(span: HTMLElement): void {
    clearTimeout(this.timer);
    this.showAt(span);
    this.pinned = this.card.visible;
  }

  hide(evenPinned = false): void {
    clearTimeout(this.timer);
    if (this.pinned && !evenPinned) return;
    this.pinned = false;
    this.anchor?.classList.remove('looked');
    this.anchor = null;
    this.card.hide();
  }

  /** After a change: the token may be gone, or a step may have begun or ended. */
  refresh(): void {
    if (!this.anchor) return;
    if (this.anchor.isConnected) this.showAt(this.anchor);
    else this.hide(true);
  }

  private over(target: Element): void {
    if (this.pinned) return;
    const span = target.closest<HTMLElement>('.t');
    if (this.card.element.contains(target) || (span && span === this.anchor)) clearTimeout(this.timer);
    else if (span) this.later(SHOW_MS, () => this.showAt(span));
    else this.later(HIDE_MS, () => this.hide());
  }

  private focused(target: Element): void {
    if (this.card.element.contains(target)) return;
    const span = target.closest<HTMLElement>('.t');
    this.hide(true);
    if (span?.matches(':focus-visible')) this.showAt(span);
  }

  private showAt(span: HTMLElement): void {
    const output = OutputElement.of(span);
    const subject = output && span.isConnected ? this.host.subject(output, output.placeOf(span)) : null;
    this.anchor?.classList.remove('looked');
    if (!subject) {
      this.hide(true);
      return;
    }
    this.anchor = span;
    span.classList.add('looked');
    this.card.show(subject);
    this.position(span);
  }

  /** Under the token, or over it where there is no room, and never beyond the column's edges. */
  private position(span: HTMLElement): void {
    const { element } = this.card;
    const view = this.column.getBoundingClientRect();
    const at = span.getClientRects()[0] ?? span.getBoundingClientRect();
    const room = view.bottom - at.bottom;
    const above = room < element.offsetHeight + MARGIN && at.top - view.top > room;
    const top = above ? at.top - element.offsetHeight - MARGIN : at.bottom + MARGIN;
    const right = view.left + this.column.clientWidth - element.offsetWidth - MARGIN;
    const left = Math.max(Math.min(at.left - 24, right), view.left + MARGIN);
    element.style.top = `${top - view.top + this.column.scrollTop}px`;
    element.style.left = `${left - view.left}px`;
  }

  private later(ms: number, work: () => void): void {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(work, ms);
  }
}
