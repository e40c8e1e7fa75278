/** The engine's own speed of decoding, measured in Python beside `transformers` (`rehearsal_engine.bench`). */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Bench, Measured, Row } from '../row';

const REPETITIONS = 5;

export const decodeRows: Row[] = [1, 16].map((batch) => ({
  id: `decode-b${batch}`,
  what: `tokens a second of ${batch === 1 ? 'one sequence' : `${batch} sequences`}, engine ÷ transformers`,
  unit: '×',
  goal: 1.5,
  better: 'higher',
  peer: 'transformers generate, same model, prompts and threads',
  measure: (bench) => decode(bench, `decode-b${batch}`),
}));

interface DecodeRow extends Measured {
  tokens_per_second: number;
  peer_tokens_per_second: number;
}

async function decode(bench: Bench, row: string): Promise<Measured> {
  const args = ['-m', 'rehearsal_engine.bench', row, '--repetitions', String(REPETITIONS)];
  const cwd = path.join(bench.root, 'server/engine');
  const { stdout } = await promisify(execFile)(bench.python, args, { cwd });
  const measured = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as DecodeRow;
  const { tokens_per_second: own, peer_tokens_per_second: peer } = measured;
  bench.log(`${row}: engine ${own.toFixed(0)} tokens/s, transformers ${peer.toFixed(0)} tokens/s`);
  return measured;
}
