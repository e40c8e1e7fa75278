import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Task } from '../../../../src/core/environment/types';
import { DEFAULT_SETTINGS } from '../../../../src/core/training/defaults';
import { planStep, shuffled, tasksOf } from '../../../../src/core/training/plan';
import type { RunConfig } from '../../../../src/core/training/types';
import { newRun } from '../../support/training';

const tasks = (n: number): Task[] =>
  Array.from({ length: n }, (_, i) => ({ id: `t${i}`, instruction: '', user: [], checks: [] }));
const config = (n: number, change: object = {}) =>
  ({
    ...newRun(
      { parts: { train: tasks(n), validation: [], test: [] } },
      { tasksPerStep: 4, groupSize: 3, ...change },
    ),
    id: 'a',
    created: '',
  }) as RunConfig;

describe('the plan of a step', () => {
  it('gives every task its turn before any comes again, in another order each time', () => {
    const settings = { ...DEFAULT_SETTINGS, tasksPerStep: 4 };
    const all = [1, 2, 3, 4, 5, 6].flatMap((step) => tasksOf(tasks(8), step, settings)).map(({ id }) => id);
    const passes = [all.slice(0, 8), all.slice(8, 16), all.slice(16)];
    for (const pass of passes) assert.equal(new Set(pass).size, 8);
    assert.notDeepEqual(passes[0], passes[1]);
  });

  it('fills a step from fewer tasks than it takes', () => {
    assert.equal(tasksOf(tasks(3), 1, { ...DEFAULT_SETTINGS, tasksPerStep: 7 }).length, 7);
  });

  it('numbers rollouts by group and gives each a seed of its own, the same whenever it is asked', () => {
    const plan = [1, 2, 3].flatMap((step) => planStep(config(8), step));
    assert.equal(plan.length, 36);
    assert.deepEqual(
      plan.slice(0, 12).map(({ index }) => index),
      [...Array(12).keys()],
    );
    assert.equal(new Set(plan.map(({ seed }) => seed)).size, 36);
    assert.deepEqual(planStep(config(8), 2), plan.slice(12, 24));
    assert.notDeepEqual(planStep(config(8, { seed: 9 }), 2), plan.slice(12, 24));
  });

  it('gives a task that comes twice in a step other seeds each time', () => {
    const plan = planStep(config(1), 1);
    assert.equal(new Set(plan.map(({ seed }) => seed)).size, plan.length);
  });

  it('shuffles without losing anything', () => {
    fc.assert(
      fc.property(fc.array(fc.integer()), fc.nat(), (items, seed) => {
        assert.deepEqual([...shuffled(items, seed)].sort(), [...items].sort());
      }),
    );
  });
});
