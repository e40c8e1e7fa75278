/** Checkpoints with what their evaluations say; the best by success on the real tools stands out. */
import type { Metrics, RunStatus } from '../../../src/core/training/run.types';
import { el, fill, icon, setText } from '../../common/dom';
import { share } from '../../common/format';
import { button } from '../../common/toolkit';
import type { FromTraining, RunFacts } from '../../common/training';
import { type CheckpointRow, checkpointRows } from './gap';

export class Checkpoints {
  readonly element: HTMLElement;
  private readonly body = el('tbody');
  private readonly success = el('th', { scope: 'col', class: 'num' });
  private readonly foot = el('p', 'mute foot');
  private shown = '';

  constructor(
    private readonly post: (message: FromTraining) => void,
    compare: () => void,
  ) {
    const columns = el(
      'tr',
      {},
      el('th', { scope: 'col' }, 'step'),
      this.success,
      el('th', { scope: 'col', class: 'num' }, 'rehearsed'),
      el('th', { scope: 'col', class: 'num' }, 'gap'),
      el('th', { scope: 'col', class: 'num' }, 'fidelity'),
      el('th', {}, el('span', 'sr', 'What to do')),
    );
    this.element = el(
      'section',
      { class: 'checkpoints', 'aria-label': 'Checkpoints' },
      el(
        'div',
        'head',
        el('h2', {}, 'Checkpoints'),
        el('span', 'unit'),
        button({ label: 'Compare Two', icon: 'compare-changes', look: 'quiet', onClick: compare }),
      ),
      el('div', 'scroll', el('table', {}, el('thead', {}, columns), this.body)),
      this.foot,
    );
  }

  update(status: RunStatus, metrics: readonly Metrics[], facts: RunFacts): void {
    const rows = checkpointRows(status, metrics);
    const key = JSON.stringify(rows);
    if (key === this.shown) return;
    this.shown = key;
    const isReal = rows.some((row) => row.isReal);
    setText(this.success, isReal ? 'real success' : 'success');
    const focused = (document.activeElement as HTMLElement | null)?.dataset.at;
    fill(this.body, ...rows.map((row) => this.row(row)));
    if (focused) this.body.querySelector<HTMLElement>(`[data-at="${focused}"]`)?.focus();
    const n = rows.find(({ success }) => success)?.success?.n;
    const counted = n === undefined ? '' : `, n = ${n}`;
    setText(
      this.foot,
      rows.length === 0
        ? 'The first is kept at the first evaluation.'
        : isReal
          ? `Best by success on real tools, validation part${counted}. The test part is not used to choose.`
          : `Best by success in rehearsal${counted}: the real tools did not run${facts.tasks.validation === 0 ? ', and there are no validation tasks' : ''}.`,
    );
  }

  private row({ step, best, kept, success, rehearsed, gap, fidelity }: CheckpointRow): HTMLElement {
    const wide = gap && gap.low > 0 && gap.value >= 0.15;
    const more = kept && this.menu(step);
    return el(
      'tr',
      { class: best ? 'best' : '', 'aria-current': best ? 'true' : undefined },
      el(
        'th',
        { scope: 'row' },
        el('span', 'num', String(step)),
        best && el('span', 'mark', icon('debug-breakpoint-log'), 'best'),
        !kept && el('span', { class: 'mute gone', title: 'Its weights were not kept' }, 'figures only'),
      ),
      success
        ? el(
            'td',
            'num',
            el('b', {}, share(success.value)),
            el('span', 'mute', ` ${share(success.low)}–${share(success.high)}`),
          )
        : el('td', 'num mute', '–'),
      el('td', 'num', rehearsed === null ? '–' : share(rehearsed)),
      el('td', wide ? 'num warn' : 'num', gap ? share(gap.value) : '–'),
      el('td', 'num', fidelity === null ? '–' : share(fidelity)),
      el('td', 'do', more),
    );
  }

  /** A native list as the menu: it opens by keyboard and closes by Escape without a line of ours. */
  private menu(step: number): HTMLElement {
    const select = el(
      'select',
      {
        'aria-label': `What to do with the checkpoint of step ${step}`,
        'data-at': step,
        title: 'Use, branch, export',
      },
      el('option', { value: '' }, '⋯'),
      el('option', { value: 'use' }, 'Rehearse with it'),
      // The start is the model itself.
      step > 0 && el('option', { value: 'branch' }, 'Branch from it…'),
      step > 0 && el('option', { value: 'export' }, 'Export…'),
    );
    select.addEventListener('change', () => {
      const { value } = select;
      select.value = '';
      if (value === 'use' || value === 'branch' || value === 'export')
        this.post({ type: 'checkpoint', step, do: value });
    });
    return select;
  }
}
