/** Which outcome was rehearsed as which: the errors that the model foresees, and those that it makes up. */
import type { AnticipationView } from '../../src/core/fidelity/view.types';
import { el, fill } from '../common/dom';
import { whole } from '../common/format';
import { printable } from '../common/text';
import { outOf, share } from './format';

export class Confusion {
  readonly element = el('section', { class: 'confusion', 'aria-label': 'Outcomes, real and rehearsed' });
  private shown = '';

  constructor(private readonly choose: (real: string, rehearsed: string) => void) {}

  update({ confusion, sameError }: AnticipationView): void {
    const key = JSON.stringify(confusion);
    if (key === this.shown) return;
    this.shown = key;
    this.element.hidden = confusion.length === 0;
    const rows = confusion.map(({ real, rehearsed, n }) => {
      const words = `${whole(n)} calls: really ${printable(real)}, rehearsed as ${printable(rehearsed)}`;
      const button = el(
        'button',
        { type: 'button', class: 'cell', title: words, 'aria-label': words },
        el('span', 'num', whole(n)),
      );
      button.addEventListener('click', () => this.choose(real, rehearsed));
      return el(
        'tr',
        real === rehearsed ? 'same' : 'other',
        el('td', {}, printable(real)),
        el('td', {}, printable(rehearsed)),
        el('td', 'n', button),
      );
    });
    const head = el(
      'tr',
      {},
      el('th', { scope: 'col' }, 'real outcome'),
      el('th', { scope: 'col' }, 'rehearsed as'),
      el('th', { scope: 'col', class: 'n' }, 'calls'),
    );
    fill(
      this.element,
      el(
        'div',
        'head',
        el('h2', {}, 'Outcomes'),
        sameError.n > 0 &&
          el(
            'span',
            'mute',
            `of the errors on both sides ${outOf(sameError)} (${share(sameError)}) are the same`,
          ),
      ),
      el('table', {}, el('thead', {}, head), el('tbody', {}, ...rows)),
    );
  }
}
