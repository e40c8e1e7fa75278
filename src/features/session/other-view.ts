/** The other answer to a call as the panel shows it: never more than it can show at once. */
import { formatJson, type Json } from '../../core/json';
import { previewJson } from '../../core/preview';
import { MAX_SHOWN } from '../../core/rehearsal/view';
import type { OtherView } from '../../core/rehearsal/view.types';
import type { OtherAnswer } from './beside';

const MAX_FIELDS = 40;
const MAX_VALUE = 160;
const MAX_TOKENS = 2000;

export function otherView(other: OtherAnswer): OtherView {
  const { source, status, answer, durationMs, failure, notes, raw, unscored } = other;
  const { text, cut } = shown(answer?.value);
  return {
    source,
    status,
    outcome: answer?.outcome ?? null,
    text,
    cut,
    ...(cut && raw !== undefined && { size: raw.length }),
    durationMs,
    failure,
    notes: notes.map((note) => note.slice(0, MAX_SHOWN)),
    comparison: comparisonView(other),
    surprise: surpriseView(other),
    unscored,
  };
}

/** Text stays text: it is nearer to what the tool wrote than its JSON is. */
function shown(value: Json | undefined): { text: string; cut: boolean } {
  if (value === undefined) return { text: '', cut: false };
  if (typeof value === 'string') return { text: value.slice(0, MAX_SHOWN), cut: value.length > MAX_SHOWN };
  const preview = previewJson(value, MAX_SHOWN);
  const line = preview.cut ? '' : formatJson(value);
  return line && line.length <= MAX_VALUE / 2 ? { text: line, cut: false } : preview;
}

function comparisonView({ comparison }: OtherAnswer): OtherView['comparison'] {
  if (!comparison) return null;
  const { verdict, fields } = comparison;
  const differing = fields.filter(({ kind }) => kind !== 'match');
  return {
    verdict,
    fields: differing.slice(0, MAX_FIELDS).map(({ path, kind, rehearsed, real }) => {
      return { path, kind, rehearsed: valueText(rehearsed), real: valueText(real) };
    }),
    total: differing.length,
  };
}

function valueText(value: Json | undefined): string {
  if (value === undefined) return '';
  const { text, cut } = previewJson(value, MAX_VALUE);
  return cut ? `${text}…` : formatJson(value);
}

function surpriseView({ surprise }: OtherAnswer): OtherView['surprise'] {
  if (!surprise) return null;
  const { bitsPerToken, bitsPerByte, marks } = surprise;
  const tokens = marks.slice(0, MAX_TOKENS).map(({ text, bits, counted }) => ({ text, bits, counted }));
  return { bitsPerToken, bitsPerByte, tokens, cut: marks.length > MAX_TOKENS };
}
