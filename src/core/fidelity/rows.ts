/** The calls of a comparison as a list, and which of them fit what a person asks for. */
import { formatJson, type Json } from '../json';
import { type ComparedCall, type ComparisonRun, inOrder } from './comparison';
import { keyOf } from './models';
import { verdictOf } from './summary';
import type { FieldResult } from './types';
import type { CellView, RowView } from './view.types';

const SHOWN_ARGUMENTS = 160;

/**
 * The calls of a comparison, each with what every model answered. Ids are places in `rows`: calls in the order in
 * which they came, so that an id stays the same while more are compared.
 */
export interface Calls {
  rows: RowView[];
  /** Ids in the order in which they are shown. */
  order: number[];
  /** By row and model. */
  pairs: (ComparedCall | null)[][];
}

export function callsOf(runs: readonly ComparisonRun[]): Calls {
  interface Call {
    tool: string;
    arguments: Json;
    task: string | null;
    index: number;
    pairs: (ComparedCall | null)[];
    reasons: (string | null)[];
  }
  const calls = new Map<string, Call>();
  const of = (call: Pick<Call, 'tool' | 'arguments' | 'task' | 'index'>): Call => {
    const key = keyOf(call);
    const known = calls.get(key);
    if (known) return known;
    const none = () => runs.map(() => null);
    const { tool, arguments: args, task, index } = call;
    const made: Call = { tool, arguments: args, task, index, pairs: none(), reasons: none() };
    calls.set(key, made);
    return made;
  };
  runs.forEach(({ pairs, uncompared }, side) => {
    for (const pair of pairs) of(pair).pairs[side] = pair;
    for (const call of uncompared) of(call).reasons[side] = call.reason;
  });
  const all = [...calls.values()];
  return {
    rows: all.map((call, id) => ({
      id,
      tool: call.tool,
      arguments: cut(call.arguments === null ? '' : formatJson(call.arguments), SHOWN_ARGUMENTS),
      task: call.task,
      outcome: call.pairs.find((pair) => pair)?.comparison.outcome.real ?? null,
      cells: call.pairs.map((pair, side) => (pair ? cellOf(pair) : reasonCell(call.reasons[side] ?? null))),
    })),
    order: inOrder(all.map(({ task, index }, id) => ({ task, index, id }))).map(({ id }) => id),
    pairs: all.map((call) => call.pairs),
  };
}

export function cellOf(pair: ComparedCall): CellView {
  const { comparison, author, surprise, source } = pair;
  const { first } = comparison;
  const isCounted = source === 'rehearsed';
  return {
    verdict: isCounted ? verdictOf(pair) : null,
    author: author ?? null,
    first: first && { path: first.path, kind: first.kind },
    bits: surprise?.bitsPerToken ?? null,
    note: isCounted
      ? author === 'real tool wrong'
        ? 'real tool wrong'
        : null
      : (SOURCE_NOTES[source] ?? null),
  };
}

const SOURCE_NOTES: { [source: string]: string } = {
  gate: 'refused by a gate',
  recorded: 'a recorded answer',
  real: 'a real answer',
  edited: 'edited by you',
};

function reasonCell(reason: string | null): CellView | null {
  return reason === null ? null : { verdict: null, author: null, first: null, bits: null, note: reason };
}

/** What rows are asked for; absent means any. */
export interface RowFilter {
  side: number;
  tool?: string;
  field?: string;
  kind?: FieldResult['kind'];
  /** `counted` by its verdict, or what is special about it. */
  show?: 'differs' | 'tolerable' | 'match' | 'unjudged' | 'judged' | 'uncompared';
  /** `result` or an error class on either side, as in the confusion. */
  real?: string;
  rehearsed?: string;
  /** In the tool's name, the arguments or the task. */
  text?: string;
}

export const WORST: readonly FieldResult['kind'][] = ['differs', 'missing', 'extra', 'tolerable', 'match'];

/** Ids of the rows that fit, in order. */
export function filtered({ rows, order, pairs }: Calls, filter: RowFilter): number[] {
  const text = filter.text?.toLowerCase();
  return order.filter((id) => {
    const row = rows[id]!;
    const { side, tool, field, kind, show, real, rehearsed } = filter;
    const pair = pairs[id]![side] ?? null;
    const cell = row.cells[side] ?? null;
    if (tool !== undefined && row.tool !== tool) return false;
    if (text && !`${row.tool} ${row.arguments} ${row.task ?? ''}`.toLowerCase().includes(text)) return false;
    if (field !== undefined || kind !== undefined || real !== undefined || rehearsed !== undefined) {
      // As in the tables, which count only these.
      if (!pair || cell?.verdict == null) return false;
      if (real !== undefined && pair.comparison.outcome.real !== real) return false;
      if (rehearsed !== undefined && pair.comparison.outcome.rehearsed !== rehearsed) return false;
      if (field !== undefined && !hasField(pair, field, kind)) return false;
    }
    return show === undefined || shows(show, pair, cell);
  });
}

/** A call counts once for each field: with the worst that became of it. */
function hasField(
  { comparison }: ComparedCall,
  field: string,
  kind: FieldResult['kind'] | undefined,
): boolean {
  const kinds = comparison.fields.filter((one) => one.field === field).map((one) => one.kind);
  if (kinds.length === 0) return false;
  return kind === undefined || WORST.find((one) => kinds.includes(one)) === kind;
}

function shows(
  show: NonNullable<RowFilter['show']>,
  pair: ComparedCall | null,
  cell: CellView | null,
): boolean {
  if (show === 'uncompared') return pair === null || pair.source !== 'rehearsed';
  if (show === 'judged') return cell?.author != null;
  if (show === 'unjudged')
    return pair?.comparison.verdict === 'differs' && cell?.author == null && cell?.verdict != null;
  return cell?.verdict === show;
}

/** The beginning of a long text. */
export function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}
