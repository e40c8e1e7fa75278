/** The column of turns: keeps what stands, appends what is new, and follows the cursor. */
import type { BranchView, OtherView, TokenView, TurnView } from '../../src/core/rehearsal/view.types';
import { el, oncePerFrame } from '../common/dom';
import { printable } from '../common/text';
import type { CardActions, Subject } from './card';
import { FloatingCard } from './float';
import type { About } from './other';
import { OutputElement } from './output';
import { StopCard } from './stopcard';
import { TurnElement } from './turn';

export interface ColumnActions {
  choose(node: number, id: number): void;
  goto(node: number): void;
  again(node: number): void;
  about(what: About, node: number): void;
}

/** Pixels from the lower edge within which a person still counts as reading along. */
const NEAR = 80;

/** Pixels kept free around what is scrolled to. */
const EDGE = 24;

/** How long the card of the last stop stays while a step runs, in milliseconds. */
const LINGER_MS = 250;

export class Column {
  readonly element = el('section', { class: 'turns', 'aria-label': 'Turns', tabindex: -1 });
  readonly turns: TurnElement[] = [];
  readonly float: FloatingCard;
  private readonly user = el('div', 'said');
  private readonly stopCard: StopCard;
  private readonly choices = new Map<number, boolean>();
  /** Other answers, by the node of the observation that each stands beside. */
  private readonly others = new Map<number, OtherView>();
  private unavailable: string | null = null;
  private branches: readonly BranchView[] = [];
  private cursor = 0;
  private busy = false;
  private following = true;
  /** The focus was in the column before the last change. */
  private focused = false;
  private hiding: number | undefined;
  private readonly follow = oncePerFrame(() => this.scrollToCursor());

  constructor(
    private readonly actions: ColumnActions,
    /** What scrolls: the column itself, or the page where it is narrow. */
    private readonly scroller: () => HTMLElement,
  ) {
    this.element.append(el('div', 'user first', el('span', 'label', 'User'), this.user));
    const cards: CardActions = {
      choose: (node, id) => this.leaveFor(() => this.actions.choose(node, id)),
      goto: (node) => this.leaveFor(() => this.actions.goto(node)),
      leave: (subject) => this.leaveCard(subject),
    };
    this.stopCard = new StopCard(cards);
    const subject = (output: OutputElement, place: number) => this.floatSubject(output, place);
    this.float = new FloatingCard(this.element, { actions: cards, subject });
    this.element.addEventListener('click', ({ target }) => this.clicked(target as Element));
    document.addEventListener('wheel', () => this.noteScroll(), { passive: true });
  }

  setInstruction(text: string): void {
    this.user.textContent = printable(text);
  }

  setBranches(branches: readonly BranchView[]): void {
    this.branches = branches;
  }

  /** Brings the column to these turns; spans of tokens that stay are not touched. */
  update(turns: readonly TurnView[]): void {
    this.noteFocus();
    while (this.turns.length > turns.length) this.turns.pop()!.element.remove();
    for (const turn of turns) this.updateTurn(turn);
  }

  updateTurn(view: TurnView): void {
    this.noteFocus();
    let turn = this.turns[view.index - 1];
    if (!turn) {
      turn = new TurnElement(view.index, {
        again: this.actions.again,
        about: this.actions.about,
        unavailable: () => this.unavailable,
        toggled: (index, open) => this.toggled(index, open),
      });
      this.turns[view.index - 1] = turn;
      this.element.insertBefore(turn.element, this.float.card.element);
    }
    turn.update(view);
    for (const call of turn.calls) call.showOther(this.others.get(call.observation?.node ?? -1) ?? null);
  }

  /** The other answer to the call that was answered at `node`. */
  setOther(node: number, other: OtherView | null): void {
    if (other) this.others.set(node, other);
    else this.others.delete(node);
    for (const turn of this.turns) turn.callAt(node)?.showOther(other);
    this.setCursor(this.cursor, this.busy);
  }

  /** Other answers whose surprise was not asked for yet. */
  get unscored(): number[] {
    const open = ([, { status, surprise, unscored }]: [number, OtherView]) =>
      status === 'done' && !surprise && unscored === null;
    return [...this.others].filter(open).map(([node]) => node);
  }

  /** Why nothing can be executed; null where it can. */
  setUnavailable(reason: string | null): void {
    this.unavailable = reason;
    this.setCursor(this.cursor, this.busy);
  }

  append(turn: number, call: number | null, tokens: readonly TokenView[]): void {
    const element = this.turns[turn - 1];
    const output = call === null ? element?.act : element?.calls[call]?.rehearsal;
    output?.append(tokens);
    this.stopCard.settle();
  }

  setCursor(cursor: number, busy: boolean): void {
    const stopped = !busy && (this.busy || cursor !== this.cursor);
    const began = busy && !this.busy;
    this.cursor = cursor;
    this.busy = busy;
    if (stopped || began) this.following = true;
    const current = this.currentTurn;
    for (const turn of this.turns) {
      turn.setCursor(cursor, turn.index === current, busy);
      turn.setOpen(this.choices.get(turn.index) ?? (turn.index === current || turn.index === current - 1));
    }
    this.showStop();
    this.float.refresh();
    this.keepFocus();
    if (stopped || (busy && this.following)) this.follow();
  }

  get outputs(): OutputElement[] {
    return this.turns.flatMap((turn) => turn.outputs);
  }

  /** The output that the cursor stands in, with the place of its token; or null between tokens. */
  get here(): { output: OutputElement; place: number } | null {
    for (const turn of this.turns) {
      for (const output of turn.outputs) if (output.here >= 0) return { output, place: output.here };
    }
    return null;
  }

  /** Opens a turn and shows it. */
  reveal(index: number): void {
    const turn = this.turns[index - 1];
    if (!turn) return;
    this.choices.set(index, true);
    turn.setOpen(true);
    turn.element.scrollIntoView({ block: 'nearest' });
    turn.focusFold();
  }

  /** Gives the focus to a token, its turn opened where it is folded. */
  focusToken(output: OutputElement, place: number): void {
    const turn = this.turns[output.turn - 1];
    if (turn && !turn.opened) turn.toggle();
    const span = output.activate(place);
    span?.focus({ preventScroll: true });
    span?.scrollIntoView({ block: 'nearest' });
  }

  /** Moves the focus into the card of a token, in the flow or floating. */
  openCard(output: OutputElement, place: number): void {
    const inFlow = this.stopCard.shows({ output, place });
    if (!inFlow) this.float.pin(output.spans[place]!);
    (inFlow ? this.stopCard.card : this.float.card).focus();
  }

  private get currentTurn(): number {
    const at = this.turns.findLastIndex((turn) => turn.start <= this.cursor);
    return at < 0 ? 1 : this.turns[at]!.index;
  }

  private showStop(): void {
    const { here } = this;
    const shown = here && this.turns[here.output.turn - 1]!.opened;
    if (this.busy) {
      // A step of one token is over before anybody could have seen the card go.
      this.stopCard.freeze();
      this.hiding ??= window.setTimeout(() => this.stopCard.hide(), LINGER_MS);
      return;
    }
    clearTimeout(this.hiding);
    this.hiding = undefined;
    if (here && shown) this.stopCard.show(this.subjectOf(here.output, here.place));
    else this.stopCard.hide();
  }

  private noteFocus(): void {
    this.focused ||= this.element.contains(document.activeElement);
  }

  /** A token that had the focus may have been replaced by a fork: the focus goes to where the session stands. */
  private keepFocus(): void {
    if (this.busy || !this.focused) return;
    this.focused = false;
    const { here } = this;
    if (here && document.activeElement === document.body) this.focusToken(here.output, here.place);
  }

  private subjectOf(output: OutputElement, place: number): Subject {
    const before = place === 0 ? output.start : output.tokens[place - 1]!.node;
    const forks = new Map<number, string>();
    for (const { leaves, label } of this.branches) {
      if (leaves && leaves.id !== null && leaves.at === before) forks.set(leaves.id, label);
    }
    return { output, place, forks, busy: this.busy };
  }

  private floatSubject(output: OutputElement, place: number): Subject | null {
    return this.stopCard.shows({ output, place }) ? null : this.subjectOf(output, place);
  }

  /** Closes the floating card for an answer that moves the session; the focus follows when it is there. */
  private leaveFor(act: () => void): void {
    this.noteFocus();
    this.float.hide(true);
    act();
  }

  private leaveCard({ output, place }: Subject): void {
    this.focusToken(output, place);
    this.float.hide(true);
  }

  private clicked(target: Element): void {
    const span = target.closest<HTMLElement>('.t');
    const output = span && OutputElement.of(span);
    if (!span || !output) {
      if (!target.closest('.card')) this.float.hide(true);
      return;
    }
    output.activate(output.placeOf(span))?.focus({ preventScroll: true });
    this.float.pin(span);
  }

  private toggled(index: number, open: boolean): void {
    this.choices.set(index, open);
    this.showStop();
  }

  /** Whoever scrolls up while tokens stream is reading there: let them. */
  private noteScroll(): void {
    requestAnimationFrame(() => {
      const { scrollTop, scrollHeight, clientHeight } = this.scroller();
      this.following = scrollHeight - scrollTop - clientHeight < NEAR;
    });
  }

  private scrollToCursor(): void {
    const { here } = this;
    const turn = this.turns[this.currentTurn - 1];
    const target =
      here?.output.spans[here.place] ?? turn?.element.querySelector('.given.here') ?? turn?.element;
    if (!target) return;
    const view = this.scroller().getBoundingClientRect();
    const { top } = target.getBoundingClientRect();
    const whole = turn?.element.getBoundingClientRect().bottom ?? top;
    const card = this.stopCard.card.visible ? this.stopCard.card.element : target;
    // What follows in this turn is shown as well, where there is room for all of it.
    const bottom = whole - top < view.height - 2 * EDGE ? whole : card.getBoundingClientRect().bottom;
    const below = bottom + EDGE - view.bottom;
    const above = top - EDGE - view.top;
    if (below > 0) this.scroller().scrollTop += Math.min(below, above);
    else if (above < 0) this.scroller().scrollTop += above;
  }
}
