/** The branches of the session as a tree: where each leaves, and how it ends. */
import type { BranchView } from '../../src/core/rehearsal/view.types';
import { type Child, el, fill, icon, moveAmong } from '../common/dom';
import { count, reward } from '../common/format';
import { boxText, spoken } from '../common/text';

export class Branches {
  readonly element: HTMLElement;
  private readonly tree = el('ul', { role: 'tree', 'aria-label': 'Branches' });
  private shown = '';
  private branches: readonly BranchView[] = [];

  constructor(
    /** Shows a branch, by its last node. */
    private readonly goto: (tip: number) => void,
    private readonly leave: () => void,
  ) {
    this.element = el('section', 'branches', el('h2', {}, 'Branches'), this.tree);
    this.tree.addEventListener('click', ({ target }) => this.activate((target as Element).closest('li')));
    this.tree.addEventListener('keydown', (event) => this.pressed(event));
  }

  update(branches: readonly BranchView[]): void {
    const key = JSON.stringify(branches);
    if (key === this.shown) return;
    this.shown = key;
    this.branches = branches;
    const focused = this.tree.contains(document.activeElement);
    const rows = inTreeOrder(branches);
    fill(this.tree, ...rows.map((row, i) => this.row(row.branch, row.level, railsAt(rows, i))));
    if (focused) this.focus();
  }

  /** While the only branch is being written: its own count comes with the end of each output only. */
  setTokens(tokens: number): void {
    const [only, ...others] = this.branches;
    if (only && others.length === 0 && tokens > only.tokens) this.update([{ ...only, tokens }]);
  }

  focus(): void {
    (this.tree.querySelector('[tabindex="0"]') as HTMLElement | null)?.focus();
  }

  private row(branch: BranchView, level: number, rails: HTMLElement[]): HTMLElement {
    const { label, tip, shown, role, done } = branch;
    const isToken = branch.token !== null;
    const title = el(
      'div',
      'line',
      el(isToken ? 'code' : 'span', 'name', isToken ? boxText(label) : label),
      el('span', 'grow'),
      endMark(branch),
    );
    const marker = el('span', {
      class: `mark ${role ?? 'main'}${shown ? ' shown' : ''}`,
      'aria-hidden': 'true',
    });
    const row = el(
      'li',
      {
        role: 'treeitem',
        class: shown ? 'branch shown' : 'branch',
        'aria-level': level,
        'aria-selected': String(shown),
        'aria-label': nameOf(branch),
        'data-tip': tip,
        tabindex: shown ? 0 : -1,
        title: shown
          ? 'The branch shown'
          : done
            ? 'Show this branch, at its end'
            : 'Show this branch, where it was left',
      },
      ...rails,
      marker,
      el('div', 'what', title, el('div', 'place', ...placeOf(branch))),
    );
    row.style.setProperty('--level', String(level - 1));
    return row;
  }

  private activate(row: HTMLElement | null): void {
    const tip = Number(row?.dataset.tip);
    if (row && this.branches.some((branch) => branch.tip === tip && !branch.shown)) this.goto(tip);
  }

  private pressed(event: KeyboardEvent): void {
    const rows = [...this.tree.querySelectorAll<HTMLElement>('li')];
    const at = rows.indexOf(document.activeElement as HTMLElement);
    if (at < 0) return;
    if (event.key === 'Enter' || event.key === ' ') this.activate(rows[at]!);
    else if (event.key === 'Escape') this.leave();
    else if (!moveAmong(rows, event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  }
}

/** Each branch behind the one it left, oldest first. */
function inTreeOrder(branches: readonly BranchView[]): { branch: BranchView; level: number }[] {
  const known = new Set(branches.map(({ tip }) => tip));
  const under = (from: number | null, level: number): { branch: BranchView; level: number }[] =>
    branches
      .filter((branch) => (branch.from !== null && known.has(branch.from) ? branch.from : null) === from)
      .flatMap((branch) => [{ branch, level }, ...under(branch.tip, level + 1)]);
  return under(null, 1);
}

/** The lines in front of a row: an elbow to its own mark, and rails to rows that follow further down. */
function railsAt(rows: readonly { level: number }[], i: number): HTMLElement[] {
  const { level } = rows[i]!;
  const rails: HTMLElement[] = [];
  for (let depth = 1; depth < level; depth++) {
    const next = rows.slice(i + 1).find((row) => row.level <= depth + 1);
    if (next?.level === depth + 1) rails.push(railIn(depth - 1, 'rail'));
    if (depth === level - 1) rails.push(railIn(depth - 1, 'rail elbow'));
  }
  return rails;
}

function railIn(column: number, look: string): HTMLElement {
  const rail = el('span', { class: look, 'aria-hidden': 'true' });
  rail.style.setProperty('--at', String(column));
  return rail;
}

/** "for #, turn 3, token 12". Whose output it is, the mark in front says. */
function placeOf({ turn, token, from, instead, shown, tokens }: BranchView): Child[] {
  const parts = from === null ? [count(tokens, 'token')] : [`turn ${turn}`];
  if (token !== null) parts.push(`token ${token}`);
  if (shown) parts.push('shown');
  const text = parts.join(', ');
  return instead === null || token === null
    ? [text]
    : ['for ', el('code', {}, boxText(instead)), `, ${text}`];
}

/** "without hash, reward 0.20, forks at turn 3, token 12". */
function nameOf(branch: BranchView): string {
  const { label, instead, token, turn, from, shown, done } = branch;
  const parts = [token === null ? label : spoken(label)];
  if (instead !== null && token !== null) parts.push(`instead of ${spoken(instead)}`);
  if (!done) parts.push('not finished');
  else parts.push(branch.reward === null ? 'unscored' : `reward ${branch.reward.toFixed(2)}`);
  if (from !== null) parts.push(`forks at turn ${turn}${token === null ? '' : `, token ${token}`}`);
  if (shown) parts.push('shown');
  return parts.join(', ');
}

function endMark({ done, reward: value }: BranchView): HTMLElement {
  if (!done) return el('span', { class: 'end open', title: 'Not finished' }, icon('ellipsis'));
  const title = value === null ? 'Unscored' : `Reward ${value.toFixed(2)}`;
  return el('b', { class: value === null ? 'end null' : 'end', title }, reward(value));
}
