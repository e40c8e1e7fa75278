/** The engine's own speed of decoding, measured in Python beside `transformers`. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Bench, Row } from '../row';
import { randomModel } from '../server';

const REPETITIONS = 5;

export const decodeRows: Row[] = [1, 16].map((batch) => ({
  id: `decode-b${batch}`,
  what: `tokens a second of ${batch === 1 ? 'one sequence' : `${batch} sequences`}, engine ÷ transformers`,
  unit: '×',
  goal: 1.5,
  better: 'higher',
  peer: 'transformers generate, same model and machine',
  measure: (bench) => decode(bench, `decode-b${batch}`),
}));

async function decode(bench: Bench, row: string): Promise<number[]> {
  const model = await randomModel(bench);
  const args = ['-m', 'rehearsal_engine.bench', row, '--model', model, '--repetitions', String(REPETITIONS)];
  const cwd = path.join(bench.root, 'server/engine');
  const { stdout } = await promisify(execFile)(bench.python, args, { cwd });
  const measured = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as {
    values: number[];
    engine: number[];
    peer: number[];
  };
  const figures = (xs: number[]) => xs.map((x) => x.toFixed(0)).join(', ');
  bench.log(
    `${row}: engine ${figures(measured.engine)} tokens/s; transformers ${figures(measured.peer)} tokens/s`,
  );
  return measured.values;
}
