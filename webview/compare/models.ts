/** Several models on the same calls: a column each, and what the others differ from the first by. */
import type { ModelsView } from '../../src/core/fidelity/view.types';
import { el, fill } from '../common/dom';
import { whole } from '../common/format';
import { printable } from '../common/text';
import { intervalBar } from './figures';
import { calls, difference, interval, isClear, outOf, perByte, perToken, share } from './format';

export class Models {
  readonly element = el('section', {
    class: 'models',
    'aria-label': 'Models on the same calls',
    hidden: true,
  });
  private shown = '';

  update(view: ModelsView | null): void {
    const key = JSON.stringify(view);
    if (key === this.shown) return;
    this.shown = key;
    this.element.hidden = view === null;
    if (!view) return;
    const { models, differences } = view;
    const columns = models.map((model) => el('th', { scope: 'col', class: 'n' }, printable(model)));
    fill(
      this.element,
      el(
        'div',
        'head',
        el('h2', {}, 'Models on the same calls'),
        el('span', 'mute', `${calls(view.calls)} that all were compared on`),
      ),
      el(
        'table',
        {},
        el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, ''), ...columns)),
        el('tbody', {}, ...figureRows(view)),
        el(
          'tbody',
          {},
          el(
            'tr',
            'tool',
            el(
              'th',
              { scope: 'rowgroup', colspan: models.length + 1 },
              `Against ${printable(models[0] ?? '')}, on the same calls`,
            ),
          ),
          row('fidelity', [
            '',
            ...differences.map((one) => clear(difference(one.fidelity, 2), isClear(one.fidelity))),
          ]),
          row('bits per byte', [
            '',
            ...differences.map((one) => clear(difference(one.bitsPerByte, 3), isClear(one.bitsPerByte))),
          ]),
          row('only this one knows', ['', ...differences.map(({ onlyThis }) => calls(onlyThis))]),
          row('only the first knows', ['', ...differences.map(({ onlyFirst }) => calls(onlyFirst))]),
        ),
      ),
      el('p', 'mute foot', 'Bold: the 95 % interval of the difference leaves zero out.'),
    );
  }
}

function figureRows({ fidelity, surprise, anticipation, tools }: ModelsView): HTMLElement[] {
  const shares = (all: ModelsView['fidelity']) =>
    all.map((one) =>
      el(
        'span',
        'share',
        el('b', {}, share(one)),
        intervalBar(one),
        el('span', 'mute', `${interval(one)}, ${outOf(one)}`),
      ),
    );
  return [
    row('fidelity', shares(fidelity)),
    ...tools.map(({ tool, fidelity: own }) => row(el('code', {}, printable(tool)), shares(own))),
    row('surprise, bits per token', surprise.map(perToken)),
    row('surprise, bits per byte', surprise.map(perByte)),
    ...(surprise.some(Boolean)
      ? tools.map(({ tool, surprise: own }) =>
          row(
            el('code', {}, printable(tool)),
            own.map((one) => `${perByte(one)} bits/byte`),
          ),
        )
      : []),
    row(
      'failures foreseen (recall)',
      anticipation.map(({ recall }) => `${share(recall)} (${outOf(recall)})`),
    ),
    row(
      'foreseen that were real (precision)',
      anticipation.map(({ precision }) => `${share(precision)} (${outOf(precision)})`),
    ),
    row(
      'errors of the same class',
      anticipation.map(
        ({ sameError }) => `${share(sameError)} (${whole(sameError.good)} of ${whole(sameError.n)})`,
      ),
    ),
  ];
}

function row(name: string | HTMLElement, cells: readonly (string | HTMLElement)[]): HTMLElement {
  return el(
    'tr',
    {},
    el('th', { scope: 'row', class: typeof name === 'string' ? '' : 'inner' }, name),
    ...cells.map((cell) => el('td', 'n', cell)),
  );
}

function clear(text: string, isBold: boolean): HTMLElement {
  return el(isBold ? 'b' : 'span', {}, text);
}
