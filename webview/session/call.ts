/** What became of one tool call: its rehearsal, if there was one, and the observation that came of it. */
import type { CallView, ObservationView, OtherView } from '../../src/core/rehearsal/view.types';
import { el, fill, icon } from '../common/dom';
import { printable } from '../common/text';
import { button, setEnabled } from '../common/toolkit';
import { type About, OtherElement } from './other';
import { OutputElement } from './output';
import { gatesLine, sourceBadge } from './sources';

export interface CallActions {
  again(node: number): void;
  /** Something about the answer at a node and the other one. */
  about(what: About, node: number): void;
  /** Why nothing can be executed; null where it can. */
  unavailable(): string | null;
}

/** A button under an answer, with why it does nothing where it does nothing. */
interface Deed {
  button: HTMLElement;
  tooltip: string;
  needsTools: boolean;
}

export class CallElement {
  readonly element = el('div', 'call');
  rehearsal: OutputElement | null = null;
  observation: ObservationView | null = null;
  private readonly title = el('div', { class: 'calltitle', hidden: true });
  private readonly given = el('div', { class: 'out given', hidden: true });
  private shown = '';
  private deeds: Deed[] = [];
  /** Where it stands, for the names of its buttons. */
  private place: string;
  private readonly other: OtherElement;

  constructor(
    private readonly turn: number,
    private readonly actions: CallActions,
  ) {
    this.place = `turn ${turn}`;
    this.other = new OtherElement((what) => {
      if (this.observation) actions.about(what, this.observation.node);
    });
    this.element.append(this.title, this.given, this.other.element);
  }

  update(view: CallView, of: number): void {
    this.title.hidden = of === 1;
    this.place = `turn ${this.turn}${of > 1 ? `, call ${view.index + 1}` : ''}`;
    this.other.place = this.place;
    const name = `call ${view.index + 1} of ${of}`;
    fill(this.title, name, el('code', {}, printable(view.text)), of > 1 && gatesLine(view));
    this.updateRehearsal(view);
    this.observation = view.observation;
    const key = JSON.stringify([view.observation, view.rehearsal?.node]);
    if (key === this.shown) return;
    this.shown = key;
    this.showObservation(view);
  }

  /** What stands beside the observation; null where nothing does. */
  showOther(other: OtherView | null): void {
    this.other.update(other);
  }

  setCursor(cursor: number, busy: boolean): void {
    this.rehearsal?.setCursor(cursor);
    const node = this.observation?.node ?? null;
    const inRehearsal = this.rehearsal?.tokens.at(-1)?.node === node;
    const ahead = node !== null && node > cursor;
    this.given.classList.toggle('ahead', ahead);
    this.given.classList.toggle('here', node === cursor && !inRehearsal);
    this.rehearsal?.foot.classList.toggle('ahead', ahead);
    const unavailable = this.actions.unavailable();
    for (const { button: one, tooltip, needsTools } of this.deeds) {
      const why = busy ? 'Pause first' : needsTools ? unavailable : null;
      setEnabled(one, why === null, why ?? tooltip);
    }
    this.other.setBusy(busy);
  }

  private updateRehearsal({ rehearsal, index }: CallView): void {
    if (!rehearsal) {
      this.rehearsal?.element.remove();
      this.rehearsal = null;
      return;
    }
    if (!this.rehearsal) {
      this.rehearsal = new OutputElement('rehearse', this.turn, index);
      this.element.insertBefore(this.rehearsal.element, this.other.element);
    }
    this.rehearsal.update(rehearsal);
  }

  private showObservation({ observation, rehearsal }: CallView): void {
    this.deeds = [];
    this.given.hidden = !observation || rehearsal !== null;
    this.given.className = `out given ${observation?.source ?? ''}`;
    if (this.rehearsal) fill(this.rehearsal.foot);
    if (!observation) return;
    const badge = sourceBadge(observation.source);
    const buttons = this.buttonsFor(observation, rehearsal?.node ?? null);
    if (!rehearsal) {
      const foot = buttons.length > 0 && el('div', 'foot', ...buttons);
      fill(this.given, badge, el('div', 'content', ...givenText(observation), foot));
      return;
    }
    // The tokens above are the result; only an error is worth saying twice.
    const outcome = observation.outcome === 'error' ? summary(observation) : el('span', 'mute', 'result');
    fill(this.rehearsal!.foot, badge, outcome, ...buttons);
  }

  /** What can be done about an answer. What a gate refused was never made, so there is nothing to execute. */
  private buttonsFor({ source, node }: ObservationView, rehearsal: number | null): HTMLElement[] {
    if (source === 'gate') return [];
    const about = (what: About) => () => this.actions.about(what, node);
    if (rehearsal !== null)
      this.deed('Rehearse Again', 'refresh', 'Sample this response again; this one is kept', false, () =>
        this.actions.again(rehearsal),
      );
    if (source === 'real')
      this.deed('Compare', 'diff', 'Rehearse this call beside, and compare', false, about('compare'));
    else {
      this.deed(
        'Execute for Real',
        'plug',
        'Run the real tool; the session stays as it is',
        true,
        about('execute'),
      );
      this.deed(
        'Compare',
        'diff',
        'Run the real tool and compare its answer, field by field',
        true,
        about('compare'),
      );
    }
    return this.deeds.map(({ button: one }) => one);
  }

  private deed(label: string, name: string, tooltip: string, needsTools: boolean, onClick: () => void): void {
    const made = button({ label, icon: name, look: 'quiet', name: `${label}, ${this.place}`, onClick });
    this.deeds.push({ button: made, tooltip, needsTools });
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
  const note = observation.cut && el('div', 'note', icon('info'), 'only its beginning is shown');
  return [
    line,
    el(
      'pre',
      { class: 'json', tabindex: 0, 'aria-label': 'The whole observation' },
      printable(observation.text),
    ),
    ...(note ? [note] : []),
  ];
}
