/** A learning step on shared prefixes, measured in Python (`rehearsal_engine.learning.bench`), in CPU seconds. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Bench, Measured, Row } from '../row';

const WORK = 'two tasks × 8 rollouts of five turns, both roles, prompts of 1,500 tokens';

export const learnRows: Row[] = [
  {
    id: 'learn-vs-outputs',
    what: `one row per output ÷ our learning step; ${WORK}`,
    unit: '×',
    goal: 5,
    better: 'higher',
    peer: 'the same engine, one row per output',
    measure: (bench) => learn(bench, 'learn-vs-outputs'),
  },
  {
    id: 'learn-vs-rollouts',
    what: `one row per rollout and role ÷ our learning step; ${WORK}`,
    unit: '×',
    goal: 2,
    better: 'higher',
    peer: 'the same engine, one row per rollout and role',
    measure: (bench) => learn(bench, 'learn-vs-rollouts'),
  },
  {
    id: 'learn-cost',
    what: `our learning step ÷ plain causal batch of as many tokens as the tree has; ${WORK}`,
    unit: '×',
    goal: 1.3,
    better: 'lower',
    peer: 'transformers, forward and backward',
    measure: (bench) => learn(bench, 'learn-cost'),
  },
];

async function learn(bench: Bench, row: string): Promise<Measured> {
  const cwd = path.join(bench.root, 'server/engine');
  const args = ['-m', 'rehearsal_engine.learning.bench', row, '--repetitions', '3'];
  const { stdout } = await promisify(execFile)(bench.python, args, { cwd });
  const measured = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Measured & {
    cpu_seconds: [number, number][];
  };
  for (const [own, peer] of measured.cpu_seconds)
    bench.log(`${row}: ours ${own} s, the other ${peer} s of CPU`);
  return measured;
}
