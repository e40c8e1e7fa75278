/** How fast recorded pairs are compared, beside jsondiffpatch on the same pairs. */
import fs from 'node:fs';
import path from 'node:path';
import { create } from 'jsondiffpatch';
import { canonicalValue } from '../../../src/core/fidelity/answers';
import { compareAnswers } from '../../../src/core/fidelity/compare';
import type { Answer } from '../../../src/core/fidelity/types';
import type { Json, JsonObject } from '../../../src/core/json';
import type { Bench, Row } from '../row';

const PAIRS = 10_000;
const REPEATS = 5;

interface Pair {
  rehearsed: Answer;
  real: Answer;
}

/** Recorded answers of real tools; every third one was rehearsed with a field changed. */
function recordedPairs({ root }: Bench): Pair[] {
  const shared = process.env.REHEARSAL_SHARED ?? path.join(root, '../shared');
  const file = path.join(shared, 'data/tau2/retail_gold_executions.jsonl');
  const lines = fs.readFileSync(file, 'utf8').split('\n').filter(Boolean);
  type Call = { content: string; error: boolean };
  const answers = lines
    .flatMap((line) => (JSON.parse(line) as { calls: Call[] }).calls)
    .map(({ content, error }): Answer => {
      const outcome = error ? 'error' : 'result';
      return { outcome, value: canonicalValue({ outcome, value: content }) };
    });
  return Array.from({ length: PAIRS }, (_, i) => {
    const real = answers[i % answers.length]!;
    const value = structuredClone(real.value) as JsonObject;
    const keys = Object.keys(value);
    if (i % 3 === 0 && keys.length) value[keys[i % keys.length]!] = 'changed';
    return { real, rehearsed: { outcome: real.outcome, value: value as Json } };
  });
}

function seconds(work: () => number, expected: number): number {
  const started = performance.now();
  const found = work();
  if (found !== expected) throw new Error(`${found} differences instead of ${expected}`);
  return (performance.now() - started) / 1000;
}

export const diffRows: Row[] = [
  {
    id: 'diff-10k',
    what: 'time to compare 10,000 recorded pairs field by field',
    unit: '×',
    goal: 1,
    better: 'lower',
    peer: 'jsondiffpatch on the same pairs',
    async measure(bench) {
      const pairs = recordedPairs(bench);
      const other = create();
      const ours = () =>
        pairs.filter(({ rehearsed, real }) => compareAnswers(rehearsed, real).verdict === 'differs').length;
      const theirs = () =>
        pairs.filter(({ rehearsed, real }) => other.diff(rehearsed.value, real.value)).length;
      const expected = theirs();
      ours();
      return Array.from({ length: REPEATS }, () => seconds(ours, expected) / seconds(theirs, expected));
    },
  },
];
