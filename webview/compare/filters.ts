/** Which calls the list shows: by what became of them, by a figure of a table, by a text. */
import type { RowFilter } from '../common/compare';
import { el, fill } from '../common/dom';
import { printable } from '../common/text';
import { button, choice, setChoice } from '../common/toolkit';
import { fieldName, KIND_WORDS } from './format';
import type { Cell } from './tools';

export type Show = NonNullable<RowFilter['show']>;

const SHOWS: { value: Show | 'all'; label: string }[] = [
  { value: 'all', label: 'All' },
  { value: 'differs', label: 'Differ' },
  { value: 'tolerable', label: 'Tolerable' },
  { value: 'match', label: 'Match' },
  { value: 'unjudged', label: 'To judge' },
  { value: 'judged', label: 'Judged' },
  { value: 'uncompared', label: 'Not counted' },
];

const PAUSE_MS = 150;

export class Filters {
  readonly element: HTMLElement;
  /** What the filter is beside `show` and `text`, in words, with a button that takes it away. */
  private readonly chosen = el('span', { class: 'chosen', hidden: true });
  private readonly show: HTMLElement;
  private readonly input: HTMLInputElement;
  private timer: number | undefined;
  private filter: Omit<RowFilter, 'side'> = {};

  constructor(private readonly changed: (filter: Omit<RowFilter, 'side'>) => void) {
    this.show = choice('Calls shown', SHOWS, 'all', (value) =>
      this.setShow(value === 'all' ? undefined : (value as Show)),
    );
    this.show.className = 'segments';
    this.input = el('input', {
      type: 'search',
      class: 'search',
      placeholder: 'Filter calls',
      'aria-label': 'Filter calls by tool, arguments or task',
    });
    this.input.addEventListener('input', () => {
      clearTimeout(this.timer);
      this.timer = window.setTimeout(() => this.set({ text: this.input.value || undefined }), PAUSE_MS);
    });
    this.element = el('div', 'filters', this.show, this.chosen, this.input);
  }

  get current(): Omit<RowFilter, 'side'> {
    return this.filter;
  }

  /** Takes over a filter, as when the page is opened again. */
  restore(filter: Omit<RowFilter, 'side'>): void {
    this.input.value = filter.text ?? '';
    setChoice(this.show, filter.show ?? 'all');
    this.filter = {};
    this.set(filter);
  }

  setShow(show: Show | undefined): void {
    setChoice(this.show, show ?? 'all');
    this.set({ show });
  }

  /** A figure of the table: the same again takes it away. */
  setCell({ tool, field, kind }: Cell): void {
    const { filter } = this;
    const isSame = filter.tool === tool && filter.field === field && filter.kind === kind;
    const none = { tool: undefined, field: undefined, kind: undefined };
    this.set({ real: undefined, rehearsed: undefined, ...(isSame ? none : { tool, field, kind }) });
  }

  setOutcomes(real: string, rehearsed: string): void {
    this.set({ tool: undefined, field: undefined, kind: undefined, real, rehearsed });
  }

  focus(): void {
    this.input.focus();
  }

  private set(change: Omit<RowFilter, 'side'>): void {
    const merged = Object.entries({ ...this.filter, ...change }).filter(([, value]) => value !== undefined);
    this.filter = Object.fromEntries(merged);
    this.draw();
    this.changed(this.filter);
  }

  private draw(): void {
    const { tool, field, kind, real, rehearsed } = this.filter;
    const words =
      tool !== undefined
        ? `${printable(tool)}${field === undefined ? '' : `: ${printable(fieldName(field))} ${kind ? KIND_WORDS[kind] : ''}`}`
        : real !== undefined
          ? `really ${printable(real)}, rehearsed as ${printable(rehearsed ?? '')}`
          : '';
    this.chosen.hidden = words === '';
    const clear = button({
      label: 'Clear',
      icon: 'close',
      look: 'quiet',
      name: `Show calls beside ${words}`,
      onClick: () =>
        this.set({
          tool: undefined,
          field: undefined,
          kind: undefined,
          real: undefined,
          rehearsed: undefined,
        }),
    });
    fill(this.chosen, el('span', { class: 'chip', title: words }, words), clear);
  }
}
