/** The real tools: calls a second, comparisons at once, and an answer of 10 MB. */
import fs from 'node:fs';
import path from 'node:path';
import type { Environment } from '../../../src/core/environment/types';
import { MAX_SHOWN } from '../../../src/core/rehearsal/view';
import { usableEnvironment } from '../../../src/node/environments';
import { compareTargets } from '../../../src/node/fidelity/compare';
import { createExecutor, type Executor } from '../../../src/node/tools';
import { valueOfText } from '../../../src/node/tools/calls';
import { writeWhole } from '../../../src/node/tools/whole';
import { launchBrowser } from '../../harness/workbench';
import { openPanel } from '../../webview/open';
import { beside } from '../../webview/real';
import { Story } from '../../webview/story';
import type { Bench, Row } from '../row';
import { type BenchServer, NANO, nanoModel, serverFor, USABLE, usableModel } from '../server';

const REPETITIONS = 3;
const SESSIONS = 8;
const CALLS = 1000;
const AT_ONCE = 16;
const SHOWN = MAX_SHOWN;

async function shop({ root }: Bench): Promise<{ environment: Environment; executor: Executor }> {
  const folder = path.join(root, 'examples/shop');
  const environment = await usableEnvironment(path.join(folder, 'shop.rehearsal.json'));
  return { environment, executor: createExecutor({ environment, folder }) };
}

export const toolRows: Row[] = [
  {
    id: 'module-calls',
    what: `calls a second of a tool module, ${SESSIONS} sessions at once (the shop's)`,
    unit: '/s',
    goal: 2000,
    better: 'higher',
    peer: 'none: a floor of ours',
    async measure(bench) {
      const { executor } = await shop(bench);
      try {
        const sessions = await Promise.all(Array.from({ length: SESSIONS }, () => executor.open()));
        const call = { tool: 'get_order', arguments: { order_id: '#W4284542' } };
        const run = async (calls: number) => {
          const started = performance.now();
          await Promise.all(
            sessions.map(async (session) => {
              for (let i = 0; i < calls; i++) {
                const { outcome } = await session.execute(call);
                if (outcome !== 'result') throw new Error('the shop did not answer');
              }
            }),
          );
          return (SESSIONS * calls * 1000) / (performance.now() - started);
        };
        await run(100);
        const values: number[] = [];
        for (let i = 0; i < REPETITIONS; i++) values.push(await run(CALLS));
        return values;
      } finally {
        await executor.close();
      }
    },
  },
  compareRow('compare-100', USABLE, async (bench) =>
    serverFor(bench, 'usable', await usableModel(bench, 'nano')),
  ),
  compareRow('compare-100-nano', NANO, (bench) => serverFor(bench, 'nano', nanoModel(bench, 'nano'))),
  {
    id: 'answer-10mb',
    what: 'an answer of 10 MB, from its text to its beginning drawn in the session panel; it is opened whole',
    unit: 'ms',
    goal: 300,
    better: 'lower',
    peer: 'none: a bound of ours',
    async measure(bench) {
      const item = { id: 12345, text: 'x'.repeat(80), tags: ['a', 'b'] };
      const value = { items: Array.from({ length: 80_000 }, () => item) };
      const raw = JSON.stringify(value);
      const folder = path.join(bench.scratch, 'answers');
      const values: number[] = [];
      const browser = await launchBrowser();
      try {
        const story = await new Story().end();
        const panel = await openPanel(browser);
        await panel.send({ type: 'session', view: story.view(), head: story.head() });
        for (let i = 0; i < REPETITIONS; i++) {
          const started = performance.now();
          const value = valueOfText(raw);
          // Another duration each time, or nothing would have to be drawn.
          await panel.send(beside(story, 3, { answer: { outcome: 'result', value }, raw, durationMs: i }));
          values.push(performance.now() - started);
          const shown = await panel.page.locator('.out.other .json').first().innerText();
          fs.rmSync(folder, { recursive: true, force: true });
          const file = await writeWhole(folder, { value, raw });
          if (shown.length < SHOWN / 2 || fs.statSync(file).size !== raw.length) throw new Error('not shown');
        }
      } finally {
        await browser.close();
      }
      return values;
    },
  },
];

/** On a model of a usable size, or on nano. */
function compareRow(id: string, model: string, server: (bench: Bench) => Promise<BenchServer>): Row {
  return {
    id,
    what: `calls compared a second, ${AT_ONCE} at once ÷ one at a time (${model}, the shop's records)`,
    unit: '×',
    goal: 4,
    better: 'higher',
    peer: 'the same comparison one call at a time',
    measure: async (bench) => ratios(bench, id, await server(bench)),
  };
}

async function ratios(bench: Bench, id: string, server: BenchServer): Promise<number[]> {
  await compared(bench, server, AT_ONCE, AT_ONCE, 99);
  const values: number[] = [];
  for (let i = 0; i < REPETITIONS; i++) {
    const one = await compared(bench, server, 16, 1, 2 * i);
    const many = await compared(bench, server, 100, AT_ONCE, 2 * i + 1);
    bench.log(`${id}: ${many.toFixed(2)} ÷ ${one.toFixed(2)} calls/s`);
    values.push(many / one);
  }
  return values;
}

/** Calls a second over `count` records of the shop, `concurrency` at a time. */
async function compared(
  bench: Bench,
  { policy }: BenchServer,
  count: number,
  concurrency: number,
  seed: number,
): Promise<number> {
  const { environment, executor } = await shop(bench);
  // Held out, so that every prompt has the same beginning on both sides.
  const examples = environment.examples.map((example) => ({ ...example, part: 'held-out' as const }));
  const targets = Array.from({ length: count }, (_, i) => ({
    kind: 'call' as const,
    example: examples[i % examples.length]!,
  }));
  let done = 0;
  try {
    const started = performance.now();
    await compareTargets(targets, {
      environment: { ...environment, examples },
      policy,
      executor,
      sampling: { temperature: 1, topP: 1, topK: -1, minP: 0, seed, alternatives: 0 },
      concurrency,
      onPair: () => done++,
      onUncompared: ({ reason }) => {
        throw new Error(reason);
      },
    });
    if (done !== count) throw new Error(`${done} of ${count} calls were compared`);
    return (count * 1000) / (performance.now() - started);
  } finally {
    await executor.close();
  }
}
