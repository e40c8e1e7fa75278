/** Two checkpoints, of one run or of two, on the same tasks: the paired difference with its interval. */
import { el, fill, icon } from '../../common/dom';
import { share } from '../../common/format';
import { printable } from '../../common/text';
import { button } from '../../common/toolkit';
import type { CheckpointsView, RunChoice, Side } from '../../common/training';
import { interval } from './gap';

export class Compare {
  readonly element = el('section', {
    class: 'compare',
    'aria-label': 'Compare two checkpoints',
    hidden: true,
  });
  private readonly first = el('select', { 'aria-label': 'First' });
  private readonly second = el('select', { 'aria-label': 'Second' });
  private readonly result = el('div', { class: 'result', role: 'status' });
  private runs: readonly RunChoice[] = [];
  private offered = '';

  constructor(private readonly post: (first: Side, second: Side) => void) {
    const ask = () => this.ask();
    this.first.addEventListener('change', ask);
    this.second.addEventListener('change', ask);
    const close = button({
      label: '',
      icon: 'close',
      look: 'quiet',
      name: 'Close the comparison',
      onClick: () => this.toggle(false),
    });
    this.element.append(
      el(
        'div',
        'head',
        el('h2', {}, 'Compare'),
        this.first,
        el('span', 'mute', 'with'),
        this.second,
        el('span', 'unit'),
        close,
      ),
      this.result,
    );
  }

  update(runs: readonly RunChoice[]): void {
    this.runs = runs;
    if (!this.element.hidden) this.offer();
  }

  /** @param best step of the run that is shown, to begin with */
  toggle(open = this.element.hidden, run = '', best: number | null = null): void {
    this.element.hidden = !open;
    if (!open) return;
    this.offer();
    const own = this.runs.find(({ id }) => id === run)?.evaluated ?? [];
    const last = best !== null && best !== own[0] ? best : own.at(-1);
    if (own[0] !== undefined) this.first.value = keyOf({ run, step: own[0] });
    if (last !== undefined) this.second.value = keyOf({ run, step: last });
    this.ask();
    this.first.focus();
  }

  show(comparison: CheckpointsView): void {
    if (keyOf(comparison.first) !== this.first.value || keyOf(comparison.second) !== this.second.value)
      return;
    const { difference, firstMean, secondMean, measure, part, tasks, same } = comparison;
    const clear = difference.low > 0 || difference.high < 0;
    const better = difference.value > 0 ? 'better' : 'worse';
    const verdict = clear
      ? `The second is ${better}: the interval does not reach 0.`
      : 'No difference can be told: the interval reaches 0.';
    const rows = tasks.map(({ task, first, second }) =>
      el(
        'tr',
        {},
        el('th', { scope: 'row', title: printable(task) }, printable(task)),
        el('td', 'num', share(first)),
        el('td', 'num', share(second)),
      ),
    );
    fill(
      this.result,
      el(
        'p',
        'figures',
        el('b', clear ? (difference.value > 0 ? 'big pass' : 'big fail') : 'big', signed(difference.value)),
        el(
          'span',
          {},
          `${interval(difference)}. ${share(firstMean)} then ${share(secondMean)}, ${measure}, ${part} tasks, paired by task.`,
        ),
      ),
      el('p', {}, verdict),
      rows.length > 0 &&
        el(
          'details',
          {},
          el(
            'summary',
            {},
            `${rows.length} ${rows.length === 1 ? 'task' : 'tasks'} changed, ${same} did not`,
          ),
          el(
            'table',
            {},
            el(
              'thead',
              {},
              el(
                'tr',
                {},
                el('th', { scope: 'col' }, 'task'),
                el('th', { scope: 'col', class: 'num' }, 'first'),
                el('th', { scope: 'col', class: 'num' }, 'second'),
              ),
            ),
            el('tbody', {}, ...rows),
          ),
        ),
    );
  }

  private offer(): void {
    const sides = this.runs.flatMap(({ id, name, evaluated }) =>
      evaluated.map((step) => ({ key: keyOf({ run: id, step }), label: `${printable(name)}, step ${step}` })),
    );
    const key = JSON.stringify(sides);
    if (key === this.offered) return;
    this.offered = key;
    for (const select of [this.first, this.second]) {
      const { value } = select;
      fill(select, ...sides.map((side) => el('option', { value: side.key }, side.label)));
      if (sides.some((side) => side.key === value)) select.value = value;
    }
  }

  private ask(): void {
    const [first, second] = [this.first.value, this.second.value].map(sideOf);
    if (!first || !second) {
      fill(
        this.result,
        el('p', 'mute', 'Two evaluated checkpoints are needed; the next evaluation makes one.'),
      );
    } else if (keyOf(first) === keyOf(second)) {
      fill(this.result, el('p', 'mute', 'Choose two that are not the same.'));
    } else {
      fill(this.result, el('p', 'mute', icon('loading'), 'Comparing…'));
      this.post(first, second);
    }
  }
}

function keyOf({ run, step }: Side): string {
  return `${run}/${step}`;
}

function sideOf(key: string): Side | null {
  const at = key.lastIndexOf('/');
  return at < 0 ? null : { run: key.slice(0, at), step: Number(key.slice(at + 1)) };
}

function signed(value: number): string {
  return value > 0 ? `+${share(value)}` : share(value);
}
