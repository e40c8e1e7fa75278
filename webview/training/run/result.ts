/** What came of a run, on the tasks that were used for nothing else. */
import type { RunStatus } from '../../../src/core/training/run.types';
import { el, fill, icon } from '../../common/dom';
import { share } from '../../common/format';
import { interval } from './gap';

export class Result {
  readonly element = el('section', { class: 'result', 'aria-label': 'Result', hidden: true });

  update({ result }: RunStatus): void {
    this.element.hidden = !result;
    if (!result) return;
    const { step, best, start, on, difference } = result;
    const where = on === 'real' ? 'on real tools' : 'in rehearsal';
    const success = on === 'real' ? 'realSuccess' : 'rehearsedSuccess';
    const [before, after] = [start[success], best[success]];
    const from =
      before &&
      after &&
      `${share(before.value)} at the start, ${share(after.value)} with the checkpoint of step ${step}`;
    const look =
      !difference || (difference.low <= 0 && difference.high >= 0)
        ? ''
        : difference.value > 0
          ? 'pass'
          : 'fail';
    fill(
      this.element,
      icon(look === 'pass' ? 'pass' : look === 'fail' ? 'error' : 'info'),
      el('b', `big ${look}`, difference ? signed(difference.value) : '–'),
      el(
        'span',
        {},
        `test success ${where}${from ? `: ${from}` : ''}. `,
        el(
          'span',
          'mute',
          difference ? `${interval(difference)}, paired by task; ${verdict(look)}` : 'Nothing to compare.',
        ),
      ),
    );
  }
}

function verdict(look: string): string {
  if (look === 'pass') return 'better';
  return look === 'fail' ? 'worse' : 'no difference can be told';
}

function signed(value: number): string {
  return value > 0 ? `+${share(value)}` : share(value);
}
