/** The compare page: puts its parts together, and asks the extension for what a person looks at. */
import type { ComparisonView, PairView } from '../../src/core/fidelity/view.types';
import type { CompareHead, FromCompare, RowFilter, ToCompare } from '../common/compare';
import { el } from '../common/dom';
import { Confusion } from './confusion';
import { Figures } from './figures';
import { Filters } from './filters';
import { outOf, share } from './format';
import { Head } from './head';
import { CallList } from './list';
import { Models } from './models';
import { PairPane } from './pair';
import { ToolBar } from './tool-bar';
import { type Cell, ToolTable } from './tools';

export interface Saved {
  filter: Omit<RowFilter, 'side'>;
  side: number;
  selected: number | null;
}

export interface PageOptions {
  post(message: FromCompare): void;
  saved: Saved;
  /** Keeps what the page is to show again after the window was closed. */
  save(state: Saved): void;
}

export class ComparePage {
  readonly element: HTMLElement;
  private readonly head: Head;
  private readonly figures: Figures;
  private readonly tools: ToolTable;
  private readonly confusion: Confusion;
  private readonly models = new Models();
  private readonly filters: Filters;
  private readonly list: CallList;
  private readonly pane: PairPane;
  private readonly toolBar: ToolBar;
  private readonly spoken = el('div', { class: 'sr', role: 'status', 'aria-live': 'polite' });
  private view: ComparisonView | null = null;
  private status: CompareHead['status'] | null = null;
  private state: Saved;
  private number = 0;
  private pair: PairView | null = null;
  /** The call that is shown was chosen by the person: it stays, whatever else comes. */
  private isChosen: boolean;

  constructor(private readonly options: PageOptions) {
    this.state = options.saved;
    this.isChosen = options.saved.selected !== null;
    const { post } = options;
    this.head = new Head(post, (side) => this.setSide(side));
    this.figures = new Figures({ show: (what) => this.filters.setShow(what) });
    this.toolBar = new ToolBar(post);
    this.tools = new ToolTable((cell) => this.filters.setCell(cell));
    this.confusion = new Confusion((real, rehearsed) => this.filters.setOutcomes(real, rehearsed));
    this.filters = new Filters((filter) => this.setFilter(filter));
    this.list = new CallList({
      chosen: (id) => this.choose(id),
      open: (id) => post({ type: 'diff', ...this.of(id) }),
    });
    this.pane = new PairPane({
      move: (step) => this.move(step),
      diff: () => this.withSelected((id) => post({ type: 'diff', ...this.of(id) })),
      debug: () => this.withSelected((id) => post({ type: 'debug', ...this.of(id) })),
      verdict: (verdict, note) =>
        this.withSelected((id) => post({ type: 'verdict', ...this.of(id), verdict, note })),
      record: () => this.withSelected((id) => post({ type: 'record', ...this.of(id) })),
      ignore: (path) => post({ type: 'ignore', path }),
    });
    const tables = el(
      'div',
      'tables',
      this.models.element,
      this.tools.element,
      this.toolBar.element,
      this.confusion.element,
    );
    const right = el('div', 'calls', this.filters.element, this.list.element, this.pane.element);
    this.element = el(
      'div',
      'page',
      this.head.element,
      this.figures.element,
      el('div', 'columns', tables, right),
      this.spoken,
    );
    document.addEventListener('keydown', (event) => this.pressed(event));
  }

  receive(message: ToCompare): void {
    switch (message.type) {
      case 'comparison':
        this.showView(message.view);
        this.showHead(message.head);
        break;
      case 'head':
        this.showHead(message.head);
        break;
      case 'rows':
        this.list.setRows(message.rows);
        break;
      case 'list':
        if (message.filter === this.number) this.showList(message.ids);
        break;
      case 'pair':
        if (message.id === this.state.selected && message.side === this.state.side)
          this.showPair(message.pair, message.reason);
    }
  }

  fail(message: string): void {
    this.head.fail(message);
  }

  private showView(view: ComparisonView): void {
    const isFirst = this.view === null;
    this.view = view;
    if (this.state.side >= view.sides.length) this.state.side = 0;
    const side = view.sides[this.state.side];
    this.head.setView(view, this.state.side);
    this.models.update(view.beside);
    this.list.setModels(
      view.sides.map(({ model }) => model),
      this.state.side,
    );
    if (side) {
      this.figures.update(side);
      this.tools.update(side);
      this.confusion.update(side.anticipation);
    }
    this.showToolBar();
    if (isFirst) this.filters.restore(this.state.filter);
  }

  private showHead(head: CompareHead): void {
    this.head.update(head);
    this.pane.setReadOnly(head.readOnly);
    const { status } = this;
    this.status = head.status;
    if (status !== 'running' || head.status === 'running') return;
    const side = this.view?.sides.at(-1);
    const figures = side
      ? ` Fidelity ${share(side.fidelity)}, ${outOf(side.fidelity)} calls match or are tolerable.`
      : '';
    this.spoken.textContent = `The comparison ${head.status === 'done' ? 'is done' : 'was cancelled'}.${figures}`;
  }

  private setSide(side: number): void {
    this.state.side = side;
    this.save();
    if (this.view) this.showView(this.view);
    this.askForList();
    this.askForPair();
  }

  private setFilter(filter: Omit<RowFilter, 'side'>): void {
    this.state.filter = filter;
    this.tools.setChosen(this.cell);
    this.showToolBar();
    this.save();
    this.askForList();
  }

  private get cell(): Cell | null {
    const { tool, field, kind } = this.state.filter;
    return tool === undefined ? null : { tool, ...(field !== undefined && { field }), ...(kind && { kind }) };
  }

  private showToolBar(): void {
    const { filter, side } = this.state;
    const tool = this.view?.sides[side]?.tools.find((one) => one.tool === filter.tool);
    this.toolBar.update(tool ?? null, { field: filter.field, side });
  }

  private askForList(): void {
    this.number++;
    this.options.post({
      type: 'filter',
      number: this.number,
      filter: { side: this.state.side, ...this.state.filter },
    });
  }

  private showList(ids: readonly number[]): void {
    const isFiltered = Object.keys(this.state.filter).length > 0;
    const none = this.status === 'running' ? 'Nothing was compared yet.' : 'No call.';
    this.list.setIds(ids, isFiltered ? 'No call is like this.' : none);
    const { selected } = this.state;
    const first = this.list.firstDiffering() ?? ids[0] ?? null;
    const isThere = selected !== null && this.list.placeOf(selected) >= 0;
    if (!isThere || (!this.isChosen && selected !== first)) this.select(first);
    else {
      this.list.select(selected, false);
      if (this.pair?.id !== selected) this.askForPair();
      this.pane.setPlace(this.list.placeOf(selected), ids.length);
    }
  }

  private choose(id: number): void {
    this.isChosen = true;
    this.select(id);
  }

  private select(id: number | null): void {
    this.state.selected = id;
    this.save();
    this.list.select(id);
    if (id === null) this.showPair(null, '');
    else this.askForPair();
  }

  private askForPair(): void {
    this.withSelected((id) => this.options.post({ type: 'pair', ...this.of(id) }));
  }

  private showPair(pair: PairView | null, reason: string): void {
    const before = this.pair;
    this.pair = pair;
    this.pane.show(pair, reason);
    if (this.state.selected !== null)
      this.pane.setPlace(this.list.placeOf(this.state.selected), this.list.length);
    if (
      !pair ||
      !before ||
      pair.id !== before.id ||
      pair.side !== before.side ||
      pair.author === before.author
    )
      return;
    this.spoken.textContent = pair.author
      ? `Verdict: ${pair.author}, written into the examples.`
      : 'Verdict taken back.';
  }

  private move(step: 1 | -1): void {
    const { selected } = this.state;
    const place = selected === null ? -1 : this.list.placeOf(selected);
    const next = this.list.at(place + step);
    if (next !== undefined) this.choose(next);
  }

  private of(id: number): { id: number; side: number } {
    return { id, side: this.state.side };
  }

  private withSelected(use: (id: number) => void): void {
    if (this.state.selected !== null) use(this.state.selected);
  }

  private save(): void {
    this.options.save(this.state);
  }

  private pressed(event: KeyboardEvent): void {
    if (
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      (event.target as Element).matches('input, textarea')
    )
      return;
    const digit = '1234'.indexOf(event.key);
    if (digit >= 0 && event.key.length === 1) {
      if (this.pane.give(digit)) event.preventDefault();
    } else if (event.key === '/') {
      this.filters.focus();
      event.preventDefault();
    }
  }
}

/** What was shown before the window was closed, where it can still be read. */
export function savedState(value: unknown): Saved {
  const { filter, side, selected } = (value ?? {}) as { [name: string]: unknown };
  return {
    filter: typeof filter === 'object' && filter !== null ? (filter as Saved['filter']) : {},
    side: typeof side === 'number' && side >= 0 ? side : 0,
    selected: typeof selected === 'number' ? selected : null,
  };
}
