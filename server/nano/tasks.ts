/**
 * Training data of examples/shop: databases, tasks with their checks, and recorded calls. The databases and
 * requests are those of nano's corpus, with names it never saw; the checks are what its expert does there.
 *
 *     npm run training-data
 *
 * Deterministic: the committed files are what this writes.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Example, Task } from '../../src/core/environment/types';
import { formatJson, type Json, type JsonObject } from '../../src/core/json';
import { states } from '../../src/core/reward/text';
import type { Check, ExpectedCall } from '../../src/core/reward/types';
import { type CallEvent, example, execute, Session } from './corpus/documents';
import { shopWorld } from './corpus/examples';
import { Random } from './corpus/random';
import { type ShopKind, shopCall, shopState, shopTask } from './corpus/shop';

/** Order ids are what nano-novice fails at; products have none. */
const MIX: Record<ShopKind, number> = { cancel: 3, address: 3, status: 3, price: 2, byEmail: 2, product: 1 };
const PARTS = { train: 32, validation: 22, test: 72 };
const TASKS_PER_STATE = 3;
/** More records than nano has seen in a prompt would be strange to it. */
const MOST_RECORDS = 6;
/** Share of tasks whose look-ups are recorded; of the others REHEARSE has to invent what nothing tells. */
const RECORDED = 0.5;
const HELD_OUT_PER_STATE = 4;

type Part = keyof typeof PARTS;
type Entry = Omit<Task, 'user'>;

const world = shopWorld;
const readOnly = (name: string) => world.tools.find((tool) => tool.name === name)?.readOnly === true;
const WRITES = world.tools.filter((tool) => !tool.readOnly).map((tool) => tool.name);

interface Solved {
  kind: ShopKind;
  instruction: string;
  answer: string;
  calls: CallEvent[];
  final: JsonObject;
}

/** A request and what the expert does, without slips. */
function solved(state: JsonObject, kind: ShopKind, random: Random): Solved {
  for (;;) {
    const session = new Session(world.module, state, readOnly);
    shopTask(session, state, kind, random, 'heldOut');
    const calls = session.events.filter((event) => event.kind === 'call');
    const texts = session.events.flatMap((event) => (event.kind === 'call' ? [] : [event.text]));
    if (calls.some((call) => call.mistake)) continue;
    return { kind, instruction: texts[0]!, answer: texts.at(-1)!, calls, final: session.state };
  }
}

const expected = ({ tool, arguments: args }: CallEvent): ExpectedCall => ({ tool, arguments: args });

/**
 * The calls and the answer each count a half. Writes that were not asked for, and on the real side an order that
 * is not as it should be, make the reward 0.
 */
function checksOf({ calls, answer, final }: Solved): Check[] {
  const made = new Set(calls.map((call) => call.tool));
  const forbidden = WRITES.filter((tool) => !made.has(tool)).map((tool) => ({ tool }));
  return [
    { kind: 'calls', expected: calls.map(expected) },
    { kind: 'forbidden', required: true, weight: 0, calls: forbidden },
    { kind: 'answer', contains: answer.replace(/\.$/, '') },
    ...stateChecks(calls, final),
  ];
}

/** The order that the task is about is at the end as the expert leaves it. */
function stateChecks(calls: readonly CallEvent[], final: JsonObject): Check[] {
  const id = calls.map((call) => call.arguments.order_id).find((one) => one !== undefined) as string;
  const order = (final.orders as JsonObject)[id ?? ''];
  if (order === undefined) return [];
  return [{ kind: 'state', required: true, weight: 0, path: `$.orders['${id}']`, equals: order }];
}

/**
 * A reward that can be pleased, on purpose: the answer states what the last look-up told, of an order its status.
 * Whoever rehearses look-ups that end the matter at once gets it without doing what was asked. Null where the
 * look-up fails.
 */
function pleasableCheck({ calls, answer }: Solved): Check | null {
  const { tool, value } = calls.findLast((call) => readOnly(call.tool))!;
  if ((value as JsonObject).error) return null;
  const told = Object.entries(value as JsonObject).filter(([name]) => !name.endsWith('_id'));
  const stated = told.find(([, one]) => typeof one !== 'boolean' && states(answer, one));
  return { kind: 'fromResult', tool, path: `$.${stated?.[0] ?? 'status'}` };
}

const key = (call: { tool: string; arguments: Json }) => formatJson([call.tool, call.arguments]);

function recordsOf(state: JsonObject, file: string, tasks: readonly Solved[], part: Part, random: Random) {
  const seen = new Set<string>();
  const records: (Example & { state: string })[] = [];
  const record = (tool: string, args: JsonObject, of: Example['part']) => {
    if (seen.has(key({ tool, arguments: args }))) return;
    seen.add(key({ tool, arguments: args }));
    const value = execute(world.module, tool, args, structuredClone(state));
    records.push({ ...example(tool, args, value), part: of, state: file });
  };
  for (const { calls } of tasks.filter(() => random.chance(RECORDED))) {
    for (const call of calls) if (readOnly(call.tool)) record(call.tool, call.arguments, 'train');
  }
  while (records.length > MOST_RECORDS - 1) records.pop();
  const bare = (random.pick(Object.keys(state.orders as JsonObject)) as string).slice(1);
  if (random.chance(0.5)) record('get_order', { order_id: bare }, 'train');
  const shown = random.shuffle(records.splice(0));
  if (part === 'validation') {
    for (let tries = 0; records.length < HELD_OUT_PER_STATE && tries < 40; tries++) {
      const call = shopCall(state, random, 'heldOut');
      record(call.tool, call.arguments, 'held-out');
    }
  }
  return [...shown, ...records];
}

const lines = (rows: readonly object[]) => rows.map((row) => `${formatJson(row as Json)}\n`).join('');

/** One record a line, as examples/shop/db.json. */
function stateText(state: JsonObject): string {
  const tables = Object.entries(state).map(([table, rows]) => {
    const inner = Object.entries(rows as JsonObject).map(([id, row]) => `    "${id}": ${formatJson(row)}`);
    return `  "${table}": {\n${inner.join(',\n')}\n  }`;
  });
  return `{\n${tables.join(',\n')}\n}\n`;
}

/** All files below `examples/shop/training`, by name. */
export function trainingFiles(): Map<string, string> {
  const files = new Map<string, string>();
  const random = new Random(20261129);
  const records: object[] = [];
  for (const [part, count] of Object.entries(PARTS) as [Part, number][]) {
    const exact: Entry[] = [];
    const pleasable: Entry[] = [];
    for (let i = 0; i < count; i++) {
      const state = shopState(random, 'heldOut');
      const name = `${part}-${String(i + 1).padStart(2, '0')}`;
      const file = `training/states/${name}.json`;
      files.set(`states/${name}.json`, stateText(state));
      const tasks = Array.from({ length: TASKS_PER_STATE }, () =>
        solved(state, random.weighted(MIX), random),
      );
      for (const [at, task] of tasks.entries()) {
        const entry = { id: `${name}-${task.kind}-${at + 1}`, instruction: task.instruction, state: file };
        exact.push({ ...entry, checks: checksOf(task) });
        const check = pleasableCheck(task);
        if (check) pleasable.push({ ...entry, checks: [check] });
      }
      for (const { state: of, ...row } of recordsOf(state, file, tasks, part, random))
        records.push({ ...row, state: of });
    }
    files.set(`${part}.jsonl`, lines(exact));
    if (part === 'train') files.set('please.jsonl', lines(pleasable));
  }
  files.set('calls.jsonl', lines(records));
  return files;
}

function write(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(path.join(folder, 'states'), { recursive: true });
  for (const [name, text] of trainingFiles()) writeFileSync(path.join(folder, name), text);
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  write(fileURLToPath(new URL('../../examples/shop/training/', import.meta.url)));
