/** Two branches side by side, call by call, with what differs marked in words. */
import type { BranchesView, BranchView } from '../../src/core/rehearsal/view.types';
import { el, fill, icon } from '../common/dom';
import { reward } from '../common/format';
import { boxText, printable } from '../common/text';
import { button } from '../common/toolkit';
import { sourceBadge } from './sources';

export interface TwoActions {
  /** Others are to be shown, by their tips. */
  compare(left: number, right: number): void;
  goto(tip: number): void;
  close(): void;
}

type Row = BranchesView['rows'][number];

const DIFFERS: Record<Row['differs'], string> = {
  no: '',
  call: 'goes another way',
  answer: 'other answer',
  alone: 'only in this branch',
};

export class TwoBranches {
  readonly element = el('section', { class: 'two', 'aria-label': 'Two branches side by side', hidden: true });

  constructor(private readonly actions: TwoActions) {
    this.element.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return;
      event.stopPropagation();
      actions.close();
    });
  }

  show(view: BranchesView, branches: readonly BranchView[]): void {
    const { left, right, rows } = view;
    const differing = rows.filter(({ differs }) => differs !== 'no').length;
    const close = button({
      label: 'Close',
      icon: 'close',
      look: 'quiet',
      onClick: () => this.actions.close(),
    });
    const said = differing === 0 ? 'no difference' : `${differing} of ${rows.length} rows differ`;
    fill(
      this.element,
      el('div', 'top', el('h2', {}, 'Two branches'), el('span', 'mute grow', said), close),
      el(
        'div',
        'grid',
        el('span', {}),
        this.side('Left branch', left, branches, (tip) => this.actions.compare(tip, right)),
        this.side('Right branch', right, branches, (tip) => this.actions.compare(left, tip)),
        ...rows.flatMap((row) => rowCells(row)),
      ),
    );
    this.element.hidden = false;
    close.focus();
  }

  /** Which branch stands on a side, and how it ended. */
  private side(
    name: string,
    tip: number,
    branches: readonly BranchView[],
    choose: (tip: number) => void,
  ): HTMLElement {
    const select = el('select', { 'aria-label': name });
    for (const branch of branches) {
      select.append(el('option', { value: branch.tip, selected: branch.tip === tip }, titleOf(branch)));
    }
    select.addEventListener('change', () => choose(Number(select.value)));
    const branch = branches.find((one) => one.tip === tip);
    const end = branch?.done
      ? el('b', branch.reward === null ? 'end null' : 'end', reward(branch.reward))
      : el('span', 'mute', 'not finished');
    const show = button({
      label: 'Show',
      look: 'quiet',
      name: `Show the ${name.toLowerCase()}`,
      onClick: () => {
        this.actions.goto(tip);
        this.actions.close();
      },
    });
    return el('div', 'branchhead', select, el('span', 'mute', 'reward'), end, show);
  }
}

function titleOf({ label, token, turn, from }: BranchView): string {
  const name = token === null ? label : boxText(label);
  return from === null ? name : `${name}, from turn ${turn}`;
}

function rowCells(row: Row): HTMLElement[] {
  const { turn, left, right, differs, fields } = row;
  const said = differs !== 'no' && el('div', 'differs', icon('error'), DIFFERS[differs]);
  const where =
    fields.length > 0 && el('div', 'where', ...fields.map((field) => el('code', {}, printable(field))));
  const why = said || where ? el('div', 'why', said, where) : null;
  return [
    el('div', 'turnno', String(turn)),
    cell(left, differs, right ? null : why),
    cell(right, differs, right ? why : null),
  ];
}

function cell(call: Row['left'], differs: Row['differs'], why: HTMLElement | null): HTMLElement {
  if (!call) return el('div', `cell empty d-${differs}`, el('span', 'mute', '–'), why);
  const { text, source, outcome, answer } = call;
  const said =
    source === null
      ? el('div', 'said', printable(text) || '(an empty answer)')
      : el('code', 'call', printable(text));
  const result =
    source !== null &&
    el(
      'div',
      'result',
      sourceBadge(source),
      el('pre', { class: `json ${outcome ?? ''}` }, printable(answer)),
    );
  return el('div', `cell d-${differs}`, said, result, why);
}
