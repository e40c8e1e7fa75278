/**
 * The training study of `docs/training-results.md`: reads finished runs, keeps what is needed of them under
 * `docs/training-results`, and makes the tables and the curve anew.
 *
 *     rehearsal train examples/shop/shop.training.json --allow cancel_order --allow change_address \
 *       --variants rehearse,rehearse-per-role,act-only,real --seeds 1,2,3
 *     rehearsal train examples/shop/please.training.json --allow cancel_order --allow change_address --seeds 1,2,3
 *     npm run curves -- ~/.rehearsal-studio/runs
 *
 * Without a folder it draws from what is kept.
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { RunReader, runIds } from '../src/node/runs/reader';
import { drawStudy } from './curves/draw';
import { type KeptRun, keptOf } from './curves/kept';
import { tables } from './curves/tables';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const KEPT = path.join(ROOT, 'docs/training-results');
const PAGE = path.join(ROOT, 'docs/training-results.md');
const IMAGE = path.join(ROOT, 'docs/images/training');
const NAMES =
  /^(shop|please|please-replay|please-reuse)-(rehearse|rehearse-per-role|act-only|real)-seed-\d+$/;

function keep(folder: string): void {
  fs.mkdirSync(KEPT, { recursive: true });
  for (const id of runIds(folder)) {
    const reader = new RunReader(folder, id);
    const { name, state } = reader.status;
    if (!NAMES.test(name) || state !== 'done') continue;
    const run = keptOf(reader.config, reader.status, reader.metrics());
    fs.writeFileSync(path.join(KEPT, `${name}.json`), textOf(run));
    console.log(`kept ${name}`);
  }
}

/** A step a line. */
function textOf({ rows, ...run }: KeptRun): string {
  const lines = rows.map((row) => `  ${JSON.stringify(row)}`).join(',\n');
  return `${JSON.stringify(run, null, 1).slice(0, -2)},\n "rows": [\n${lines}\n ]\n}\n`;
}

function kept(): KeptRun[] {
  return fs
    .readdirSync(KEPT)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => JSON.parse(fs.readFileSync(path.join(KEPT, file), 'utf8')) as KeptRun);
}

/** As PNG too, since the marketplace shows no SVG. */
function picture(): void {
  const size = ['--window-size=1000,405', '--force-device-scale-factor=2', '--hide-scrollbars'];
  const args = ['--headless', '--no-sandbox', '--default-background-color=00000000', ...size];
  const done = spawnSync('chromium', [...args, `--screenshot=${IMAGE}.png`, `file://${IMAGE}.svg`]);
  if (done.status !== 0) console.log('training.png is as it was: there is no chromium to draw it.');
}

for (const folder of process.argv.slice(2)) keep(path.resolve(folder));
const runs = kept();
fs.writeFileSync(`${IMAGE}.svg`, drawStudy(runs));
picture();
let page = fs.readFileSync(PAGE, 'utf8');
for (const [name, text] of Object.entries(tables(runs))) {
  const place = new RegExp(`(<!-- ${name} -->\n)[^]*?(<!-- /${name} -->)`);
  page = page.replace(place, (_, open: string, close: string) => `${open}${text}${close}`);
}
fs.writeFileSync(PAGE, page);
