/** The alternatives at a token: what else the model might have written there, and how likely it was. */
import type { AlternativeView, TokenView } from '../../src/core/rehearsal/view.types';
import { el, fill, icon, moveAmong, setAttribute } from '../common/dom';
import { logprob, nats, percent, probability, whole } from '../common/format';
import { boxText, nameOf, spoken } from '../common/text';
import { button } from '../common/toolkit';
import type { OutputElement } from './output';

export interface CardActions {
  /** Fork: put this alternative in the place of the token at `node`. */
  choose(node: number, id: number): void;
  goto(node: number): void;
  /** Close, and give the focus back to the token. */
  leave(subject: Subject): void;
}

export interface Subject {
  output: OutputElement;
  /** Place of the token in its output. */
  place: number;
  /** Labels of branches that go on with another token from here, by its id. */
  forks: ReadonlyMap<number, string>;
  /** Nothing can be chosen while a step runs. */
  busy: boolean;
}

interface Row extends AlternativeView {
  rank: number | null;
}

export class Card {
  readonly element: HTMLElement;
  subject: Subject | null = null;
  private readonly list = el('ul', { role: 'listbox', 'aria-label': 'Alternatives' });
  private readonly facts = el('dl');
  private readonly hint = el('p', 'hint');
  private readonly go: HTMLElement;
  private readonly heading = el('div', { class: 'alt head', 'aria-hidden': 'true' });
  private rows: Row[] = [];

  constructor(
    kind: 'stop' | 'float',
    private readonly actions: CardActions,
  ) {
    this.go = button({
      label: 'Go to this token',
      icon: 'debug-step-back',
      look: 'quiet',
      onClick: () => this.goHere(),
    });
    for (const name of ['', 'token', '', 'prob.', 'log-prob.', '']) this.heading.append(el('span', {}, name));
    const facts = el('div', 'facts', this.facts, this.hint, this.go);
    this.element = el(
      'div',
      { class: `card ${kind}`, role: 'group', hidden: true },
      el('div', 'inside', el('div', 'alts', this.heading, this.list), facts),
    );
    this.element.addEventListener('click', (event) => this.clicked(event));
    this.element.addEventListener('keydown', (event) => this.pressed(event));
  }

  get visible(): boolean {
    return !this.element.hidden;
  }

  show(subject: Subject): void {
    this.subject = subject;
    const { output, place } = subject;
    const token = output.tokens[place]!;
    const focused = this.list.contains(document.activeElement);
    this.rows = rowsOf(token);
    fill(this.list, ...this.rows.map((row) => this.rowElement(row, token)));
    this.heading.hidden = this.rows.length === 0;
    if (this.rows.length === 0) this.list.append(el('li', 'mute', 'The server gave no alternatives here.'));
    this.showFacts(token);
    this.element.classList.toggle('rehearse', output.role === 'rehearse');
    setAttribute(this.element, 'aria-label', `Alternatives at token ${place + 1} of ${output.tokens.length}`);
    this.element.hidden = false;
    if (focused) this.focus();
  }

  hide(): void {
    this.element.hidden = true;
    this.subject = null;
  }

  /** Puts the focus on the token that stands there. */
  focus(): void {
    const rows = [...this.list.querySelectorAll<HTMLElement>('.alt')];
    const own = rows.find((row) => row.classList.contains('own')) ?? rows[0];
    for (const row of rows) row.tabIndex = row === own ? 0 : -1;
    own?.focus();
  }

  private rowElement(row: Row, token: TokenView): HTMLElement {
    const own = row.id === token.id;
    const { forks, busy } = this.subject!;
    const fork = forks.get(row.id);
    const status = own
      ? el('span', 'status own', icon('check'), el('span', 'word', token.origin))
      : fork !== undefined
        ? el('span', 'status fork', icon('git-branch'), el('span', 'word', 'branch'))
        : el('span', 'status');
    const bar = el('span', { class: 'bar', 'aria-hidden': 'true' }, el('i'));
    (bar.firstChild as HTMLElement).style.width = `${Math.exp(row.logprob) * 100}%`;
    const name = [
      spoken(row.text),
      percent(row.logprob),
      own ? status.textContent : fork !== undefined && 'has a branch',
    ];
    return el(
      'li',
      {
        class: own ? 'alt own' : 'alt',
        role: 'option',
        'data-id': row.id,
        tabindex: own || (!this.rows.some(({ id }) => id === token.id) && row === this.rows[0]) ? 0 : -1,
        'aria-selected': String(own),
        'aria-disabled': busy ? 'true' : undefined,
        'aria-label': name.filter(Boolean).join(', '),
        title: own
          ? undefined
          : busy
            ? 'Pause first'
            : fork !== undefined
              ? 'Show this branch'
              : 'Fork here with this token',
      },
      el('span', 'rank', row.rank === null ? '' : String(row.rank)),
      el('code', { class: 'box', title: boxText(row.text, row.id) }, boxText(row.text, row.id)),
      bar,
      el('span', 'num', probability(row.logprob)),
      el('span', 'num mute', logprob(row.logprob)),
      status,
    );
  }

  private showFacts(token: TokenView): void {
    const { output, place, busy } = this.subject!;
    const facts: [string, string][] = [['Token', `${whole(place + 1)} of ${whole(output.tokens.length)}`]];
    if (token.rank !== null) facts.push(['Rank', String(token.rank)]);
    if (token.entropy !== null) facts.push(['Entropy', nats(token.entropy)]);
    if (this.rows.length > 0) facts.push(['All others', othersOf(this.rows)]);
    fill(this.facts, ...facts.map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, value))));
    const { rows } = this;
    this.hint.textContent = busy
      ? 'Pause to choose another'
      : rows.length > 0
        ? 'Up, Down to move; Enter forks here'
        : '';
    this.go.hidden = place === output.here || busy;
  }

  private clicked(event: MouseEvent): void {
    const row = (event.target as Element).closest<HTMLElement>('.alt[data-id]');
    if (row) this.choose(row);
  }

  private choose(row: HTMLElement): void {
    const { subject } = this;
    const id = Number(row.dataset.id);
    const token = subject?.output.tokens[subject.place];
    if (!token || subject.busy || id === token.id) return;
    this.actions.choose(token.node, id);
  }

  private goHere(): void {
    const token = this.subject?.output.tokens[this.subject.place];
    if (token) this.actions.goto(token.node);
  }

  private pressed(event: KeyboardEvent): void {
    const rows = [...this.list.querySelectorAll<HTMLElement>('.alt')];
    const at = rows.indexOf(document.activeElement as HTMLElement);
    if (event.key === 'Escape') this.actions.leave(this.subject!);
    else if (event.key === 'Enter' && at >= 0) this.choose(rows[at]!);
    else if (!moveAmong(rows, event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  }
}

/** The alternatives, and the token itself where it was less likely than all of them. */
function rowsOf(token: TokenView): Row[] {
  const rows: Row[] = token.alternatives.map((other, i) => ({ ...other, rank: i + 1 }));
  if (token.logprob !== null && !rows.some(({ id }) => id === token.id)) {
    rows.push({ id: token.id, text: nameOf(token), logprob: token.logprob, rank: token.rank });
  }
  return rows;
}

/** What is left of the probability: rounding of the server's figures must not make it negative. */
function othersOf(rows: readonly Row[]): string {
  const rest = 1 - rows.reduce((sum, row) => sum + Math.exp(row.logprob), 0);
  return rest < 0.0005 ? '<0.001' : rest.toFixed(3);
}
