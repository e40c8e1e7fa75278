/** Two branches of a session beside each other, call by call: what a rehearsed and a real run of a task differ in. */
import { rulesOf } from '../fidelity/author';
import { compareAnswers } from '../fidelity/compare';
import { equalJson, formatJson, type Json } from '../json';
import { previewJson } from '../preview';
import type { Session } from './session';
import type { CallStep, Turn } from './types';
import { callText } from './view';
import type { BranchesView } from './view.types';

type Row = BranchesView['rows'][number];

const MAX_ANSWER = 2000;
const MAX_LINE = 240;
const MAX_FIELDS = 8;

/** @param left tip of a branch, as `right` */
export function twoBranches(session: Session, left: number, right: number): BranchesView {
  const [a, b] = [session.node(left).state.turns, session.node(right).state.turns];
  const rows = Array.from({ length: Math.max(a.length, b.length) }, (_, i) => rowsOf(session, a[i], b[i]));
  return { left, right, rows: rows.flat() };
}

function rowsOf(session: Session, left: Turn | undefined, right: Turn | undefined): Row[] {
  const count = Math.max(1, left?.calls.length ?? 0, right?.calls.length ?? 0);
  return Array.from({ length: count }, (_, index) => {
    const [a, b] = [cellOf(left, index), cellOf(right, index)];
    const turn = (left ?? right)!.index;
    return { turn, left: a, right: b, ...difference(session, a, b, left?.calls[index], right?.calls[index]) };
  });
}

function cellOf(turn: Turn | undefined, index: number): Row['left'] {
  if (!turn) return null;
  const step = turn.calls[index];
  if (!step) {
    // A turn without calls is an answer to the user.
    if (index > 0 || turn.calls.length > 0 || !turn.parse) return null;
    return { text: turn.parse.content, source: null, outcome: null, answer: '' };
  }
  const { observation } = step;
  return {
    text: callText(turn, step),
    source: observation?.source ?? null,
    outcome: observation?.outcome ?? null,
    answer: observation ? answerText(observation.value) : '',
  };
}

/** On one line where that is short. */
function answerText(value: Json): string {
  const { text, cut } = previewJson(value, MAX_ANSWER);
  if (cut) return `${text}…`;
  const line = formatJson(value);
  return line.length <= MAX_LINE ? line : text;
}

function difference(
  session: Session,
  left: Row['left'],
  right: Row['left'],
  a: CallStep | undefined,
  b: CallStep | undefined,
): Pick<Row, 'differs' | 'fields'> {
  if (!left || !right) return { differs: 'alone', fields: [] };
  const same = a?.call && b?.call ? sameCall(a, b) : left.text === right.text;
  if (!same) return { differs: 'call', fields: [] };
  if (!a?.observation || !b?.observation) return { differs: 'no', fields: [] };
  const { verdict, fields } = compareAnswers(
    a.observation,
    b.observation,
    rulesOf(session.setup.environment),
  );
  const differing = fields.filter(({ kind }) => kind !== 'match' && kind !== 'tolerable');
  return {
    differs: verdict === 'differs' ? 'answer' : 'no',
    fields: differing.slice(0, MAX_FIELDS).map(({ path, kind }) => `${path} ${kind}`),
  };
}

function sameCall({ call: a }: CallStep, { call: b }: CallStep): boolean {
  return a!.name === b!.name && equalJson(a!.arguments, b!.arguments);
}
