/** One turn: a line when folded; open, what ACT wrote and what came of each call. */
import type { TurnView } from '../../src/core/rehearsal/view.types';
import { el, fill, icon, setAttribute } from '../common/dom';
import { count } from '../common/format';
import { printable } from '../common/text';
import { type CallActions, CallElement, summary } from './call';
import { OutputElement, roleMark } from './output';
import { gatesLine, sourceBadge } from './sources';

export interface TurnActions extends CallActions {
  /** The person folded or opened the turn. */
  toggled(turn: number, open: boolean): void;
}

export class TurnElement {
  readonly element: HTMLElement;
  readonly act: OutputElement;
  readonly calls: CallElement[] = [];
  private readonly user = el('div', { class: 'user', hidden: true });
  private readonly fold: HTMLButtonElement;
  private readonly chevron = icon('chevron-right');
  private readonly line = el('div', 'one');
  private readonly open = el('div', 'open');
  private readonly after = el('div', 'after');
  private view: TurnView | null = null;
  private isOpen = true;

  constructor(
    readonly index: number,
    private readonly actions: TurnActions,
  ) {
    this.act = new OutputElement('act', index, null);
    this.open.id = `turn-${index}`;
    this.fold = el(
      'button',
      { class: 'fold', type: 'button', 'aria-controls': this.open.id },
      this.chevron,
      String(index),
    );
    this.fold.addEventListener('click', () => this.toggle());
    this.line.addEventListener('click', () => this.toggle());
    this.open.append(this.act.element, this.after);
    const body = el('div', 'body', this.line, this.open);
    this.element = el(
      'article',
      { class: 'turn', 'aria-label': `Turn ${index}` },
      this.user,
      this.fold,
      body,
    );
    this.setOpen(true);
  }

  get outputs(): OutputElement[] {
    return [this.act, ...this.calls.flatMap((call) => call.rehearsal ?? [])];
  }

  get opened(): boolean {
    return this.isOpen;
  }

  /** Node of the prompt that the turn begins with. */
  get start(): number {
    return this.view?.act.node ?? 0;
  }

  update(view: TurnView): void {
    this.view = view;
    this.user.hidden = view.user === null;
    if (view.user !== null)
      fill(this.user, el('span', 'label', 'User'), el('div', 'said', printable(view.user)));
    this.act.update(view.act);
    while (this.calls.length > view.calls.length) this.calls.pop()!.element.remove();
    for (const call of view.calls) this.callWith(call.index).update(call, view.calls.length);
    this.showFoot(view);
    this.showLine(view);
  }

  setCursor(cursor: number, current: boolean, busy: boolean): void {
    this.act.setCursor(cursor);
    for (const call of this.calls) call.setCursor(cursor, busy);
    this.element.classList.toggle('ahead', this.start > cursor);
    setAttribute(this.element, 'aria-current', current ? 'step' : null);
  }

  /** The call that was answered at this node. */
  callAt(node: number): CallElement | undefined {
    return this.calls.find(({ observation }) => observation?.node === node);
  }

  setOpen(open: boolean): void {
    if (open === this.isOpen && this.line.hidden === open) return;
    this.isOpen = open;
    this.line.hidden = open;
    this.open.hidden = !open;
    this.chevron.className = `codicon codicon-chevron-${open ? 'down' : 'right'}`;
    this.fold.setAttribute('aria-expanded', String(open));
    this.nameFold();
  }

  toggle(): void {
    this.setOpen(!this.isOpen);
    this.actions.toggled(this.index, this.isOpen);
  }

  focusFold(): void {
    this.fold.focus();
  }

  private callWith(index: number): CallElement {
    let call = this.calls[index];
    if (!call) {
      call = new CallElement(this.index, this.actions);
      this.calls.push(call);
      this.open.insertBefore(call.element, this.after);
    }
    return call;
  }

  private showFoot(view: TurnView): void {
    // Several calls have their gates each at its own title.
    fill(this.act.foot, ...(view.calls.length === 1 ? view.calls.map(gatesLine) : []));
    const { answer } = view;
    const answered =
      answer !== null &&
      el('div', 'answer', icon('comment'), el('div', 'said', printable(answer) || '(an empty answer)'));
    const notes = view.notes.map((note) => el('div', 'note', icon('info'), printable(note)));
    fill(this.after, ...notes, answered);
  }

  private showLine(view: TurnView): void {
    const [first, ...more] = view.calls;
    const said = first ? printable(first.text) : printable(view.answer ?? 'being written');
    const last = view.calls.findLast((call) => call.observation)?.observation;
    const rest = more.length > 0 && el('span', 'mute', `and ${count(more.length, 'more call')}`);
    const outcome = last ? [summary(last), sourceBadge(last.source)] : [];
    const answered = view.answer !== null && el('span', 'mute', 'answered');
    const text = el(first ? 'code' : 'span', { class: 'what', title: said }, said);
    fill(this.line, roleMark('act'), text, rest, el('span', 'grow'), ...outcome, answered);
    this.nameFold();
  }

  private nameFold(): void {
    const [first] = this.view?.calls ?? [];
    const what = first?.text ?? this.view?.answer ?? '';
    setAttribute(
      this.fold,
      'aria-label',
      `Turn ${this.index}${what && `: ${printable(what).slice(0, 120)}`}`,
    );
    setAttribute(this.fold, 'title', this.isOpen ? 'Fold (Space)' : 'Open (Space)');
  }
}
