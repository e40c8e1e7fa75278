/** A pair field by field: what matches is folded, and the first difference marked. */
import type { FieldRow, PairView } from '../../src/core/fidelity/view.types';
import { el, fill, icon } from '../common/dom';
import { whole } from '../common/format';
import { printable } from '../common/text';
import { fieldName, KIND_ICONS } from './format';

export class Fields {
  readonly element = el('div', 'pairfields');
  private shown = '';

  update(pair: PairView): void {
    const key = JSON.stringify([pair.id, pair.side, pair.fields, pair.raw]);
    if (key === this.shown) return;
    this.shown = key;
    const head = el(
      'tr',
      {},
      el('th', { scope: 'col' }, 'field'),
      el(
        'th',
        { scope: 'col' },
        el('span', 'role rehearse', 'REHEARSE'),
        el('span', 'mute', sourceWords(pair)),
      ),
      el('th', { scope: 'col' }, ''),
      el(
        'th',
        { scope: 'col' },
        el('span', 'src real', icon('plug'), 'real'),
        el('span', 'mute', realWords(pair)),
      ),
    );
    const caption = el('caption', 'sr', 'Rehearsed and real answer, field by field');
    fill(
      this.element,
      el('table', 'compared', caption, el('thead', {}, head), ...this.groups(pair)),
      pair.moreFields > 0 && el('p', 'mute', `and ${whole(pair.moreFields)} more fields`),
      pair.raw !== null &&
        el(
          'details',
          {},
          el('summary', {}, 'What the model wrote could not be read'),
          el('pre', 'raw', printable(pair.raw)),
        ),
      ...pair.notes.map((note) => el('p', 'note', icon('info'), printable(note))),
    );
  }

  /** Runs of fields that match are one line each, which opens. */
  private groups({ fields, first }: PairView): HTMLElement[] {
    const groups: HTMLElement[] = [];
    for (let at = 0; at < fields.length; ) {
      let end = at;
      while (end < fields.length && fields[end]!.kind === 'match') end++;
      if (end - at > 1) groups.push(...folded(fields.slice(at, end)));
      else groups.push(el('tbody', {}, rowOf(fields[at]!, fields[at]!.path === first)));
      at = Math.max(end, at + 1);
    }
    return groups;
  }
}

function folded(fields: readonly FieldRow[]): HTMLElement[] {
  const rows = el('tbody', { hidden: true }, ...fields.map((field) => rowOf(field, false)));
  const chevron = icon('chevron-right');
  const button = el(
    'button',
    { type: 'button', class: 'cell fold', 'aria-expanded': 'false' },
    chevron,
    `${whole(fields.length)} fields match`,
  );
  button.addEventListener('click', () => {
    rows.hidden = !rows.hidden;
    chevron.className = `codicon codicon-chevron-${rows.hidden ? 'right' : 'down'}`;
    button.setAttribute('aria-expanded', String(!rows.hidden));
  });
  return [el('tbody', 'folded', el('tr', {}, el('td', { colspan: 4 }, button))), rows];
}

function rowOf({ path, kind, rehearsed, real, label }: FieldRow, isFirst: boolean): HTMLElement {
  const mark = icon(KIND_ICONS[kind]);
  return el(
    'tr',
    `${kind}${isFirst ? ' first' : ''}`,
    el('th', { scope: 'row' }, el('code', { title: printable(path) }, printable(fieldName(path)))),
    value(rehearsed),
    el(
      'td',
      'what',
      el('span', 'kind', mark, kind),
      isFirst && el('span', 'mute', 'first difference'),
      label !== null && el('span', 'mute', printable(label)),
    ),
    value(real),
  );
}

function value(text: string | null): HTMLElement {
  return text === null ? el('td', 'absent', 'not there') : el('td', {}, el('code', {}, printable(text)));
}

function sourceWords({ source, outcome }: PairView): string {
  const from = source === 'rehearsed' ? '' : `${source}; `;
  return `${from}${printable(outcome.rehearsed)}`;
}

function realWords({ recorded, durationMs, outcome }: PairView): string {
  const how = recorded
    ? 'recorded'
    : durationMs === null
      ? 'executed'
      : `executed, ${durationMs < 10 ? durationMs.toFixed(1) : whole(Math.round(durationMs))} ms`;
  return `${how}; ${printable(outcome.real)}`;
}
