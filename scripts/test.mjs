/**
 * Runs the tests and installs what they need on a bare machine.
 * usage: npm test [-- tier…]   tiers: check, unit, engine, host, e2e, faults (default: all, in this order)
 * The last line is the sum of all tiers, `N passed, N failed, N skipped`; the exit code is not 0 on any failure.
 */
import fs from 'node:fs';
import path from 'node:path';
import { ensureDependencies } from './lib/dependencies.mjs';
import { capture, ROOT } from './lib/process.mjs';
import { ensureBrowserAndWorkbench, ensureVenv, venvPython } from './lib/test-machine.mjs';

const started = Date.now();
const elapsed = () => `${Math.round((Date.now() - started) / 1000)} s`.padStart(6);
const log = (line) => console.log(`[${elapsed()}] ${line}`);

const needs = { venv: () => ensureVenv(log), browser: () => ensureBrowserAndWorkbench(log), build };
const tsx = (file, ...args) => [process.execPath, ['--import', 'tsx', file, ...args]];
const bin = (name, ...args) => [process.execPath, [`node_modules/${name}`, ...args]];

/** Each tier: what it needs, its commands, and how its output is counted. */
const TIERS = {
  check: {
    needs: ['build'], // the build generates sources that are type-checked
    commands: [
      bin('typescript/bin/tsc', '-p', '.'),
      bin('typescript/bin/tsc', '-p', 'src/core'),
      bin('typescript/bin/tsc', '-p', 'webview'),
      bin('@biomejs/biome/bin/biome', 'check'),
    ],
    count: ({ code }) => (code === 0 ? { passed: 1 } : { failed: 1 }),
  },
  unit: { needs: ['venv', 'build'], commands: [bin('mocha/bin/mocha.js')], count: countMocha },
  engine: {
    needs: ['venv'],
    // pyproject.toml says -q; a second one would leave out the line that is counted here.
    commands: [
      [venvPython, ['-m', 'pytest', '--disable-warnings', 'server/engine/tests', 'server/nano/tests']],
    ],
    count: countWords,
  },
  host: { needs: ['venv', 'browser', 'build'], commands: [tsx('test/host/start.ts')], count: countWords },
  e2e: {
    needs: ['venv', 'browser', 'build'],
    // A window for each file, so that what fails in one hides nothing in the others.
    commands: fs
      .readdirSync(path.join(ROOT, 'test/e2e'))
      .filter((name) => name.endsWith('.e2e.ts'))
      .map((name) => bin('mocha/bin/mocha.js', '--config', 'test/e2e/mocharc.json', `test/e2e/${name}`)),
    count: countMocha,
  },
  // Last: real runs, killed 30 times or learning until they go wrong, take minutes.
  faults: {
    needs: ['venv'],
    commands: [bin('mocha/bin/mocha.js', '--config', 'test/faults/mocharc.json')],
    count: countMocha,
  },
};

const asked = process.argv.slice(2);
const unknown = asked.filter((tier) => !TIERS[tier]);
if (unknown.length) {
  console.error(`No such tier: ${unknown.join(', ')}. There are: ${Object.keys(TIERS).join(', ')}.`);
  process.exit(2);
}
const tiers = asked.length ? asked : Object.keys(TIERS);
const total = { passed: 0, failed: 0, skipped: 0 };

await ensureDependencies(log);
// What several tiers need is prepared once, and while the first ones already run.
const prepared = {};
for (const need of new Set(tiers.flatMap((tier) => TIERS[tier].needs))) {
  prepared[need] = needs[need]();
  prepared[need].catch(() => {}); // reported by each tier that needs it
}
for (const name of tiers) await runTier(name);
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exit(total.failed ? 1 : 0);

async function runTier(name) {
  const tier = TIERS[name];
  const sum = { passed: 0, failed: 0, skipped: 0 };
  try {
    for (const need of tier.needs) await prepared[need];
    log(`${name} …`);
    for (const [command, args] of tier.commands) {
      const result = await capture(command, args, { echo: true, env: { FORCE_COLOR: '0', NO_COLOR: '1' } });
      const counted = { passed: 0, failed: 0, skipped: 0, ...tier.count(result) };
      // A program that fails without naming a failed test has still failed.
      if (result.code !== 0 && counted.failed === 0) counted.failed = 1;
      for (const key of Object.keys(sum)) sum[key] += counted[key];
    }
  } catch (error) {
    console.error(`${name}: ${error.message}`);
    sum.failed++;
  }
  if (sum.passed + sum.failed === 0) sum.failed = 1; // a tier without a test that ran proves nothing
  for (const key of Object.keys(total)) total[key] += sum[key];
  // Written with colons, so that the only line of the last line's form is the last line.
  log(`${name}: passed ${sum.passed}, failed ${sum.failed}, skipped ${sum.skipped}`);
}

async function build() {
  // Imported late: esbuild is there only after the packages are installed.
  const { build: make, upToDate } = await import('../build.mjs');
  if (!upToDate()) await make();
}

function countMocha({ output }) {
  const last = (word) => Number([...output.matchAll(new RegExp(`^ +(\\d+) ${word}`, 'gm'))].at(-1)?.[1] ?? 0);
  return { passed: last('passing'), failed: last('failing'), skipped: last('pending') };
}

/** `12 passed, 1 failed, 2 skipped`, as pytest and our own runners end. */
function countWords({ output }) {
  const lines = output
    .trim()
    .split('\n')
    .filter((line) => /\d+ (passed|failed|skipped|error)/.test(line));
  const last = (word) => Number(new RegExp(`(\\d+) ${word}`).exec(lines.at(-1) ?? '')?.[1] ?? 0);
  return { passed: last('passed'), failed: last('failed') + last('error'), skipped: last('skipped') };
}
