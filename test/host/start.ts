/**
 * Runs the suites of `test/host/suite` inside a real VS Code. usage: tsx test/host/start.ts [mocha grep]
 * Exit code 0: all passed; 1: failures; 2: the host itself did not work. The last line is
 * `N passed, N failed, N skipped`.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { stopServer } from '../../src/node/server/ensure';
import { serveDriver } from '../harness/driver';
import { productEnvironment } from '../harness/product';
import { openWorkbench, ROOT, type Workbench } from '../harness/workbench';

const LIMIT_MS = Number(process.env.HOST_LIMIT_MS ?? 480_000);
const SHOTS = path.join(import.meta.dirname, 'shots');
const verbose = Boolean(process.env.VERBOSE);

interface Outcome {
  complete: boolean;
  results: { title: string; state: 'passed' | 'failed' | 'skipped'; ms?: number; error?: string }[];
}

const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'rehearsal-host-'));
const resultsFile = path.join(scratch, 'results.json');
const started = Date.now();
const say = (line: string) =>
  console.log(`${((Date.now() - started) / 1000).toFixed(1).padStart(6)} s  ${line}`);

let workbench: Workbench | undefined;
let code = 2;
let finished: (exit: number) => void = () => {};
const exit = new Promise<number>((ok, bad) => {
  finished = ok;
  setTimeout(() => bad(new Error(`no result after ${LIMIT_MS} ms`)), LIMIT_MS).unref();
});
exit.catch(() => {}); // awaited below, once the workbench is there
const driver = await serveDriver(() => workbench!.page, SHOTS);
try {
  workbench = await openWorkbench({
    workspace: path.join(ROOT, 'examples'),
    extension: 'development',
    others: [path.join(ROOT, 'test/fixtures/language-model-tools')],
    tests: path.join(ROOT, 'dist/test/host/run.cjs'),
    env: {
      ...productEnvironment(scratch),
      HOST_TEST_RESULTS: resultsFile,
      HOST_TEST_GREP: process.argv[2] ?? '',
      HOST_DRIVER: driver.url,
    },
    async beforeLoad(page) {
      await page.exposeFunction('codeAutomationLog', (_type: string, args: unknown[]) => {
        if (verbose) say(args.join(' '));
      });
      await page.exposeFunction('codeAutomationExit', (exitCode: number) => finished(exitCode));
      if (verbose) page.on('console', (m) => say(`[console] ${m.text()}`));
    },
  });
  say('workbench is up');
  const exitCode = await exit;
  const outcome = read();
  // VS Code reports 0 also when the extension host dies: only a complete file counts.
  if (!outcome?.complete) throw new Error(`the suite did not run to its end (exit ${exitCode})`);
  code = report(outcome) === 0 && exitCode === 0 ? 0 : 1;
} catch (error) {
  const outcome = read();
  if (outcome) report(outcome);
  console.error(`host: ${(error as Error).stack}`);
  await workbench?.page.screenshot({ path: path.join(SHOTS, 'host-failure.png') }).catch(() => {});
  if (workbench) console.error(workbench.server.output().slice(-3000));
} finally {
  driver.close();
  await workbench?.stop();
  await stopServer(productEnvironment(scratch).REHEARSAL_HOME);
  fs.rmSync(scratch, { recursive: true, force: true });
}
process.exit(code);

function read(): Outcome | undefined {
  return fs.existsSync(resultsFile)
    ? (JSON.parse(fs.readFileSync(resultsFile, 'utf8')) as Outcome)
    : undefined;
}

function report({ results }: Outcome): number {
  const count = (state: string) => results.filter((r) => r.state === state).length;
  for (const r of results) {
    const mark = { passed: 'ok  ', failed: 'FAIL', skipped: 'skip' }[r.state];
    console.log(
      `${mark} ${r.title}${r.ms === undefined ? '' : ` (${r.ms} ms)`}${r.error ? `\n${r.error}` : ''}`,
    );
  }
  console.log(`${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`);
  return count('failed');
}
