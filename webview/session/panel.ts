/** The session panel: puts its parts together and hands each message to those whom it concerns. */
import type {
  BranchesView,
  BranchView,
  EndView,
  SessionView,
  TurnView,
} from '../../src/core/rehearsal/view.types';
import { el } from '../common/dom';
import type { FromSession, Head, ToSession } from '../common/messages';
import { ErrorBar, emptyState } from '../common/notice';
import { printable } from '../common/text';
import { Announcer } from './announce';
import { Checks } from './checks';
import { Column } from './column';
import { type Heat, nextHeat } from './heat';
import { tokenKey } from './keyboard';
import { Side } from './side';
import { Steps } from './steps';
import { Strip } from './strip';
import { TwoBranches } from './two';

export interface PanelOptions {
  post(message: FromSession): void;
  heat: Heat;
  /** Keeps what the panel is to show again after the window was closed. */
  saveState(heat: Heat): void;
}

export class Panel {
  readonly element = el('div', 'panel');
  private readonly strip = new Strip();
  private readonly steps: Steps;
  private readonly error = new ErrorBar();
  private readonly column: Column;
  private readonly checks: Checks;
  private readonly side: Side;
  private readonly two: TwoBranches;
  private readonly announcer = new Announcer();
  private readonly empty: HTMLElement;
  private readonly body: HTMLElement;
  private turns: TurnView[] = [];
  private branches: readonly BranchView[] = [];
  private end: EndView | null = null;
  private session = '';
  private heat: Heat;

  constructor(private readonly options: PanelOptions) {
    const { post } = options;
    this.heat = options.heat;
    this.steps = new Steps(post);
    this.column = new Column(
      {
        choose: (node, id) => post({ type: 'choose', node, id }),
        goto: (node) => post({ type: 'goto', node }),
        again: (node) => post({ type: 'again', node }),
        about: (type, node) => post({ type, node }),
      },
      () => (getComputedStyle(this.body).overflowY === 'visible' ? this.column.element : this.body),
    );
    this.checks = new Checks((turn) => this.column.reveal(turn));
    this.side = new Side(
      {
        goto: (node) => post({ type: 'goto', node }),
        leave: () => this.focusTokens(),
        setHeat: (heat) => this.setHeat(heat),
        setObservations: (from) => post({ type: 'observations', from }),
        runForReal: () => post({ type: 'runForReal' }),
        compare: (left, right) => post({ type: 'compareBranches', left, right }),
      },
      this.heat,
    );
    this.two = new TwoBranches({
      compare: (left, right) => post({ type: 'compareBranches', left, right }),
      goto: (node) => post({ type: 'goto', node }),
      close: () => this.closeTwo(),
    });
    const first = { title: 'Sample the First Token', run: () => post({ type: 'step', step: 'token' }) };
    this.empty = emptyState({ message: 'Nothing has been sampled yet.', action: first });
    this.column.element.append(this.empty);
    this.body = el('div', 'columns', this.column.element, this.checks.element, this.side.element);
    this.element.append(
      this.strip.element,
      this.steps.element,
      this.error.element,
      this.body,
      this.two.element,
      this.announcer.element,
    );
    this.setHeat(this.heat);
    document.addEventListener('keydown', (event) => this.pressed(event));
  }

  receive(message: ToSession): void {
    switch (message.type) {
      case 'other':
        this.column.setOther(message.node, message.other);
        if (message.other) this.announcer.other(message.other);
        this.askForSurprise();
        return;
      case 'tools':
        this.column.setUnavailable(message.unavailable);
        this.side.setTools(message.observations, message.unavailable);
        return;
      case 'branches':
        this.showTwo(message.view);
        return;
      case 'session':
        this.showSession(message.view);
        break;
      case 'tokens':
        this.column.append(message.turn, message.call, message.tokens);
        break;
      case 'turn':
        this.showTurn(message.turn, message.branches, message.end);
        break;
      case 'head':
        break;
    }
    this.showHead(message.head);
  }

  /** An error of the panel itself; the session's own come with its head. */
  fail(message: string): void {
    this.error.show({ message });
  }

  private showSession(view: SessionView): void {
    const session = JSON.stringify([view.environment, view.task, view.instruction, view.model]);
    if (session !== this.session) this.announcer.forget(view.turns);
    this.session = session;
    this.turns = view.turns;
    this.end = view.end;
    this.strip.setSession(view);
    this.column.setInstruction(view.instruction);
    this.column.setBranches(view.branches);
    this.column.update(view.turns);
    for (const turn of view.turns) this.announcer.turn(turn);
    this.showRest(view.branches);
  }

  private showTurn(turn: TurnView, branches: readonly BranchView[], end: EndView | null): void {
    this.turns[turn.index - 1] = turn;
    this.end = end;
    this.column.setBranches(branches);
    this.column.updateTurn(turn);
    this.announcer.turn(turn);
    this.showRest(branches);
  }

  private showTwo(view: BranchesView): void {
    this.body.hidden = true;
    this.two.show(view, this.branches);
  }

  private closeTwo(): void {
    this.two.element.hidden = true;
    this.body.hidden = false;
    this.side.branches.focus();
  }

  private showRest(branches: readonly BranchView[]): void {
    this.branches = branches;
    this.empty.hidden = this.turns.length > 0;
    this.side.update(branches, this.turns);
    this.checks.update(
      this.end,
      branches.find(({ shown }) => shown),
    );
  }

  private showHead(head: Head): void {
    this.column.setCursor(head.cursor, head.status === 'running');
    this.checks.setAtEnd(head.status === 'ended');
    this.strip.update(head);
    this.steps.update(head);
    this.side.branches.setTokens(head.tokens);
    this.side.setBusy(head.status === 'running');
    const { error } = head;
    const action = error?.action && {
      title: error.action.title,
      run: () => this.options.post({ type: 'action', id: error.action!.id }),
    };
    this.error.show(
      head.status === 'failed' && error
        ? { message: printable(error.message), ...(action && { action }) }
        : null,
    );
    this.announcer.head(head, this.column.here, this.end);
  }

  private setHeat(heat: Heat): void {
    this.heat = heat;
    this.element.dataset.heat = heat;
    this.side.setHeat(heat);
    this.options.saveState(heat);
    this.askForSurprise();
  }

  /** Scoring takes the model's server: only for a person who looks at surprise. */
  private askForSurprise(): void {
    if (this.heat !== 'surprise') return;
    for (const node of this.column.unscored) this.options.post({ type: 'score', node });
  }

  private focusTokens(): void {
    const { here } = this.column;
    const last = this.column.outputs.findLast(({ tokens }) => tokens.length > 0);
    if (here) this.column.focusToken(here.output, here.place);
    else if (last) this.column.focusToken(last, last.tokens.length - 1);
  }

  private pressed(event: KeyboardEvent): void {
    const host = {
      column: this.column,
      focusBranches: () => this.side.branches.focus(),
      nextHeat: () => this.setHeat(nextHeat(this.heat)),
    };
    if (!this.steps.press(event) && !tokenKey(event, host)) return;
    event.preventDefault();
    event.stopPropagation();
  }
}
