/** What a person should look at now, named by what is seen. One bar; older warnings behind a fold. */
import type { RunStatus, Warning } from '../../../src/core/training/run.types';
import { el, fill, icon } from '../../common/dom';
import { printable } from '../../common/text';
import { button } from '../../common/toolkit';
import type { FromTraining } from '../../common/training';
import { isActive } from './head';

export class Warnings {
  readonly element = el('div', { class: 'warnings', role: 'alert', hidden: true });
  private shown = '';

  constructor(
    private readonly post: (message: FromTraining) => void,
    private readonly openRollout: (step: number, index: number) => void,
  ) {}

  update({ warnings, state, bestStep, step }: RunStatus): void {
    const active = isActive(state);
    const better = bestStep !== null && bestStep < step;
    const key = JSON.stringify([warnings, active, bestStep, better]);
    if (key === this.shown) return;
    this.shown = key;
    this.element.hidden = warnings.length === 0;
    const [first, ...rest] = [...warnings].sort(byWeight);
    if (!first) return;
    const older = rest.slice(0, 50).map((one) => el('li', {}, text(one), this.openButton(one)));
    fill(
      this.element,
      el(
        'div',
        'warnbar',
        icon('warning'),
        el('div', 'what', text(first)),
        el(
          'div',
          'buttons',
          this.openButton(first),
          active && button({ label: 'Stop', onClick: () => this.post({ type: 'stop' }) }),
          first.code === 'pleasing' &&
            better &&
            button({
              label: 'Keep Best',
              look: 'primary',
              name: `Keep best: use the checkpoint of step ${bestStep}${active ? ', and stop' : ''}`,
              onClick: () => this.post({ type: 'keepBest' }),
            }),
        ),
      ),
      older.length > 0 &&
        el('details', {}, el('summary', {}, `${older.length} more`), el('ul', {}, ...older)),
    );
  }

  private openButton({ rollout }: Warning): HTMLElement | null {
    if (!rollout) return null;
    const { step, index } = rollout;
    return button({
      label: 'Open Rollout',
      name: `Open rollout ${index + 1} of step ${step}`,
      onClick: () => this.openRollout(step, index),
    });
  }
}

/** Names of fields and values are code: what stands in backticks. */
function text({ message, step }: Warning): HTMLElement {
  const parts = printable(message).split('`');
  const words = parts.map((part, i) => (i % 2 ? el('code', {}, part) : part));
  return el('span', {}, ...words, el('span', 'mute', ` step ${step}`));
}

/** Pleasing goes first, then the newest. */
function byWeight(a: Warning, b: Warning): number {
  return Number(b.code === 'pleasing') - Number(a.code === 'pleasing') || b.step - a.step;
}
