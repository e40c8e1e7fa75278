/** How the branch shown ends: its reward, and each check with its reason. */
import type { BranchView, CheckView, EndView } from '../../src/core/rehearsal/view.types';
import { type Child, el, fill, icon } from '../common/dom';
import { reward, words } from '../common/format';
import { printable } from '../common/text';
import { link } from '../common/toolkit';

const VERDICTS: Record<CheckView['verdict'], { icon: string; look: string }> = {
  holds: { icon: 'check', look: 'pass' },
  fails: { icon: 'error', look: 'fail' },
  'left out': { icon: 'dash', look: 'mute' },
  unscored: { icon: 'question', look: 'mute' },
};

export class Checks {
  readonly element = el('section', { class: 'checks', 'aria-label': 'Checks', hidden: true });
  private readonly fold: HTMLButtonElement;
  private readonly chevron = icon('chevron-down');
  private readonly top = el('div', 'top');
  private readonly rows = el('div', { class: 'rows', id: 'checks' });
  private shown = '';
  /** What the person chose; else the checks are open where the session stands at its end. */
  private choice: boolean | null = null;
  private atEnd = false;

  constructor(private readonly reveal: (turn: number) => void) {
    this.fold = el(
      'button',
      { class: 'fold', type: 'button', 'aria-controls': 'checks' },
      this.chevron,
      el('h2', {}, 'Checks'),
    );
    this.fold.addEventListener('click', () => {
      this.choice = this.fold.getAttribute('aria-expanded') !== 'true';
      this.setOpen(this.choice);
    });
    this.element.append(this.top, this.rows);
  }

  setAtEnd(atEnd: boolean): void {
    if (atEnd !== this.atEnd) this.choice = null;
    this.atEnd = atEnd;
    this.setOpen(this.choice ?? atEnd);
  }

  update(end: EndView | null, branch: BranchView | undefined): void {
    const name = branch?.label ?? '';
    const key = JSON.stringify([end, name]);
    if (key === this.shown) return;
    this.shown = key;
    this.element.hidden = end === null;
    if (!end) return;
    fill(this.top, this.fold, ...head(end, name));
    fill(this.rows, this.list(end), end.message !== undefined && el('p', 'mute', printable(end.message)));
  }

  private setOpen(open: boolean): void {
    this.rows.hidden = !open;
    this.chevron.className = `codicon codicon-chevron-${open ? 'down' : 'right'}`;
    this.fold.setAttribute('aria-expanded', String(open));
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
        turn !== undefined &&
          el(
            'span',
            {},
            ' ',
            link(`at turn ${turn}`, () => this.reveal(turn)),
          ),
        verdict === 'fails' && expected !== undefined && actual !== undefined && difference(expected, actual),
      ),
      el('span', 'weight', weightOf(check)),
    );
  }
}

function head(end: EndView, branch: string): Child[] {
  const counted = end.checks.filter(({ verdict }) => verdict === 'holds' || verdict === 'fails');
  const weight = (checks: CheckView[]) => checks.reduce((sum, check) => sum + check.weight, 0);
  const held = weight(counted.filter(({ verdict }) => verdict === 'holds'));
  const share = counted.length > 0 && `${round(held)} of ${round(weight(counted))} by weight`;
  return [
    el('span', 'mute grow branchname', `branch ${printable(branch)}, ended: ${words(end.stop)}`),
    el('span', 'mute', 'Reward'),
    el('span', end.reward === null ? 'figure null' : 'figure', reward(end.reward)),
    el(
      'span',
      `verdict ${end.success ? 'pass' : 'fail'}`,
      icon(end.success ? 'pass' : 'error'),
      end.success ? 'success' : 'no success',
    ),
    share && el('span', 'mute share', share),
  ];
}

/** Both sides in full, folded: the reason above says in one sentence what differs. */
function difference(expected: string, actual: string): HTMLElement {
  const sides = el('div', 'pairs', pair('expected', expected), pair('actual', actual || '(nothing)'));
  return el('details', {}, el('summary', {}, 'expected and actual'), sides);
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
