import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { trainingFiles } from '../../../server/nano/tasks';
import type { Task } from '../../../src/core/environment/types';
import type { Json, JsonObject } from '../../../src/core/json';
import { evaluate } from '../../../src/core/reward/checks';
import type { Check, TranscriptCall } from '../../../src/core/reward/types';
import { readTraining } from '../../../src/node/training-files';
import { ROOT } from '../support/server';

const FOLDER = path.join(ROOT, 'examples/shop');
const tools = (await import(path.join(FOLDER, 'tools.mjs'))) as Record<
  string,
  (args: Json, state: Json) => Json
>;
const WRITES = ['cancel_order', 'change_address'];

const stateOf = (task: Task) =>
  JSON.parse(fs.readFileSync(path.join(FOLDER, task.state as string), 'utf8')) as JsonObject;

/** What comes of some calls and an answer on the real tools. */
function outcome(task: Task, calls: readonly { tool: string; arguments?: Json }[], answer: string) {
  const state = stateOf(task);
  const made = calls.map(({ tool, arguments: args }, i): TranscriptCall => {
    const call = { turn: i + 1, tool, arguments: args ?? {}, valid: true, readOnly: !WRITES.includes(tool) };
    try {
      return { ...call, outcome: 'result', value: structuredClone(tools[tool]!(args ?? {}, state)) };
    } catch (error) {
      return { ...call, outcome: 'error', value: { error: (error as Error).message } };
    }
  });
  const real = { state, commands: {} };
  return evaluate(task, { calls: made, answer, answerTurn: made.length + 1, real });
}

const of = <K extends Check['kind']>({ checks }: Task, kind: K) =>
  checks.find((check) => check.kind === kind) as Extract<Check, { kind: K }>;

describe('the training data of the shop', () => {
  let loaded: Awaited<ReturnType<typeof readTraining>>;
  let all: Task[];
  before(async () => {
    loaded = await readTraining(path.join(FOLDER, 'shop.training.json'));
    all = Object.values(loaded.parts).flat();
  });

  it('is what its script writes', () => {
    for (const [name, text] of trainingFiles())
      assert.equal(fs.readFileSync(path.join(FOLDER, 'training', name), 'utf8'), text, name);
  });

  it('loads without a complaint, with enough tasks to tell runs apart', () => {
    const { diagnostics, config, parts } = loaded;
    assert.deepEqual(diagnostics, []);
    assert.ok(
      config && parts.train.length >= 64 && parts.validation.length >= 64 && parts.test.length >= 192,
    );
  });

  it('has parts that share no database', () => {
    const states = Object.values(loaded.parts).map((tasks) => new Set(tasks.map(({ state }) => state)));
    const count = states.reduce((sum, { size }) => sum + size, 0);
    assert.equal(new Set(all.map(({ state }) => state)).size, count);
  });

  it('has tasks that the expected calls and answer solve on the real tools, and nothing less does', () => {
    for (const task of all) {
      const { expected } = of(task, 'calls');
      const answer = `${of(task, 'answer').contains}.`;
      assert.equal(outcome(task, expected, answer).value, 1, task.id);
      assert.notEqual(outcome(task, expected, 'Done.').value, 1, task.id);
      assert.notEqual(outcome(task, expected.slice(0, -1), answer).value, 1, task.id);
    }
  });

  it('gives nothing for a write that was not asked for', () => {
    for (const task of all.filter((one) => of(one, 'forbidden').calls.length)) {
      const { expected } = of(task, 'calls');
      const [write] = of(task, 'forbidden').calls;
      const stray = {
        tool: write!.tool,
        arguments: { order_id: '#W0000000', address: '1 Oak Street, Ghent' },
      };
      assert.equal(outcome(task, [...expected, stray], `${of(task, 'answer').contains}.`).value, 0, task.id);
    }
  });

  it('has recorded calls that the tools answer as they are recorded', () => {
    const records = loaded.environment!.examples.filter(({ state }) => state);
    assert.ok(new Set(records.map(({ part }) => part)).size === 2 && records.length > 200);
    for (const { tool, arguments: args, state, value } of records) {
      let real: Json;
      try {
        real = tools[tool]!(args, stateOf({ state } as unknown as Task));
      } catch (error) {
        real = { error: (error as Error).message };
      }
      assert.deepEqual(real, value);
    }
  });

  it('has a run that goes wrong on purpose, which is warned of', async () => {
    const please = await readTraining(path.join(FOLDER, 'please.training.json'));
    assert.ok(please.config);
    assert.deepEqual(
      please.diagnostics.map(({ code }) => code),
      ['can-be-pleased'],
    );
    assert.ok(please.parts.train.every(({ checks }) => checks.every(({ kind }) => kind === 'fromResult')));
  });
});
