/** The real answer as the model's own tokens, each with how unlikely the model found it. */
import type { PairView } from '../../src/core/fidelity/view.types';
import { el, fill } from '../common/dom';
import { whole } from '../common/format';
import { SURPRISE_LEVELS, surpriseLevel } from '../common/surprise';
import { printable, spoken } from '../common/text';
import { bits, perByte, perToken } from './format';

type Mark = PairView['marks'][number];

/** From one bit on a token carries its figure, so that it can be read without colour. */
const FIGURED = 1;
const AT_ONCE = 400;

export class Tokens {
  readonly element = el('section', { class: 'surprise', 'aria-label': 'Surprise of the real answer' });
  private spans: HTMLElement[] = [];
  private shown = '';

  update(pair: PairView): void {
    const { surprise, unscored, marks, moreMarks } = pair;
    const key = JSON.stringify([marks, unscored]);
    if (key === this.shown) return;
    this.shown = key;
    this.spans = [];
    const words = surprise ? `${perToken(surprise)} bits per token, ${perByte(surprise)} bits per byte` : '';
    const legend = el(
      'span',
      { class: 'legend', 'aria-hidden': 'true' },
      'bits',
      ...SURPRISE_LEVELS.map((level, i) => el('span', `t s${i}`, level)),
    );
    fill(
      this.element,
      el(
        'div',
        'head',
        el('h3', {}, 'Surprise of the real answer'),
        el('span', 'mute', words),
        marks.length > 0 && legend,
      ),
      marks.length > 0 && this.list(marks),
      moreMarks > 0 && el('p', 'mute', `and ${whole(moreMarks)} more tokens`),
      marks.length === 0 &&
        el('p', 'mute', unscored ? `Not scored: ${printable(unscored)}` : 'This answer was not scored.'),
    );
  }

  private list(marks: readonly Mark[]): HTMLElement {
    const list = el('div', {
      class: 'toks',
      role: 'listbox',
      'aria-orientation': 'horizontal',
      'aria-label': `Real answer, ${whole(marks.length)} tokens`,
    });
    // Chunks that are out of sight are neither laid out nor painted.
    for (let at = 0; at < marks.length; at += AT_ONCE) {
      const chunk = el('span', 'chunk');
      for (const [i, mark] of marks.slice(at, at + AT_ONCE).entries())
        chunk.append(this.span(mark, at + i, marks.length), el('wbr'));
      list.append(chunk);
    }
    list.addEventListener('keydown', (event) => this.pressed(event));
    return list;
  }

  private span({ text, bits: own }: Mark, place: number, of: number): HTMLElement {
    const words = own === null ? 'no figure' : `${bits(own)} bits`;
    const span = el(
      'span',
      { class: `t s${surpriseLevel(own)}`, role: 'option', title: words, tabindex: place === 0 ? 0 : -1 },
      printable(text).replaceAll('\n', '↵'),
    );
    span.setAttribute('aria-label', `${spoken(text)}, ${words}, token ${place + 1} of ${of}`);
    if (own !== null && own >= FIGURED) span.append(el('sup', { 'aria-hidden': 'true' }, own.toFixed(1)));
    this.spans.push(span);
    return span;
  }

  private pressed(event: KeyboardEvent): void {
    const at = this.spans.indexOf(event.target as HTMLElement);
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: this.spans.length - 1 }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    const next = this.spans[Math.min(Math.max(to, 0), this.spans.length - 1)]!;
    this.spans[at]!.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }
}
