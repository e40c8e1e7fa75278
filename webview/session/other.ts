/**
 * The other answer to a call, beside the one in the session: what the real tool says, or what the policy would have
 * rehearsed. Whatever a tool writes is text here.
 */
import type { OtherView } from '../../src/core/rehearsal/view.types';
import { el, fill, icon } from '../common/dom';
import { bits, milliseconds, whole } from '../common/format';
import { surpriseLevel } from '../common/surprise';
import { printable } from '../common/text';
import { button, setEnabled } from '../common/toolkit';
import { sourceBadge } from './sources';

export type About = 'execute' | 'compare' | 'take' | 'score' | 'cancel' | 'openAnswer' | 'openDiff';

export class OtherElement {
  readonly element = el('div', { class: 'out other', hidden: true });
  private readonly content = el('div', 'content');
  private buttons: HTMLElement[] = [];
  private shown = '';

  /** Where the call stands, for the names of its buttons. */
  place = '';

  constructor(private readonly act: (what: About) => void) {}

  update(other: OtherView | null): void {
    const key = JSON.stringify(other);
    if (key === this.shown) return;
    this.shown = key;
    this.element.hidden = other === null;
    if (!other) return;
    this.element.className = `out other ${other.source}`;
    this.buttons = [];
    const isDone = other.status === 'done';
    fill(
      this.content,
      this.head(other),
      ...(isDone ? [this.answer(other), ...notesOf(other), this.comparison(other), surprise(other)] : []),
      !isDone && other.status === 'failed' && failure(other),
      isDone && this.foot(other),
    );
    fill(this.element, sourceBadge(other.source), this.content);
  }

  setBusy(busy: boolean): void {
    for (const one of this.buttons) setEnabled(one, !busy, busy ? 'Pause first' : '');
  }

  private head({ source, status, outcome, durationMs }: OtherView): HTMLElement {
    const verb = source === 'real' ? 'executed' : 'rehearsed beside';
    if (status === 'running') {
      const cancel = button({
        label: 'Cancel',
        look: 'quiet',
        name: `Cancel, ${this.place}`,
        onClick: () => this.act('cancel'),
      });
      return el('div', 'line', icon('sync'), source === 'real' ? 'executing…' : 'rehearsing…', cancel);
    }
    const time = durationMs !== null && `, ${milliseconds(durationMs)}`;
    const error = outcome === 'error' && status === 'done' && el('span', 'fail', icon('error'), 'error');
    return el('div', 'line', el('span', 'mute', `${verb}${time || ''}`), error);
  }

  private answer({ text, cut, size }: OtherView): HTMLElement {
    const label = 'The whole answer';
    const pre = el(
      'pre',
      { class: 'json', tabindex: 0, 'aria-label': label },
      printable(text) || '(an empty answer)',
    );
    if (!cut) return pre;
    const of = size === undefined ? '' : ` of ${whole(size)} characters`;
    const open = this.button('Open Whole Answer', 'go-to-file', 'openAnswer');
    return el('div', {}, pre, el('div', 'note', icon('info'), `the first ${whole(text.length)}${of}`, open));
  }

  private comparison({ comparison }: OtherView): HTMLElement | false {
    if (!comparison) return false;
    const { verdict, fields, total } = comparison;
    const looks = { match: 'pass', tolerable: 'pass', differs: 'fail' } as const;
    const icons = { match: 'pass', tolerable: 'pass', differs: 'error' } as const;
    const rows = fields.map(({ path, kind, rehearsed, real }) =>
      el(
        'li',
        kind,
        el('code', 'path', printable(path)),
        el('span', 'kind', kind),
        el('code', 'value', printable(rehearsed) || 'not there'),
        el('span', { class: 'mute', 'aria-label': 'really' }, '→'),
        el('code', 'value', printable(real) || 'not there'),
      ),
    );
    const more = total > fields.length && el('li', 'mute', `and ${whole(total - fields.length)} more`);
    return el(
      'div',
      'compared',
      el(
        'div',
        'line',
        el('span', `verdict ${looks[verdict]}`, icon(icons[verdict]), verdict),
        el('span', 'mute', 'rehearsed → real'),
        this.button('Open Diff', 'diff', 'openDiff'),
      ),
      el('ul', 'fields', ...rows, more),
    );
  }

  private foot({ source, comparison }: OtherView): HTMLElement {
    const compare = !comparison && this.button('Compare', 'diff', 'compare');
    const take = source === 'real' && this.button('Take This Answer', 'git-branch', 'take');
    return el('div', 'foot', compare, take);
  }

  private button(label: string, name: string, what: About): HTMLElement {
    const made = button({
      label,
      icon: name,
      look: 'quiet',
      name: `${label}, ${this.place}`,
      onClick: () => this.act(what),
    });
    if (what !== 'openAnswer' && what !== 'openDiff') this.buttons.push(made);
    return made;
  }
}

function failure({ failure: text }: OtherView): HTMLElement {
  return el('div', 'summary error', icon('error'), el('span', {}, printable(text ?? 'It failed.')));
}

function notesOf({ notes }: OtherView): HTMLElement[] {
  return notes.map((note) => el('div', 'note', icon('info'), el('span', {}, printable(note))));
}

/** Shown where the heat is surprise; the figures stand there in words as well. */
function surprise({ surprise: given, unscored }: OtherView): HTMLElement | false {
  if (!given)
    return (
      unscored !== null && el('div', 'note surprise', icon('info'), `No surprise: ${printable(unscored)}`)
    );
  const { bitsPerToken, bitsPerByte, tokens, cut } = given;
  const figures =
    bitsPerToken === null || bitsPerByte === null
      ? 'no token could be scored'
      : `${bits(bitsPerToken)} bits per token, ${bits(bitsPerByte)} per byte`;
  const spans = tokens.map(({ text, bits: own, counted }) => {
    const level = counted ? surpriseLevel(own) : 0;
    const span = el('span', `t s${level}${counted ? '' : ' tag'}`, printable(text).replaceAll('\n', '↵'));
    if (own !== null && counted && level >= 2) span.append(el('sup', {}, own.toFixed(1)));
    if (own !== null) span.title = `${bits(own)} bits`;
    return span;
  });
  return el(
    'div',
    'surprise',
    el('div', 'line', el('span', 'mute', 'Surprise of the real answer'), el('span', 'num', figures)),
    el('div', 'toks', ...spans, cut && '…'),
  );
}
