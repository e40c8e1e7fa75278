/** What became of one tool call: its rehearsal, if there was one, and the observation that came of it. */
import type { CallView, ObservationView } from '../../src/core/rehearsal/view.types';
import { el, fill, icon } from '../common/dom';
import { printable } from '../common/text';
import { button, setEnabled } from '../common/toolkit';
import { OutputElement } from './output';
import { gatesLine, sourceBadge } from './sources';

export interface CallActions {
  again(node: number): void;
}

export class CallElement {
  readonly element = el('div', 'call');
  rehearsal: OutputElement | null = null;
  observation: ObservationView | null = null;
  private readonly title = el('div', { class: 'calltitle', hidden: true });
  private readonly given = el('div', { class: 'out given', hidden: true });
  private shown = '';
  private again: HTMLElement | null = null;

  constructor(
    private readonly turn: number,
    private readonly actions: CallActions,
  ) {
    this.element.append(this.title, this.given);
  }

  update(view: CallView, of: number): void {
    this.title.hidden = of === 1;
    const name = `call ${view.index + 1} of ${of}`;
    fill(this.title, name, el('code', {}, printable(view.text)), of > 1 && gatesLine(view));
    this.updateRehearsal(view);
    this.observation = view.observation;
    const key = JSON.stringify([view.observation, view.rehearsal?.node]);
    if (key === this.shown) return;
    this.shown = key;
    this.showObservation(view);
  }

  setCursor(cursor: number, busy: boolean): void {
    this.rehearsal?.setCursor(cursor);
    const node = this.observation?.node ?? null;
    const inRehearsal = this.rehearsal?.tokens.at(-1)?.node === node;
    const ahead = node !== null && node > cursor;
    this.given.classList.toggle('ahead', ahead);
    this.given.classList.toggle('here', node === cursor && !inRehearsal);
    this.rehearsal?.foot.classList.toggle('ahead', ahead);
    if (this.again)
      setEnabled(this.again, !busy, busy ? 'Pause first' : 'Sample this response again; this one is kept');
  }

  private updateRehearsal({ rehearsal, index }: CallView): void {
    if (!rehearsal) {
      this.rehearsal?.element.remove();
      this.rehearsal = null;
      return;
    }
    if (!this.rehearsal) {
      this.rehearsal = new OutputElement('rehearse', this.turn, index);
      this.element.append(this.rehearsal.element);
    }
    this.rehearsal.update(rehearsal);
  }

  private showObservation({ observation, rehearsal }: CallView): void {
    this.again = null;
    this.given.hidden = !observation || rehearsal !== null;
    this.given.className = `out given ${observation?.source ?? ''}`;
    if (this.rehearsal) fill(this.rehearsal.foot);
    if (!observation) return;
    const badge = sourceBadge(observation.source);
    if (!rehearsal) {
      fill(this.given, badge, el('div', 'content', ...givenText(observation)));
      return;
    }
    this.again = button({
      label: 'Rehearse Again',
      icon: 'refresh',
      look: 'quiet',
      name: `Rehearse again, turn ${this.turn}`,
      onClick: () => this.actions.again(rehearsal.node),
    });
    // The tokens above are the result; only an error is worth saying twice.
    const outcome = observation.outcome === 'error' ? summary(observation) : el('span', 'mute', 'result');
    fill(this.rehearsal!.foot, badge, outcome, this.again);
  }
}

/** The one line of an observation; errors with an icon and, in `summary`, the word. */
export function summary({ outcome, summary: text }: ObservationView): HTMLElement {
  return el(
    'span',
    `summary ${outcome}`,
    outcome === 'error' && icon('error'),
    el('span', {}, printable(text)),
  );
}

/** An observation that nobody wrote token by token: its line, and all of it where the line leaves something out. */
function givenText(observation: ObservationView): HTMLElement[] {
  const line = summary(observation);
  if (observation.text === observation.summary) return [line];
  return [
    line,
    el(
      'pre',
      { class: 'json', tabindex: 0, 'aria-label': 'The whole observation' },
      printable(observation.text),
    ),
  ];
}
