/**
 * Writes the corpus as JSON lines: `npx tsx server/nano/corpus/write.ts OUT_DIR [--seed N] [--scale X]`.
 * One file a phase of the training (`copy.jsonl`, …), and `constants.json`: prompt text that the tokenizer holds as one token.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { constants } from './constants';
import { type CorpusOptions, corpus, type Kind } from './corpus';

/** Documents of each file and their shares: copying first, tools that nobody wrote, then everything. */
export const FILES: Record<
  string,
  { documents: number; shares: Partial<Record<Kind, number>>; options?: CorpusOptions }
> = {
  copy: { documents: 24000, shares: { copy: 1 } },
  any: {
    documents: 10000,
    shares: {
      copy: 25,
      'act-any': 45,
      'rehearse-any': 10,
      'act-shop': 10,
      'act-flights': 4,
      'rehearse-shop': 6,
    },
  },
  mixed: {
    documents: 19000,
    shares: {
      copy: 15,
      'act-shop': 24,
      'act-flights': 12,
      'act-any': 24,
      'rehearse-shop': 14,
      'rehearse-flights': 8,
      'rehearse-any': 8,
    },
  },
  novice: {
    documents: 2000,
    shares: {
      'act-novice': 60,
      'act-flights': 10,
      'act-any': 10,
      'rehearse-shop': 14,
      'rehearse-flights': 6,
    },
  },
  // Last: what REHEARSE still gets wrong, and the slip that the first story of the examples is about.
  polish: {
    documents: 7500,
    shares: {
      'act-shop': 16,
      'act-flights': 12,
      'act-any': 16,
      'rehearse-shop': 28,
      'rehearse-flights': 18,
      'rehearse-any': 10,
    },
    options: { slips: 0.25 },
  },
  // Few invented names in what is rehearsed: they are noise, and hid what the history decides.
  consequences: {
    documents: 5500,
    shares: {
      'act-shop': 12,
      'act-flights': 10,
      'act-any': 14,
      'rehearse-shop': 36,
      'rehearse-flights': 22,
      'rehearse-any': 6,
    },
    options: { slips: 0.25, rehearse: 'plain' },
  },
  // Answers of tools that nobody wrote: they had 3 % of the loss before, and after `"status": "` anything could come.
  answers: {
    documents: 1600,
    shares: {
      'act-shop': 10,
      'act-flights': 8,
      'act-any': 18,
      'rehearse-shop': 26,
      'rehearse-flights': 10,
      'rehearse-any': 28,
    },
    options: { slips: 0.25, rehearse: 'plain', calls: 'train', requests: [3, 6] },
  },
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: 'string', default: '1' }, scale: { type: 'string', default: '1' } },
});
const out = positionals[0];
if (!out) throw new Error('usage: write.ts OUT_DIR [--seed N] [--scale X]');
mkdirSync(out, { recursive: true });
writeFileSync(join(out, 'constants.json'), JSON.stringify(constants(), null, 1));
Object.entries(FILES).forEach(([name, { documents, shares, options }], index) => {
  const count = Math.round(documents * Number(values.scale));
  const lines = [...corpus(Number(values.seed) * 1000 + index, count, shares, 'train', options)].map((one) =>
    JSON.stringify(one),
  );
  writeFileSync(join(out, `${name}.jsonl`), `${lines.join('\n')}\n`);
  console.log(`${name}: ${lines.length} documents`);
});
