/** The figures that matter, at the top: fidelity, anticipation, surprise, and the author's verdicts. */
import type { ShareView, SideView } from '../../src/core/fidelity/view.types';
import { el, fill } from '../common/dom';
import { whole } from '../common/format';
import { link } from '../common/toolkit';
import { calls, interval, outOf, perByte, perToken, share } from './format';

export interface FigureActions {
  show(what: 'judged' | 'unjudged' | 'differs' | 'uncompared'): void;
}

export class Figures {
  readonly element = el('section', { class: 'figures', 'aria-label': 'Figures' });

  constructor(private readonly actions: FigureActions) {}

  update(side: SideView): void {
    fill(this.element, this.fidelity(side), anticipation(side), surprise(side), this.verdicts(side));
  }

  private fidelity({ fidelity, outcomes, leftOut, notRehearsed, uncompared }: SideView): HTMLElement {
    const left = leftOut + notRehearsed + uncompared;
    return el(
      'div',
      'figure',
      el('h2', 'label', 'Fidelity'),
      el('div', 'value', el('b', 'big', share(fidelity)), intervalBar(fidelity)),
      el('p', {}, `95 % interval ${interval(fidelity)}; ${outOf(fidelity)} calls match or are tolerable`),
      el('p', {}, `Outcome class the same in ${outOf(outcomes)}`),
      left > 0 &&
        el(
          'p',
          {},
          link(`${calls(left)} not counted`, () => this.actions.show('uncompared')),
        ),
    );
  }

  private verdicts({ author, differing }: SideView): HTMLElement {
    const given = author.filter(({ n }) => n > 0);
    const all = given.reduce((sum, { n }) => sum + n, 0);
    return el(
      'div',
      'figure',
      el('h2', 'label', 'Your verdicts'),
      el(
        'div',
        'value',
        el('b', 'big', whole(all)),
        el('span', {}, `on ${calls(differing)} that ${differing === 1 ? 'differs' : 'differ'}`),
      ),
      el(
        'p',
        {},
        given.length
          ? given.map(({ verdict, n }) => `${whole(n)} ${verdict}`).join(', ')
          : 'None yet: press 1 to 4 at a call',
      ),
      all > 0 &&
        el(
          'p',
          {},
          link('Show them', () => this.actions.show('judged')),
        ),
    );
  }
}

function anticipation({ anticipation: { recall, precision } }: SideView): HTMLElement {
  const one = (name: string, of: ShareView, words: string) =>
    el(
      'div',
      {},
      el('div', 'value', el('b', 'big', share(of)), el('span', {}, name)),
      el(
        'p',
        {},
        of.n ? `${outOf(of)} ${words}` : `No ${words.startsWith('real') ? 'real' : 'rehearsed'} error`,
      ),
      of.n > 0 && el('p', {}, `95 % interval ${interval(of)}`),
    );
  return el(
    'div',
    'figure',
    el('h2', 'label', 'Anticipation of failures'),
    el(
      'div',
      'two',
      one('recall', recall, 'real errors were rehearsed as errors'),
      one('precision', precision, 'rehearsed errors were real'),
    ),
  );
}

function surprise({ surprise: all, noSurprise, unscored }: SideView): HTMLElement {
  return el(
    'div',
    'figure',
    el('h2', 'label', 'Surprise of the real answers'),
    el('div', 'value', el('b', 'big', perToken(all)), el('span', {}, 'bits per token')),
    el(
      'p',
      {},
      all
        ? `${perByte(all)} bits per byte, over ${whole(all.tokens)} tokens${all.gaps ? `; ${whole(all.gaps)} have no figure` : ''}`
        : (noSurprise ?? 'No answer was scored'),
    ),
    unscored > 0 && el('p', 'warn', `${calls(unscored)} could not be scored`),
  );
}

/** A share on the line from 0 to 1, with its interval. The same stands beside it in words. */
export function intervalBar(value: ShareView): HTMLElement | false {
  if (value.share === null) return false;
  const range = el('i', 'range');
  const point = el('i', 'point');
  range.style.left = `${100 * value.low}%`;
  range.style.right = `${100 * (1 - value.high)}%`;
  point.style.left = `${100 * value.share}%`;
  return el(
    'span',
    { class: 'interval', 'aria-hidden': 'true' },
    el('i', 'axis'),
    range,
    point,
    el('span', 'zero', '0'),
    el('span', 'one', '1'),
  );
}
