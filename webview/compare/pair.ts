/** One pair: its fields, its tokens, and the author's verdict. */
import { AUTHOR_VERDICTS, type AuthorVerdict, type PairView } from '../../src/core/fidelity/view.types';
import { el, fill, icon, setAttribute } from '../common/dom';
import { whole } from '../common/format';
import { printable } from '../common/text';
import { button, setEnabled } from '../common/toolkit';
import { Fields } from './fields';
import { fieldName, KIND_WORDS } from './format';
import { Tokens } from './tokens';

export interface PairActions {
  move(step: 1 | -1): void;
  diff(): void;
  debug(): void;
  verdict(verdict: AuthorVerdict | null, note: string): void;
  record(): void;
  ignore(path: string): void;
}

const LABELS: { [verdict in AuthorVerdict]: string } = {
  match: 'Match',
  tolerable: 'Tolerable',
  'wrong rehearsal': 'Wrong Rehearsal',
  'real tool wrong': 'Real Tool Wrong',
};

export class PairPane {
  readonly element = el('section', { class: 'pair', 'aria-label': 'Pair' });
  private readonly title = el('h2', 'title');
  private readonly about = el('p', 'mute about');
  private readonly open: HTMLElement;
  private readonly debug: HTMLElement;
  private readonly before: HTMLElement;
  private readonly after: HTMLElement;
  private readonly fields = new Fields();
  private readonly tokens = new Tokens();
  private readonly verdicts: HTMLButtonElement[];
  private readonly note: HTMLInputElement;
  private readonly record: HTMLElement;
  private readonly ignore = el('span', 'ignore');
  private readonly body: HTMLElement;
  private readonly judge: HTMLElement;
  private readonly empty = el('p', 'mute none', 'Choose a call in the list.');
  private pair: PairView | null = null;
  private readOnly: string | null = null;

  constructor(private readonly actions: PairActions) {
    this.before = button({
      label: '',
      icon: 'arrow-up',
      look: 'quiet',
      name: 'Previous call',
      onClick: () => actions.move(-1),
    });
    this.after = button({
      label: '',
      icon: 'arrow-down',
      look: 'quiet',
      name: 'Next call',
      onClick: () => actions.move(1),
    });
    this.open = button({ label: 'Open Diff', icon: 'diff', look: 'primary', onClick: () => actions.diff() });
    this.debug = button({ label: 'Open in Debugger', icon: 'debug-alt', onClick: () => actions.debug() });
    this.verdicts = AUTHOR_VERDICTS.map((verdict, i) => this.verdictButton(verdict, i));
    this.note = el('input', {
      type: 'text',
      class: 'search note',
      placeholder: 'Note (optional)',
      'aria-label': 'Note on the verdict',
    });
    this.note.addEventListener('change', () => this.noted());
    this.record = button({
      label: 'Record Real Answer as Example',
      icon: 'save',
      onClick: () => this.recorded(),
    });
    const group = el(
      'span',
      { class: 'verdicts', role: 'radiogroup', 'aria-label': 'Verdict' },
      ...this.verdicts,
    );
    group.addEventListener('keydown', (event) => this.pressed(event));
    this.body = el('div', 'pairbody', this.fields.element, this.tokens.element);
    this.judge = el(
      'div',
      'verdict',
      el(
        'div',
        'head',
        el('h3', {}, 'Your verdict'),
        el('span', 'mute', 'written into the environment’s examples, as an edit that you can undo'),
      ),
      el('div', 'line', group, this.note),
      el('div', 'line', this.record, this.ignore),
    );
    const buttons = el('span', 'buttons', this.before, this.after, this.debug, this.open);
    const head = el('div', 'head', this.title, buttons);
    this.element.append(head, this.about, this.empty, this.body, this.judge);
    this.show(null, '');
  }

  /** @param reason why there is no pair, where a call is chosen that has none */
  show(pair: PairView | null, reason: string): void {
    this.pair = pair;
    this.body.hidden = pair === null;
    this.judge.hidden = pair === null;
    this.empty.hidden = pair !== null;
    if (!pair) {
      this.empty.textContent = reason ? `Not compared: ${printable(reason)}` : 'Choose a call in the list.';
      fill(this.title);
      this.about.textContent = '';
      for (const one of [this.open, this.debug]) setEnabled(one, false, 'No pair is shown');
      return;
    }
    const first = pair.fields.find(({ path }) => path === pair.first);
    fill(
      this.title,
      el('code', {}, printable(pair.tool)),
      first
        ? ` ${printable(fieldName(first.path))} ${KIND_WORDS[first.kind]}`
        : ` ${pair.computed === 'match' ? 'matches' : 'is tolerable'}`,
    );
    this.fields.update(pair);
    this.tokens.update(pair);
    this.showVerdict(pair);
    setEnabled(this.open, true, 'Both answers in VS Code’s diff (Enter)');
    this.debug.hidden = pair.task === null; // a recorded call stands in no session
    setEnabled(this.debug, true, 'Opens the session, or steps the task');
  }

  /** Where the pair stands in the list. */
  setPlace(place: number, of: number): void {
    setEnabled(this.before, place > 0, 'Previous call (Up)');
    setEnabled(this.after, place >= 0 && place < of - 1, 'Next call (Down)');
    const { pair } = this;
    if (!pair) return;
    const at = place < 0 ? '' : `Call ${whole(place + 1)} of ${whole(of)}. `;
    const from =
      pair.task === null
        ? `Recorded call ${pair.index + 1}`
        : `Task ${printable(pair.task)}, call ${pair.index + 1}`;
    fill(
      this.about,
      `${at}${from}${pair.afterWrite ? ', after a write' : ''}: `,
      el('code', {}, printable(pair.arguments).replace(/\s*\n\s*/g, ' ')),
    );
  }

  setReadOnly(reason: string | null): void {
    this.readOnly = reason;
    if (this.pair) this.showVerdict(this.pair);
  }

  /** A key from 1 to 4, anywhere in the page. */
  give(index: number): boolean {
    const verdict = AUTHOR_VERDICTS[index];
    if (!verdict || !this.pair || this.readOnly) return false;
    this.choose(verdict);
    return true;
  }

  private verdictButton(verdict: AuthorVerdict, i: number): HTMLButtonElement {
    const element = el(
      'button',
      { type: 'button', class: 'choice', role: 'radio', 'aria-checked': 'false', tabindex: i === 0 ? 0 : -1 },
      icon('check'),
      LABELS[verdict],
      el('kbd', {}, String(i + 1)),
    );
    element.addEventListener('click', () => this.readOnly ?? this.choose(verdict));
    return element;
  }

  /** The same again takes it back. */
  private choose(verdict: AuthorVerdict): void {
    const isSame = this.pair?.author === verdict;
    this.actions.verdict(isSame ? null : verdict, isSame ? '' : this.note.value.trim());
  }

  private noted(): void {
    const { pair } = this;
    const note = this.note.value.trim();
    if (pair?.author && note !== pair.note) this.actions.verdict(pair.author, note);
  }

  private recorded(): void {
    if (this.record.getAttribute('aria-disabled') !== 'true') this.actions.record();
  }

  private showVerdict(pair: PairView): void {
    const given = pair.author === null ? 0 : AUTHOR_VERDICTS.indexOf(pair.author);
    for (const [i, element] of this.verdicts.entries()) {
      setAttribute(element, 'aria-checked', String(AUTHOR_VERDICTS[i] === pair.author));
      setAttribute(element, 'aria-disabled', this.readOnly ? 'true' : null);
      element.tabIndex = i === given ? 0 : -1;
      element.title =
        this.readOnly ?? (AUTHOR_VERDICTS[i] === pair.author ? 'Press again to take it back' : '');
    }
    if (document.activeElement !== this.note) this.note.value = pair.note;
    setEnabled(
      this.record,
      !pair.isExample && !this.readOnly,
      this.readOnly ??
        (pair.isExample
          ? 'This answer stands among the examples already'
          : 'Puts the real answer into the train part of the examples'),
    );
    const field = pair.fields.find(({ path }) => path === pair.first)?.field;
    fill(
      this.ignore,
      field !== undefined &&
        field !== '$' &&
        button({
          label: `Ignore ${printable(fieldName(field))}`,
          icon: 'eye-closed',
          onClick: () => this.readOnly ?? this.actions.ignore(field),
        }),
    );
  }

  private pressed(event: KeyboardEvent): void {
    const at = this.verdicts.indexOf(document.activeElement as HTMLButtonElement);
    const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
    if (at < 0 || step === undefined) return;
    event.preventDefault();
    // Arrows only move: a verdict is an edit of a file, which passing by must not make.
    this.verdicts[at]!.tabIndex = -1;
    const next = this.verdicts[(at + step + this.verdicts.length) % this.verdicts.length]!;
    next.tabIndex = 0;
    next.focus();
  }
}
