/**
 * The calls, one line each, of which only those in sight are in the page: ten thousand cost what ten do. One tab
 * stop; arrow keys choose.
 */
import type { CellView, RowView } from '../../src/core/fidelity/view.types';
import { el, fill, icon, oncePerFrame, setAttribute } from '../common/dom';
import { printable } from '../common/text';
import { bits, fieldName, KIND_ICONS, KIND_WORDS } from './format';

const ROW = 24;
const BEYOND = 8;

export interface ListActions {
  chosen(id: number): void;
  /** Enter or a double click. */
  open(id: number): void;
}

export class CallList {
  readonly element: HTMLElement;
  private readonly body = el('div', 'rows');
  private readonly empty = el('p', { class: 'mute none', hidden: true });
  private readonly rows = new Map<number, RowView>();
  private readonly drawn = new Map<number, HTMLElement>();
  private ids: readonly number[] = [];
  private places = new Map<number, number>();
  private selected: number | null = null;
  private models: readonly string[] = [];
  private side = 0;
  private readonly later = oncePerFrame(() => this.draw());

  constructor(private readonly actions: ListActions) {
    this.element = el(
      'div',
      { class: 'list', role: 'listbox', tabindex: 0, 'aria-label': 'Calls' },
      this.body,
      this.empty,
    );
    this.element.addEventListener('scroll', this.later, { passive: true });
    this.element.addEventListener('keydown', (event) => this.pressed(event));
    this.element.addEventListener('click', ({ target }) => this.clicked(target as Element, false));
    this.element.addEventListener('dblclick', ({ target }) => this.clicked(target as Element, true));
    new ResizeObserver(this.later).observe(this.element);
  }

  /** How many calls are in the list. */
  get length(): number {
    return this.ids.length;
  }

  /** Place of a call among those in the list, from 0, or −1. */
  placeOf(id: number): number {
    return this.places.get(id) ?? -1;
  }

  /** The call at a place, or undefined. */
  at(place: number): number | undefined {
    return this.ids[place];
  }

  /** The first call in the list that differs: what people come to see. */
  firstDiffering(): number | undefined {
    return this.ids.find((id) => this.rows.get(id)?.cells[this.side]?.verdict === 'differs');
  }

  setModels(models: readonly string[], side: number): void {
    if (models.join('\n') === this.models.join('\n') && side === this.side) return;
    this.models = models;
    this.side = side;
    this.drawAnew();
  }

  setRows(rows: readonly RowView[]): void {
    for (const row of rows) {
      this.rows.set(row.id, row);
      this.drawn.get(row.id)?.remove();
      this.drawn.delete(row.id);
    }
    this.later();
  }

  setIds(ids: readonly number[], whyEmpty: string): void {
    this.ids = ids;
    this.places = new Map(ids.map((id, place) => [id, place]));
    this.body.style.height = `${ids.length * ROW}px`;
    this.empty.hidden = ids.length > 0;
    this.empty.textContent = whyEmpty;
    this.later();
  }

  select(id: number | null, isInSight = true): void {
    this.selected = id;
    if (id !== null && isInSight) this.reveal(this.placeOf(id));
    this.draw();
  }

  private reveal(place: number): void {
    if (place < 0) return;
    const { scrollTop, clientHeight } = this.element;
    if (place * ROW < scrollTop) this.element.scrollTop = place * ROW;
    else if ((place + 1) * ROW > scrollTop + clientHeight)
      this.element.scrollTop = (place + 1) * ROW - clientHeight;
  }

  private drawAnew(): void {
    this.drawn.clear();
    fill(this.body);
    this.draw();
  }

  private draw(): void {
    const { scrollTop, clientHeight } = this.element;
    const first = Math.max(0, Math.floor(scrollTop / ROW) - BEYOND);
    const last = Math.min(this.ids.length, Math.ceil((scrollTop + clientHeight) / ROW) + BEYOND);
    const wanted = new Set(this.ids.slice(first, last));
    const chosen = this.selected !== null && this.places.has(this.selected) ? this.selected : null;
    // What a screen reader is told of must be in the page, wherever it stands.
    if (chosen !== null) wanted.add(chosen);
    for (const [id, element] of this.drawn) {
      if (wanted.has(id)) continue;
      element.remove();
      this.drawn.delete(id);
    }
    // In their order in the page too: a screen reader may read it line by line.
    let before: Element | null = null;
    for (const id of [...wanted].sort((a, b) => this.placeOf(a) - this.placeOf(b))) {
      const element = this.place(id);
      if (!element) continue;
      if (element.parentElement !== this.body || element.previousElementSibling !== before) {
        if (before) before.after(element);
        else this.body.prepend(element);
      }
      before = element;
    }
    setAttribute(this.element, 'aria-activedescendant', chosen === null ? null : `call-${chosen}`);
  }

  private place(id: number): HTMLElement | null {
    const row = this.rows.get(id);
    if (!row) return null;
    let element = this.drawn.get(id);
    if (!element) {
      element = this.rowOf(row);
      this.drawn.set(id, element);
    }
    const place = this.placeOf(id);
    element.style.transform = `translateY(${place * ROW}px)`;
    setAttribute(element, 'aria-posinset', String(place + 1));
    setAttribute(element, 'aria-setsize', String(this.ids.length));
    setAttribute(element, 'aria-selected', String(id === this.selected));
    return element;
  }

  private rowOf(row: RowView): HTMLElement {
    const cell = row.cells[this.side] ?? null;
    const several = this.models.length > 1;
    const marks = (several ? row.cells : [cell]).map((one) => el('span', 'mark', markOf(one)));
    const args = printable(row.arguments).replaceAll('\n', ' ');
    const element = el(
      'div',
      { class: 'row', role: 'option', id: `call-${row.id}` },
      ...marks,
      el('code', 'tool', printable(row.tool)),
      el('code', { class: 'args', title: args }, args),
      el('span', 'what', whatOf(cell)),
      el(
        'span',
        { class: 'bits num', title: 'Surprise of the real answer, bits per token' },
        cell?.bits == null ? '' : bits(cell.bits),
      ),
    );
    setAttribute(element, 'aria-label', this.spoken(row));
    element.dataset.id = String(row.id);
    return element;
  }

  private spoken(row: RowView): string {
    const own = row.cells.map((cell, side) => {
      const name = this.models.length > 1 ? `${printable(this.models[side] ?? '')}: ` : '';
      const first = cell?.first
        ? `, ${printable(fieldName(cell.first.path))} ${KIND_WORDS[cell.first.kind]}`
        : '';
      return `${name}${wordOf(cell)}${first}${cell?.bits == null ? '' : `, ${bits(cell.bits)} bits per token`}`;
    });
    return `${printable(row.tool)} ${printable(row.arguments)}: ${own.join('; ')}`;
  }

  private clicked(target: Element, isTwice: boolean): void {
    const id = target.closest<HTMLElement>('.row')?.dataset.id;
    if (id === undefined) return;
    if (isTwice) this.actions.open(Number(id));
    else this.actions.chosen(Number(id));
  }

  private pressed(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const at = this.selected === null ? -1 : this.placeOf(this.selected);
    const page = Math.max(1, Math.floor(this.element.clientHeight / ROW) - 1);
    const to = {
      ArrowUp: at - 1,
      ArrowDown: at + 1,
      PageUp: at - page,
      PageDown: at + page,
      Home: 0,
      End: this.ids.length - 1,
    }[event.key];
    if (to !== undefined && this.ids.length > 0)
      this.actions.chosen(this.ids[Math.min(Math.max(to, 0), this.ids.length - 1)]!);
    else if (event.key === 'Enter' && this.selected !== null) this.actions.open(this.selected);
    else return;
    event.preventDefault();
  }
}

function markOf(cell: CellView | null): HTMLElement {
  const word = wordOf(cell);
  const verdict = cell?.verdict;
  const made = verdict ? icon(KIND_ICONS[verdict]) : icon(cell?.note ? 'circle-slash' : 'dash');
  made.classList.add(verdict ?? 'none');
  // The author's word is underlined: it went before what was computed.
  if (cell?.author) made.classList.add('judged');
  made.title = cell?.author ? `${word}, your verdict` : word;
  return made;
}

function wordOf(cell: CellView | null): string {
  if (!cell) return 'not asked';
  return cell.author ?? cell.verdict ?? cell.note ?? 'not compared';
}

function whatOf(cell: CellView | null): string {
  if (!cell) return '';
  if (cell.note) return printable(cell.note);
  if (!cell.first) return '';
  return `${printable(fieldName(cell.first.path))} ${cell.first.kind === 'missing' || cell.first.kind === 'extra' ? cell.first.kind : 'differs'}`;
}
