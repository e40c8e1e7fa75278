/**
 * Evaluates a checkpoint on held-out names, ids and databases made from a seed:
 * `npx tsx server/nano/evaluate.ts [CHECKPOINT] [--seed N] [--count N] [--temperature T] [--python PATH] [--show N]`.
 * Prints the figures as JSON; `--show` prints some of the ACT cases that went wrong.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { actOnRealTools, unseenTools } from './evaluation/act';
import { Model } from './evaluation/model';
import { rehearseOn } from './evaluation/rehearse';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const ownPython = here('../../.venv/bin/python');
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '200' },
    temperature: { type: 'string', default: '0' },
    python: { type: 'string', default: existsSync(ownPython) ? ownPython : 'python3' },
    show: { type: 'string', default: '0' },
  },
});
const checkpoint = positionals[0] ?? here('models/nano');
const seed = Number(values.seed);
const count = Number(values.count);
const show = Number(values.show);
// Seeds of the evaluation never meet those of the corpus, which begin at 1000.
const at = (offset: number) => seed * 7919 + 2 ** 30 + offset;

const model = new Model(values.python, checkpoint, Number(values.temperature), seed);
const rounded = (value: unknown) =>
  JSON.parse(JSON.stringify(value, (_, v) => (typeof v === 'number' ? Math.round(v * 1000) / 1000 : v)));
const print = (name: string, figures: unknown) => console.log(`${name}: ${JSON.stringify(rounded(figures))}`);
try {
  for (const [name, each] of [
    ['shop', Math.ceil(count / 6)],
    ['flights', Math.ceil(count / 8)],
  ] as const) {
    const { figures, failures } = await actOnRealTools(model, name, each, at(name.length));
    print(`act ${name}`, figures);
    for (const failure of failures.slice(0, show)) console.log(failure);
  }
  const { judged, ...unseen } = await unseenTools(model, count, at(3));
  print('act unseen tools', unseen);
  for (const one of judged.filter((each) => !each.exact).slice(0, show))
    console.log(`  ${one.request} → ${one.text}`);
  print('rehearse shop', await rehearseOn(model, 'shop', count, at(4)));
  print('rehearse flights', await rehearseOn(model, 'flights', Math.ceil(count / 2), at(5)));
  print('rehearse unseen tools', await rehearseOn(model, 'any', Math.ceil(count / 2), at(6)));
} finally {
  model.close();
}
