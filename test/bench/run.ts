/**
 * Measures the speed that the product promises. usage: npm run bench [-- ID…]
 * Prints each row with its peer and writes `test/bench/results.json`. Fails when a row cannot be measured; a missed
 * goal is shown, and is no failure, since machines differ.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ensureVenv, venvPython } from '../../scripts/lib/test-machine.mjs';
import { type Bench, goalMet, type Result, toResult } from './row';
import { decodeRows } from './rows/decode';
import { diffRows } from './rows/diff';
import { learnRows } from './rows/learn';
import { rolloutRows } from './rows/rollouts';
import { runnerRows } from './rows/runner';
import { stepRows } from './rows/step';
import { toolRows } from './rows/tools';
import { trainingRows } from './rows/training';

const ROWS = [
  ...decodeRows,
  ...learnRows,
  ...diffRows,
  ...stepRows,
  ...rolloutRows,
  ...toolRows,
  ...trainingRows,
  ...runnerRows,
];
const RESULTS = path.join(import.meta.dirname, 'results.json');

const asked = process.argv.slice(2);
const unknown = asked.filter((id) => !ROWS.some((row) => row.id === id));
if (unknown.length) {
  console.error(`No such row: ${unknown.join(', ')}. There are: ${ROWS.map((row) => row.id).join(', ')}.`);
  process.exit(2);
}
const rows = asked.length ? ROWS.filter((row) => asked.includes(row.id)) : ROWS;

const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'rehearsal-bench-'));
const shared = new Map<string, Promise<{ value: unknown; end?: () => Promise<void> }>>();
const log = (line: string) => console.error(`· ${line}`);
const bench: Bench = {
  root: path.resolve(import.meta.dirname, '../..'),
  python: venvPython,
  scratch,
  log,
  async shared(name, make) {
    if (!shared.has(name)) shared.set(name, make());
    return (await shared.get(name)!).value as never;
  },
};

const results: Result[] = [];
let failed = 0;
try {
  await ensureVenv(log);
  console.log(machine());
  for (const row of rows) {
    log(`${row.id}: ${row.what}`);
    try {
      const result = toResult(row, await row.measure(bench));
      results.push(result);
      console.log(line(result));
    } catch (error) {
      failed++;
      console.error(`${row.id} could not be measured: ${(error as Error).stack}`);
    }
  }
} finally {
  for (const made of [...shared.values()].reverse()) await (await made.catch(() => undefined))?.end?.();
  fs.rmSync(scratch, { recursive: true, force: true });
}
// Rows that were not asked for stay what they were.
const before = fs.existsSync(RESULTS) ? (JSON.parse(fs.readFileSync(RESULTS, 'utf8')).rows as Result[]) : [];
const all = ROWS.flatMap(({ id }) => [...results, ...before].find((result) => result.id === id) ?? []);
fs.writeFileSync(RESULTS, `${JSON.stringify({ rows: all }, null, 2)}\n`);
process.exit(failed ? 1 : 0);

function line(result: Result): string {
  const { id, value, unit, goal, better, peer, n, min, max } = result;
  const figure = (x: number) => (x >= 100 ? x.toFixed(0) : x.toPrecision(3));
  const bound = `${better === 'higher' ? '≥' : '≤'} ${goal}`;
  const spread = `${figure(min)}–${figure(max)}, n ${n}`;
  const verdict = goalMet(result) ? 'met' : 'MISSED';
  return `${id.padEnd(14)} ${figure(value).padStart(6)} ${unit.padEnd(6)} (${spread})  goal ${bound} ${verdict}  peer: ${peer}`;
}

function machine(): string {
  const cpus = os.cpus();
  return `${cpus.length} × ${cpus[0]?.model.trim() ?? 'CPU'}, ${Math.round(os.totalmem() / 2 ** 30)} GiB, Node ${process.version}, load ${os.loadavg()[0]!.toFixed(1)}`;
}
