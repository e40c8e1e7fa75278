/** How the branch shown ends: its reward, and each check with its reason. */
import type { BranchView, CheckView, EndView } from '../../src/core/rehearsal/view.types';
import { el, fill, icon } from '../common/dom';
import { link } from '../common/toolkit';
import { reward, words } from './format';
import { printable } from './text';

const VERDICTS: Record<CheckView['verdict'], { icon: string; look: string }> = {
  holds: { icon: 'check', look: 'pass' },
  fails: { icon: 'error', look: 'fail' },
  'left out': { icon: 'dash', look: 'mute' },
  unscored: { icon: 'question', look: 'mute' },
};

export class Checks {
  readonly element = el('section', { class: 'checks', 'aria-label': 'Checks', hidden: true });
  private shown = '';

  constructor(private readonly reveal: (turn: number) => void) {}

  update(end: EndView | null, branch: BranchView | undefined): void {
    const name = branch?.label ?? '';
    const key = JSON.stringify([end, name]);
    if (key === this.shown) return;
    this.shown = key;
    this.element.hidden = end === null;
    if (!end) return;
    fill(this.element, head(end, name), this.list(end), end.message !== undefined && el('p', 'mute', printable(end.message)));
  }

  private list({ checks }: EndView): HTMLElement {
    if (checks.length === 0) return el('p', 'mute', 'This task has no checks, so nothing can be scored.');
    return el('ul', {}, ...checks.map((check) => this.row(check)));
  }

  private row(check: CheckView): HTMLElement {
    const { verdict, title, reason, turn, expected, actual } = check;
    const { icon: name, look } = VERDICTS[verdict];
    return el(
      'li',
      'check',
      el('span', `verdict ${look}`, icon(name), verdict),
      el(
        'div',
        'what',
        el('span', 'title', printable(title)),
        reason !== '' && el('span', 'reason', `: ${printable(reason)}`),
        turn !== undefined && el('span', {}, ' ', link(`at turn ${turn}`, () => this.reveal(turn))),
        verdict === 'fails' && expected !== undefined && pair('expected', expected),
        verdict === 'fails' && actual !== undefined && pair('actual', actual),
      ),
      el('span', 'weight', weightOf(check)),
    );
  }
}

function head(end: EndView, branch: string): HTMLElement {
  const counted = end.checks.filter(({ verdict }) => verdict === 'holds' || verdict === 'fails');
  const weight = (checks: CheckView[]) => checks.reduce((sum, check) => sum + check.weight, 0);
  const held = weight(counted.filter(({ verdict }) => verdict === 'holds'));
  const share = counted.length > 0 && `${round(held)} of ${round(weight(counted))} by weight`;
  return el(
    'div',
    'top',
    el('h2', {}, 'Checks'),
    el('span', 'mute grow', `branch ${printable(branch)}, ended: ${words(end.stop)}`),
    el('span', 'mute', 'Reward'),
    el('span', end.reward === null ? 'figure null' : 'figure', reward(end.reward)),
    el('span', `verdict ${end.success ? 'pass' : 'fail'}`, icon(end.success ? 'pass' : 'error'), end.success ? 'success' : 'no success'),
    share && el('span', 'mute', share),
  );
}

function pair(name: string, text: string): HTMLElement {
  return el('div', 'pair', el('span', 'mute', name), el('code', {}, printable(text)));
}

function weightOf({ verdict, weight, required }: CheckView): string {
  if (verdict === 'left out') return 'not counted';
  return `${required ? 'required, ' : ''}weight ${round(weight)}`;
}

function round(value: number): string {
  return String(Math.round(value * 100) / 100);
}
