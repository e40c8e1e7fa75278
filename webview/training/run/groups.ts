/** The rollouts of a step: each task's group in a row, each rollout a cell with its reward. */
import { el, fill, icon, setText } from '../../common/dom';
import { share } from '../../common/format';
import { printable } from '../../common/text';
import { button, setEnabled } from '../../common/toolkit';
import type { GroupView, RolloutCell } from '../../common/training';

export interface GroupsHost {
  /** Another step is wanted; null for the newest, and on. */
  goto(step: number): void;
  open(step: number, index: number): void;
}

export class Groups {
  readonly element: HTMLElement;
  private readonly title = el('h2');
  private readonly unit = el('span', 'unit');
  private readonly back: HTMLElement;
  private readonly forth: HTMLElement;
  private readonly rows = el('div', {
    class: 'groups',
    role: 'grid',
    'aria-label': 'Rollouts, a row for each task',
  });
  private steps: readonly number[] = [];
  private step: number | null = null;
  private chosen: number | null = null;

  constructor(private readonly host: GroupsHost) {
    this.back = button({
      label: '',
      icon: 'chevron-left',
      look: 'quiet',
      name: 'Step before',
      onClick: () => this.move(-1),
    });
    this.forth = button({
      label: '',
      icon: 'chevron-right',
      look: 'quiet',
      name: 'Step after',
      onClick: () => this.move(1),
    });
    this.element = el(
      'section',
      { class: 'step', 'aria-label': 'Rollouts of a step' },
      el('div', 'head', this.title, this.unit, this.back, this.forth),
      this.rows,
    );
    this.rows.addEventListener('keydown', (event) => this.pressed(event));
    this.setSteps([]);
  }

  setSteps(steps: readonly number[]): void {
    this.steps = steps;
    const at = this.step === null ? -1 : steps.indexOf(this.step);
    setEnabled(this.back, at > 0, at > 0 ? `Step ${steps[at - 1]}` : 'There is no step before');
    const next = at >= 0 && at < steps.length - 1;
    setEnabled(this.forth, next, next ? `Step ${steps[at + 1]}` : 'There is no later step yet');
    if (steps.length === 0) {
      setText(this.title, 'Rollouts');
      setText(this.unit, 'they show when the first step is done');
    }
  }

  show(step: number, groups: readonly GroupView[]): void {
    const isOther = step !== this.step;
    this.step = step;
    if (isOther) this.chosen = null;
    const size = Math.max(0, ...groups.map(({ rollouts }) => rollouts.length));
    setText(this.title, `Rollouts of step ${step}`);
    setText(this.unit, `${groups.length} ${groups.length === 1 ? 'group' : 'groups'} of ${size}`);
    const focused = (document.activeElement as HTMLElement | null)?.dataset.index;
    const head = el(
      'div',
      { class: 'group heads', 'aria-hidden': 'true' },
      el('span', {}, 'task'),
      el('span', {}, 'reward of each rollout'),
      el('span', 'num', 'mean'),
      el('span', {}),
    );
    fill(this.rows, head, ...groups.map((group, i) => this.row(step, group, i === 0)));
    if (focused !== undefined && !isOther)
      this.rows.querySelector<HTMLElement>(`[data-index="${focused}"]`)?.focus();
    this.mark();
    this.setSteps(this.steps);
  }

  /** Shows which rollout is open. */
  choose(index: number | null): void {
    this.chosen = index;
    this.mark();
  }

  focus(): void {
    this.rows.querySelector<HTMLElement>('button[tabindex="0"]')?.focus();
  }

  private mark(): void {
    for (const cell of this.rows.querySelectorAll<HTMLElement>('.rollout'))
      cell.setAttribute('aria-pressed', String(Number(cell.dataset.index) === this.chosen));
  }

  private move(by: number): void {
    const at = this.step === null ? -1 : this.steps.indexOf(this.step);
    const next = this.steps[at + by];
    if (at >= 0 && next !== undefined) this.host.goto(next);
  }

  private row(step: number, group: GroupView, isFirst: boolean): HTMLElement {
    const { task, rollouts, mean, unscored, spread } = group;
    const notes = [
      unscored > 0 && `${unscored} not scored`,
      !spread && (unscored === rollouts.length ? 'no gradient' : 'no spread, no gradient'),
    ].filter((note) => note !== false);
    return el(
      'div',
      { class: spread ? 'group' : 'group flat', role: 'row' },
      el('span', { class: 'task', role: 'rowheader', title: printable(task) }, printable(task)),
      el(
        'span',
        'cells',
        ...rollouts.map((rollout, i) => this.cell(step, task, rollout, isFirst && i === 0)),
      ),
      el('span', { class: 'num', role: 'gridcell' }, mean === null ? '–' : share(mean)),
      el('span', { class: 'mute', role: 'gridcell' }, notes.join(', ')),
    );
  }

  private cell(step: number, task: string, rollout: RolloutCell, isTabStop: boolean): HTMLElement {
    const { index, attempt, reward, success, reason } = rollout;
    const look = reward === null ? 'none' : success ? 'whole' : 'low';
    const said = reward === null ? 'not scored' : `reward ${share(reward)}${success ? '' : ', no success'}`;
    const cell = el(
      'button',
      {
        type: 'button',
        class: `rollout ${look}`,
        'data-index': index,
        tabindex: isTabStop ? 0 : -1,
        'aria-label': `${printable(task)}, rollout ${attempt + 1}, ${said}`,
        title: `Rollout ${attempt + 1}: ${said}${reason ? `\n${printable(reason)}` : ''}`,
      },
      el('span', {}, reward === null ? '–' : share(reward)),
      reward !== null && el('i'),
    );
    const bar = cell.querySelector('i');
    if (bar && reward !== null) bar.style.height = `${Math.max(1, Math.min(1, Math.max(0, reward)) * 22)}px`;
    cell.addEventListener('click', () => this.host.open(step, index));
    const wrapper = el('span', { role: 'gridcell' }, cell);
    return wrapper;
  }

  /** Arrow keys move over the cells as over a table. */
  private pressed(event: KeyboardEvent): void {
    const rows = [...this.rows.querySelectorAll<HTMLElement>('.group:not(.heads)')].map((row) => [
      ...row.querySelectorAll<HTMLElement>('.rollout'),
    ]);
    const y = rows.findIndex((row) => row.includes(document.activeElement as HTMLElement));
    if (y < 0) return;
    const x = rows[y]!.indexOf(document.activeElement as HTMLElement);
    const to = {
      ArrowLeft: [y, x - 1],
      ArrowRight: [y, x + 1],
      ArrowUp: [y - 1, x],
      ArrowDown: [y + 1, x],
      Home: [y, 0],
      End: [y, rows[y]!.length - 1],
    }[event.key];
    if (!to) return;
    event.preventDefault();
    const row = rows[Math.min(Math.max(to[0]!, 0), rows.length - 1)]!;
    const next = row[Math.min(Math.max(to[1]!, 0), row.length - 1)];
    if (!next) return;
    rows[y]![x]!.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }
}

/** Where no step has rollouts yet. */
export function waiting(text: string): HTMLElement {
  return el('p', 'mute waiting', icon('clock'), text);
}
