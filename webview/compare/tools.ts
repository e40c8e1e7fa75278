/** The table tool × field: what became of each field over all calls. A figure filters the list of calls. */
import {
  type FieldView,
  KINDS,
  type Kind,
  type ShareView,
  type SideView,
  type ToolView,
} from '../../src/core/fidelity/view.types';
import { el, fill } from '../common/dom';
import { whole } from '../common/format';
import { printable } from '../common/text';
import {
  calls,
  fieldName,
  interval,
  KIND_WORDS,
  outOf,
  perByte,
  perToken,
  share,
  spokenShare,
} from './format';

/** A figure of the table: a field of a tool, and what became of it. */
export interface Cell {
  tool: string;
  field?: string;
  kind?: Kind;
}

const HEADS: { [kind in Kind]: string } = {
  match: 'match',
  tolerable: 'tolerable',
  differs: 'differs',
  missing: 'missing',
  extra: 'extra',
};

export class ToolTable {
  readonly element = el('section', { class: 'tools', 'aria-label': 'By tool and field' });
  private side: SideView | null = null;
  private chosen: Cell | null = null;
  private all = false;

  constructor(private readonly choose: (cell: Cell) => void) {}

  update(side: SideView): void {
    // The same again draws nothing again, and keeps the focus where it is.
    if (JSON.stringify(side.tools) === JSON.stringify(this.side?.tools)) return;
    this.side = side;
    this.draw();
  }

  setChosen(cell: Cell | null): void {
    if (JSON.stringify(cell) === JSON.stringify(this.chosen)) return;
    this.chosen = cell;
    for (const button of this.element.querySelectorAll<HTMLElement>('button.cell')) {
      button.setAttribute('aria-pressed', String(isSame(cellOf(button), cell)));
    }
  }

  private draw(): void {
    const tools = this.side?.tools ?? [];
    const focused = (document.activeElement as HTMLElement | null)?.dataset.key;
    const head = el(
      'thead',
      {},
      el(
        'tr',
        {},
        el('th', { scope: 'col' }, 'field'),
        ...KINDS.map((kind) =>
          el('th', { scope: 'col', class: 'n', title: `The field ${KIND_WORDS[kind]}` }, HEADS[kind]),
        ),
        el(
          'th',
          {
            scope: 'col',
            class: 'n',
            title: 'Share of the calls in which it matches or is tolerable, with its 95 % interval',
          },
          'fidelity',
        ),
      ),
    );
    fill(
      this.element,
      el('div', 'head', el('h2', {}, 'By tool and field'), el('span', 'mute', 'bar: share of the calls')),
      tools.length > 0 && el('table', 'fields', head, ...tools.map((tool) => this.group(tool))),
      tools.length === 0 && el('p', 'mute none', 'Nothing was compared yet.'),
    );
    if (focused) this.element.querySelector<HTMLElement>(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  }

  private group(tool: ToolView): HTMLElement {
    const shown = this.all || tool.fields.length <= 40 ? tool.fields : tool.fields.slice(0, 40);
    const hidden = tool.fields.length - shown.length;
    const rest = hidden + tool.more;
    return el(
      'tbody',
      {},
      el(
        'tr',
        'tool',
        el(
          'th',
          { scope: 'rowgroup', colspan: 6 },
          this.toolButton(tool),
          el('span', { class: 'mute', title: 'Surprise of the real answers' }, toolWords(tool)),
        ),
        fidelityCell(tool.fidelity),
      ),
      el(
        'tr',
        {},
        el('th', { scope: 'row', class: 'outcome' }, 'outcome class'),
        outcomeCell(tool.outcomes.good, tool.outcomes.n, 'match'),
        zero(),
        outcomeCell(tool.outcomes.n - tool.outcomes.good, tool.outcomes.n, 'differs'),
        zero(),
        zero(),
        fidelityCell(tool.outcomes),
      ),
      ...shown.map((field) => this.row(tool.tool, field)),
      rest > 0 && el('tr', {}, el('td', { colspan: 7, class: 'more' }, this.moreButton(hidden, rest))),
    );
  }

  private toolButton({ tool }: ToolView): HTMLElement {
    const button = el(
      'button',
      { type: 'button', class: 'cell name', title: `Calls of ${printable(tool)}` },
      el('code', {}, printable(tool)),
    );
    return this.asCell(button, { tool });
  }

  private moreButton(hidden: number, rest: number): HTMLElement | string {
    if (hidden === 0) return `${whole(rest)} more fields match in every call`;
    const button = el('button', { type: 'button', class: 'cell' }, `${whole(rest)} more fields`);
    button.addEventListener('click', () => {
      this.all = true;
      this.draw();
    });
    return button;
  }

  private row(tool: string, { field, counts, fidelity }: FieldView): HTMLElement {
    const cells = KINDS.map((kind) => {
      const n = counts[kind];
      if (n === 0) return zero();
      const words = `${printable(tool)}, ${printable(fieldName(field))}: ${KIND_WORDS[kind]} in ${outOf({ ...fidelity, good: n })}`;
      const button = el(
        'button',
        { type: 'button', class: 'cell', title: words, 'aria-label': words },
        el('span', 'num', whole(n)),
        bar(n / fidelity.n),
      );
      return el('td', `c ${kind}`, this.asCell(button, { tool, field, kind }));
    });
    return el(
      'tr',
      {},
      el('th', { scope: 'row' }, el('code', { title: printable(field) }, printable(fieldName(field)))),
      ...cells,
      fidelityCell(fidelity),
    );
  }

  private asCell(button: HTMLButtonElement, cell: Cell): HTMLButtonElement {
    button.dataset.key = JSON.stringify(cell);
    button.setAttribute('aria-pressed', String(isSame(cell, this.chosen)));
    button.addEventListener('click', () => this.choose(cell));
    return button;
  }
}

function toolWords({ fidelity, surprise }: ToolView): string {
  const scored = surprise?.tokens ? `; ${perToken(surprise)} bits/token, ${perByte(surprise)} bits/byte` : '';
  return `${calls(fidelity.n)}${scored}`;
}

function fidelityCell(value: ShareView): HTMLElement {
  return el(
    'td',
    { class: 'n fidelity', title: spokenShare(value) },
    el('b', {}, share(value)),
    el('span', 'mute', interval(value)),
  );
}

function outcomeCell(count: number, n: number, kind: Kind): HTMLElement {
  if (count === 0) return zero();
  return el('td', `c ${kind}`, el('span', 'cell plain', el('span', 'num', whole(count)), bar(count / n)));
}

function zero(): HTMLElement {
  return el('td', 'c zero', el('span', { class: 'num', 'aria-hidden': 'true' }, '·'), el('span', 'sr', '0'));
}

function bar(part: number): HTMLElement {
  const element = el('i', { 'aria-hidden': 'true' });
  element.style.width = `${Math.max(2, Math.round(34 * part))}px`;
  return element;
}

function cellOf(button: HTMLElement): Cell {
  return JSON.parse(button.dataset.key ?? '{}') as Cell;
}

function isSame(a: Cell, b: Cell | null): boolean {
  return b !== null && a.tool === b.tool && a.field === b.field && a.kind === b.kind;
}
