import assert from 'node:assert/strict';
import { canonicalValue, jsonInside } from '../../../../src/core/fidelity/answers';
import { differenceDiagnostics } from '../../../../src/core/fidelity/author';
import { compareAnswers } from '../../../../src/core/fidelity/compare';
import { summarize } from '../../../../src/core/fidelity/summary';
import type { Answer } from '../../../../src/core/fidelity/types';
import type { Json } from '../../../../src/core/json';
import { pathStep } from '../../../../src/core/jsonpath';
import { bfclExecutions, mcpCalls, type RealCall, tauExecutions, tauProbes } from './recorded-pairs';

const SOURCES: { [name: string]: { read(context: Mocha.Context): RealCall[]; least: number } } = {
  'tau2 retail': { read: tauExecutions, least: 500 },
  'tau2 error probes': { read: tauProbes, least: 10 },
  'BFCL multi-turn': { read: bfclExecutions, least: 200 },
  'MCP servers': { read: mcpCalls, least: 15 },
};

for (const [name, { read, least }] of Object.entries(SOURCES)) {
  describe(`recorded calls: ${name}`, () => {
    it('beside themselves have fidelity 1 and no diagnostic', function () {
      const calls = read(this);
      assert.ok(calls.length >= least, `${calls.length} calls`);
      const pairs = calls.map((call) => {
        // What a policy would have to write: an object or a list, spelled anew.
        const value = JSON.parse(JSON.stringify(canonicalValue(call.real))) as Json;
        const rehearsed: Answer = { outcome: call.real.outcome, value };
        return { ...call, rehearsed, comparison: compareAnswers(rehearsed, call.real) };
      });
      const summary = summarize(pairs);
      assert.equal(summary.fidelity.share, 1);
      assert.equal(summary.fidelity.n, calls.length);
      assert.ok(summary.tools.every((tool) => tool.fields.every(({ fidelity }) => fidelity.share === 1)));
      const tools = new Map(summary.tools.map(({ tool }) => [tool, { offset: 0, length: 1 }]));
      assert.deepEqual(differenceDiagnostics(summary, { tools }), []);
    });

    it('with a planted change differ at its path and nowhere else', function () {
      let planted = 0;
      for (const { real } of read(this)) {
        for (const { path, value } of plantedChanges(canonicalValue(real))) {
          const { fields, first } = compareAnswers({ outcome: real.outcome, value }, real);
          const wrong = fields.filter(({ kind }) => kind !== 'match').map((field) => field.path);
          assert.deepEqual(wrong, [path]);
          assert.equal(first?.path, path);
          planted++;
        }
      }
      assert.ok(planted >= least, `${planted} changes`);
    });
  });
}

/** The value with one leaf changed, for up to four leaves of it: the first, the last and two between. */
function* plantedChanges(value: Json): Generator<{ path: string; value: Json }> {
  const leaves = [...leavesOf(value, [])];
  const chosen = new Set([0, leaves.length >> 2, leaves.length >> 1, leaves.length - 1]);
  for (const index of chosen) {
    const steps = leaves[index];
    if (!steps?.length) continue; // an empty answer has no field to change
    yield { path: `$${steps.map(pathStep).join('')}`, value: changedAt(value, steps) };
  }
}

function* leavesOf(value: Json, steps: (string | number)[]): Generator<(string | number)[]> {
  if (Array.isArray(value) && value.length) {
    for (const [i, item] of value.entries()) yield* leavesOf(item, [...steps, i]);
  } else if (typeof value === 'object' && value !== null && Object.keys(value).length) {
    for (const [key, item] of Object.entries(value)) yield* leavesOf(item, [...steps, key]);
  } else if (typeof value === 'string' && jsonInside(value) !== undefined) {
    yield* leavesOf(jsonInside(value)!, steps);
  } else yield steps;
}

function changedAt(value: Json, steps: (string | number)[]): Json {
  const inner = typeof value === 'string' ? jsonInside(value) : undefined;
  if (inner !== undefined) return JSON.stringify(changedAt(inner, steps));
  const [step, ...rest] = steps;
  if (step === undefined) {
    if (typeof value === 'number') return value + 1;
    return typeof value === 'string' ? `${value}!` : typeof value === 'boolean' ? !value : 'changed';
  }
  const copy = structuredClone(value) as Record<string | number, Json>;
  copy[step] = changedAt(copy[step]!, rest);
  return copy as Json;
}
