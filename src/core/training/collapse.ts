/**
 * Collapse of rehearsed values: a field that says the same in nearly every rehearsal, although records, or the model
 * before it was trained, say other things too. Rollouts of one task ask the same calls, so what is judged is calls:
 * each says what most of its rehearsals say.
 */
import { wilson } from '../fidelity/interval';
import { PathNode } from '../fidelity/places';
import { isObject, type Json } from '../json';
import { callsIn, type Seen } from './measure';
import type { Collapse } from './run.types';

/** An answer of a tool, rehearsed or recorded. */
export interface ToolAnswer {
  tool: string;
  value: Json;
  /** The same for every answer to the same question. */
  question: string;
}

/** Rehearsed results, those that are errors left out: which calls fail is the policy's doing as well. */
export function rehearsedAnswers(rollouts: readonly Seen[]): ToolAnswer[] {
  return rollouts.flatMap(({ task, state }) =>
    (state ? callsIn(state) : []).flatMap(({ step: { call, observation } }) => {
      if (!call || observation?.source !== 'rehearsed' || observation.outcome !== 'result') return [];
      const question = JSON.stringify([task, call.name, call.arguments]);
      return [{ tool: call.name, value: observation.value, question }];
    }),
  );
}

const CROWDED = 0.9;
const FEWEST_QUESTIONS = 4;
const FEWEST_ANSWERS = 10;
const FEWEST_REFERENCES = 8;

/**
 * @param rehearsed answers of the last few steps
 * @param records recorded results, each a question of its own
 * @param base answers of the model before training, for fields that too few records have
 */
export function collapseOf(
  rehearsed: readonly ToolAnswer[],
  records: readonly ToolAnswer[],
  base: readonly ToolAnswer[],
): Collapse[] {
  const [now, recorded, before] = [rehearsed, records, base].map(fieldsOf);
  const found: Collapse[] = [];
  for (const [key, field] of now!) {
    const { value, count } = mostly(field.answers);
    const asked = questions(field, value);
    if (field.answers.length < FEWEST_ANSWERS || asked.of < FEWEST_QUESTIONS) continue;
    if (count < CROWDED * field.answers.length) continue;
    const known = recorded!.get(key);
    const reference =
      known && known.answers.length >= FEWEST_REFERENCES
        ? { source: 'records' as const, field: known }
        : { source: 'base' as const, field: before!.get(key) };
    if (!reference.field || reference.field.answers.length < FEWEST_REFERENCES) continue;
    const told = questions(reference.field, value);
    // By chance alone the two would seldom be so far apart.
    if (wilson(asked.count, asked.of).low <= wilson(told.count, told.of).high) continue;
    const most = mostly(reference.field.answers);
    found.push({
      tool: field.tool,
      field: field.path,
      value,
      count,
      of: field.answers.length,
      reference: {
        source: reference.source,
        count: reference.field.answers.filter((one) => one.value === value).length,
        of: reference.field.answers.length,
        mostly: most.value,
        mostlyCount: most.count,
      },
    });
  }
  return found;
}

interface Field {
  tool: string;
  path: string;
  answers: { value: string; question: string }[];
}

function fieldsOf(answers: readonly ToolAnswer[]): Map<string, Field> {
  const fields = new Map<string, Field>();
  for (const { tool, value, question } of answers) {
    for (const leaf of leaves(value, PathNode.root())) {
      const key = `${tool} ${leaf.field}`;
      const field = fields.get(key) ?? { tool, path: leaf.field, answers: [] };
      fields.set(key, field);
      field.answers.push({ value: leaf.value, question });
    }
  }
  return fields;
}

function leaves(value: Json, at: PathNode): { field: string; value: string }[] {
  if (Array.isArray(value)) return value.flatMap((item, i) => leaves(item, at.item(i)));
  if (isObject(value)) return Object.entries(value).flatMap(([name, one]) => leaves(one, at.name(name)));
  return [{ field: at.field, value: JSON.stringify(value) }];
}

/** Questions of which most answers have this value. */
function questions({ answers }: Field, value: string): { count: number; of: number } {
  const votes = new Map<string, number>();
  for (const one of answers)
    votes.set(one.question, (votes.get(one.question) ?? 0) + (one.value === value ? 1 : -1));
  return { count: [...votes.values()].filter((vote) => vote > 0).length, of: votes.size };
}

function mostly(answers: Field['answers']): { value: string; count: number } {
  const counts = new Map<string, number>();
  for (const { value } of answers) counts.set(value, (counts.get(value) ?? 0) + 1);
  let best = { value: '', count: 0 };
  for (const [value, count] of counts) if (count > best.count) best = { value, count };
  return best;
}
