/**
 * What rehearsals say where a record of the same call says something: by field and recorded value, so that an untruth
 * told again and again shows, and slips of the pen do not. Only fields that have few different values in the records,
 * such as a status; and whether a call fails.
 */
import { findRecorded } from '../environment/recorded';
import type { Environment, Example } from '../environment/types';
import { PathNode } from '../fidelity/places';
import { isObject, type Json } from '../json';
import { callsIn, earlierCalls, type Seen } from './measure';
import type { Told } from './run.types';

/** Field under which stands whether a call gives a result or an error. */
export const OUTCOME = 'outcome';

const MOST_VALUES = 10;
/** Of a field whose values repeat, each stands in so many records on average. */
const REPEATS = 3;

/** Of a step's rollouts, in their order. Empty where recorded answers are reused, since nothing can contradict them. */
export function toldIn(rollouts: readonly Seen[]): Told[] {
  const rows = new Map<string, Told & { seen: Set<string> }>();
  rollouts.forEach(({ task, state }, index) => {
    if (!state) return;
    const { environment } = state.setup;
    const few = fieldsWithFewValues(environment);
    for (const { step, before } of callsIn(state)) {
      const { call, observation } = step;
      if (!call || observation?.source !== 'rehearsed') continue;
      const record = findRecorded(environment, call, earlierCalls(before), state.setup.task.state);
      if (!record) continue;
      for (const { field, recorded, told } of pairs(record, observation, few.get(record.tool))) {
        const key = JSON.stringify([record.tool, field, recorded]);
        const row = rows.get(key) ?? {
          ...{ tool: record.tool, field, recorded, of: 0, calls: 0, told: {}, rollout: null },
          seen: new Set<string>(),
        };
        rows.set(key, row);
        row.of++;
        row.told[told] = (row.told[told] ?? 0) + 1;
        row.seen.add(JSON.stringify([task, call.arguments]));
        if (told !== recorded) row.rollout ??= index;
      }
    }
  });
  return [...rows.values()].map(({ seen, ...row }) => ({ ...row, calls: seen.size }));
}

function* pairs(
  record: Example,
  rehearsed: { outcome: string; value: Json },
  few: ReadonlySet<string> | undefined,
): Generator<{ field: string; recorded: string; told: string }> {
  yield { field: OUTCOME, recorded: record.outcome, told: rehearsed.outcome };
  if (record.outcome !== rehearsed.outcome) return;
  const said = new Map(leaves(rehearsed.value, PathNode.root()));
  for (const [field, recorded] of leaves(record.value, PathNode.root()))
    if (few?.has(field)) yield { field, recorded, told: said.get(field) ?? 'nothing' };
}

const known = new WeakMap<readonly Example[], Map<string, Set<string>>>();

/** By tool, the fields of its recorded results that have few different values, each in several records. */
function fieldsWithFewValues({ examples }: Environment): Map<string, Set<string>> {
  const found = known.get(examples);
  if (found) return found;
  const values = new Map<string, { tool: string; field: string; all: string[] }>();
  for (const { tool, outcome, value } of examples) {
    if (outcome !== 'result') continue;
    for (const [field, leaf] of leaves(value, PathNode.root())) {
      const key = `${tool} ${field}`;
      const one = values.get(key) ?? { tool, field, all: [] };
      values.set(key, one);
      one.all.push(leaf);
    }
  }
  const few = new Map<string, Set<string>>();
  for (const { tool, field, all } of values.values()) {
    const different = new Set(all).size;
    if (different > MOST_VALUES || different * REPEATS > all.length) continue;
    few.set(tool, (few.get(tool) ?? new Set()).add(field));
  }
  known.set(examples, few);
  return few;
}

/** Places in lists are left out of fields: `$.items[*].state`. Of several the last counts. */
function* leaves(value: Json, at: PathNode): Generator<[field: string, value: string]> {
  if (Array.isArray(value)) for (const [i, item] of value.entries()) yield* leaves(item, at.item(i));
  else if (isObject(value))
    for (const [name, one] of Object.entries(value)) yield* leaves(one, at.name(name));
  else yield [at.field, JSON.stringify(value)];
}
