/** The extension host calls `run()`: mocha over the suites bundled beside this file, results to a file. */
import fs from 'node:fs';
import path from 'node:path';
import Mocha from 'mocha';

interface Result {
  title: string;
  state: 'passed' | 'failed' | 'skipped';
  ms?: number;
  error?: string;
}

export async function run(): Promise<void> {
  const only = process.env.HOST_TEST_GREP;
  const mocha = new Mocha({
    ui: 'bdd',
    color: false,
    timeout: 60_000,
    reporter: 'min',
    ...(only && { grep: only }),
  });
  const suites = fs.readdirSync(__dirname).filter((f) => f.endsWith('.test.cjs'));
  for (const f of suites.sort()) mocha.addFile(path.join(__dirname, f));
  const results: Result[] = [];
  await new Promise<void>((ok) => {
    const runner = mocha.run(() => ok());
    const say = (r: Result) => {
      results.push(r);
      write(results, false);
    };
    runner.on('pass', (t) => say({ title: t.fullTitle(), state: 'passed', ms: t.duration ?? 0 }));
    runner.on('pending', (t) => say({ title: t.fullTitle(), state: 'skipped' }));
    runner.on('fail', (t, e) => say({ title: t.fullTitle(), state: 'failed', error: String(e?.stack ?? e) }));
  });
  write(results, true);
  const failed = results.filter((r) => r.state === 'failed').length;
  if (failed) throw new Error(`${failed} tests failed`);
}

/** Written after each test, so that a host that dies still says how far it came. */
function write(results: Result[], complete: boolean): void {
  const file = process.env.HOST_TEST_RESULTS;
  if (!file) return;
  fs.writeFileSync(`${file}.new`, JSON.stringify({ complete, results }));
  fs.renameSync(`${file}.new`, file);
}
