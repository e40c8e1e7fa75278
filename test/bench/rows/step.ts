/** What a step of one token costs a person, over HTTP through the runner, with everything before it cached. */
import { type Bench, median, type Row } from '../row';
import { type BenchServer, randomModel, serverFor } from '../server';

const REPETITIONS = 5;
/** Three processes compile what they run often: client and runner are at their speed after some 150 steps. */
const WARM_REPETITIONS = 4;
const STEPS = 40;
const WARM_UP = 3;
/** What HTTP and two processes may cost; the rest of a step is to be the engine's own time. */
const ALLOWED_SECONDS = 0.005;

export const stepRows: Row[] = [
  {
    id: 'step-4000',
    what: 'a step of one token at a context of 4,000, less 5 ms, ÷ the engine’s own time for it',
    unit: '×',
    goal: 1.15,
    better: 'lower',
    peer: 'the engine’s own token time (busy seconds in /metrics)',
    async measure(bench) {
      const server = await serverOf(bench);
      return repeat(async (repetition) => {
        const [{ seconds, busy }] = (await steps(server, [4000], 100 + repetition)) as [Step];
        bench.log(`step-4000: ${milliseconds(seconds)} a step, of these the engine ${milliseconds(busy)}`);
        return (seconds - ALLOWED_SECONDS) / busy;
      });
    },
  },
  {
    id: 'step-growth',
    what: 'a step of one token at a context of 4,000 ÷ one of 500',
    unit: '×',
    goal: 1.3,
    better: 'lower',
    peer: 'the same step at a context of 500',
    async measure(bench) {
      const server = await serverOf(bench);
      return repeat(async (repetition) => {
        const [short, long] = (await steps(server, [500, 4000], 200 + repetition)) as [Step, Step];
        bench.log(`step-growth: ${milliseconds(long.seconds)} ÷ ${milliseconds(short.seconds)}`);
        return long.seconds / short.seconds;
      });
    },
  },
];

async function serverOf(bench: Bench): Promise<BenchServer> {
  return serverFor(bench, 'random', await randomModel(bench));
}

/** The first repetitions, in which programs still compile themselves, are not counted. */
async function repeat(measure: (repetition: number) => Promise<number>): Promise<number[]> {
  const values: number[] = [];
  for (let i = 0; i < WARM_REPETITIONS; i++) await measure(REPETITIONS + i);
  for (let repetition = 0; repetition < REPETITIONS; repetition++) values.push(await measure(repetition));
  return values;
}

interface Step {
  seconds: number;
  /** Seconds that the engine worked for it. */
  busy: number;
}

/**
 * A step at each of these contexts: medians over many steps in a row, since a machine that does something else for
 * a moment would decide a mean. The contexts take turns, so that a slow moment meets all of them.
 */
async function steps({ policy, counter }: BenchServer, contexts: number[], seed: number): Promise<Step[]> {
  // Each repetition has a text of its own: nothing that another one sampled is in the cache.
  const prompts = contexts.map((context) =>
    Array.from({ length: context - WARM_UP }, (_, i) => 20 + ((i * 7919 + context + 31 * seed) % 200)),
  );
  const sampling = { temperature: 1, topP: 1, topK: -1, minP: 0 };
  const step = async (prompt: number[]): Promise<Step> => {
    const before = await counter('busy_seconds_total');
    const started = performance.now();
    const request = { prompt, maxTokens: 1, seed, alternatives: 5, priority: 0, ...sampling };
    for await (const token of policy.sample(request)) prompt.push(token.id);
    const seconds = (performance.now() - started) / 1000;
    return { seconds, busy: (await counter('busy_seconds_total')) - before };
  };
  // The first step computes the prompt.
  for (let i = 0; i < WARM_UP; i++) for (const prompt of prompts) await step(prompt);
  const taken: Step[][] = contexts.map(() => []);
  for (let i = 0; i < STEPS; i++) {
    for (const [which, prompt] of prompts.entries()) taken[which]!.push(await step(prompt));
  }
  return taken.map((all) => ({
    seconds: median(all.map((s) => s.seconds)),
    busy: median(all.map((s) => s.busy)),
  }));
}

function milliseconds(seconds: number): string {
  return `${(seconds * 1000).toFixed(1)} ms`;
}
