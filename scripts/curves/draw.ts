/** The curve of the study as SVG: left the variants with exact rewards, right the run that pleases. */
import { meanOf } from '../../src/core/training/estimate';
import { byTask, type KeptRun } from './kept';
import { VARIANTS } from './tables';

const WIDTH = 1000;
const HEIGHT = 405;
const PANEL = { width: 380, height: 270, top: 70 };
const LEFT = [70, 560] as const;
/** Okabe and Ito's colours, told apart by their dashes too. */
const LOOKS: Record<string, { colour: string; dash: string }> = {
  rehearse: { colour: '#0072b2', dash: '' },
  'rehearse-per-role': { colour: '#b3568a', dash: '2 4' },
  'act-only': { colour: '#d55e00', dash: '8 4' },
  real: { colour: '#00805c', dash: '10 3 2 3' },
};

const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #24292f; }
  .title { font-size: 15px; font-weight: 600; }
  .quiet { fill: #57606a; }
  .card { fill: #ffffff; stroke: #d0d7de; }
  .grid { stroke: #d8dee4; }
  .curve { fill: none; stroke-width: 2.5; }
  .seed { fill: none; stroke-width: 1; opacity: .35; }
  .band { opacity: .13; }`;

interface Series {
  name: string;
  colour: string;
  dash: string;
  /** Of each run. */
  seeds: Point[][];
  mean: Point[];
}
interface Point {
  step: number;
  value: number;
  low?: number;
  high?: number;
}

export function drawStudy(runs: readonly KeptRun[]): string {
  const shop = VARIANTS.flatMap((variant) => {
    const own = runs.filter((run) => run.file === 'shop' && run.variant === variant);
    return own.length ? [successSeries(variant, own, LOOKS[variant]!)] : [];
  });
  const please = runs.filter(({ file }) => file === 'please');
  const seeds = Math.max(
    0,
    ...VARIANTS.map((variant) => runs.filter((run) => run.file === 'shop' && run.variant === variant).length),
  );
  const tasks = runs[0]?.rows.find(({ validation }) => validation)?.validation?.tasks.length ?? 0;
  const right = please.length
    ? [
        successSeries('success on the real tools', please, LOOKS.real!),
        rewardSeries('reward in rehearsal', please, LOOKS['act-only']!),
      ]
    : [];
  const warned = please.flatMap(
    ({ warnings }) => warnings.find(({ code }) => code === 'pleasing')?.step ?? [],
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Success on the real tools while nano-novice trains, for four variants; and a run that learns to please">
<style>${STYLE}</style>
<rect class="card" x="1" y="1" width="${WIDTH - 2}" height="${HEIGHT - 2}" rx="10"/>
${panel({ left: LEFT[0], floor: 0.4, title: 'Success on the real tools', caption: `exact rewards; ${tasks} validation tasks, ${seeds} seeds, 95 % over tasks`, series: shop.map((one) => ({ ...one, seeds: [] })), marks: [] })}
${panel({ left: LEFT[1], floor: 0, title: 'A reward that can be pleased', caption: `${please.length} seeds; upright lines: the warning of each`, series: right, marks: warned })}
</svg>
`;
}

function successSeries(
  name: string,
  runs: readonly KeptRun[],
  look: { colour: string; dash: string },
): Series {
  const of = (run: KeptRun) =>
    run.rows.flatMap(({ step, validation }) => (validation ? { step, value: validation.real } : []));
  const steps = of(runs[0]!).map(({ step }) => step);
  const mean = steps.flatMap((step): Point[] => {
    const found = runs.flatMap(({ rows }) => rows.find((row) => row.step === step)?.validation?.tasks ?? []);
    const estimate = meanOf(byTask(found));
    return estimate ? [{ step, ...estimate }] : [];
  });
  return { name, ...look, seeds: runs.map(of), mean };
}

/** Of a step's few tasks, averaged over five steps. */
function rewardSeries(
  name: string,
  runs: readonly KeptRun[],
  look: { colour: string; dash: string },
): Series {
  const of = ({ rows }: KeptRun) => {
    const some = rows.flatMap(({ step, reward }) => (reward === null ? [] : [{ step, value: reward }]));
    return some.map(({ step }, i) => {
      const window = some.slice(Math.max(0, i - 4), i + 1);
      return { step, value: window.reduce((sum, one) => sum + one.value, 0) / window.length };
    });
  };
  const all = runs.map(of);
  const mean = all[0]!.map(({ step }, i) => {
    const values = all.flatMap((points) => points[i]?.value ?? []);
    return { step, value: values.reduce((sum, one) => sum + one, 0) / values.length };
  });
  return { name, ...look, seeds: all, mean };
}

interface Panel {
  left: number;
  /** Where its axis begins. */
  floor: number;
  title: string;
  caption: string;
  series: readonly Series[];
  marks: readonly number[];
}

function panel({ left, floor, title, caption, series, marks }: Panel): string {
  const last = Math.max(1, ...series.flatMap(({ mean }) => mean.map(({ step }) => step)));
  const x = (step: number) => left + (step / last) * PANEL.width;
  const y = (value: number) => PANEL.top + ((1 - Math.max(floor, value)) / (1 - floor)) * PANEL.height;
  const path = (points: readonly Point[]) =>
    points
      .map(({ step, value }, i) => `${i ? 'L' : 'M'}${x(step).toFixed(1)} ${y(value).toFixed(1)}`)
      .join('');
  const lines = floor ? [0.4, 0.55, 0.7, 0.85, 1] : [0, 0.25, 0.5, 0.75, 1];
  const grid = lines.map(
    (value) =>
      `<path class="grid" d="M${left} ${y(value)}h${PANEL.width}"/><text class="quiet" x="${left - 8}" y="${y(value) + 4}" text-anchor="end">${Math.round(value * 100)} %</text>`,
  );
  const ticks = Array.from({ length: 5 }, (_, i) => Math.round((last * i) / 4)).map(
    (step) =>
      `<text class="quiet" x="${x(step)}" y="${PANEL.top + PANEL.height + 20}" text-anchor="middle">${step}</text>`,
  );
  const curves = series.map(({ colour, dash, seeds, mean }) => {
    const sure = mean.filter(({ low, high }) => low !== undefined && high !== undefined);
    const band = [
      ...sure.map(({ step, high }) => ({ step, value: high! })),
      ...[...sure].reverse().map(({ step, low }) => ({ step, value: low! })),
    ];
    return `${band.length ? `<path class="band" fill="${colour}" d="${path(band)}Z"/>` : ''}
${seeds.map((points) => `<path class="seed" stroke="${colour}" d="${path(points)}"/>`).join('')}
<path class="curve" stroke="${colour}" stroke-dasharray="${dash}" d="${path(mean)}"/>`;
  });
  const legend = series.map(({ name, colour, dash }, i) => {
    const at = PANEL.top + PANEL.height - 14 - 20 * (series.length - 1 - i);
    const from = left + PANEL.width - 205;
    return `<path class="curve" stroke="${colour}" stroke-dasharray="${dash}" d="M${from} ${at}h34"/><text x="${from + 42}" y="${at + 4}">${name}</text>`;
  });
  const warnings = marks.map(
    (step) => `<path stroke="#b3568a" stroke-width="1.5" d="M${x(step)} ${PANEL.top}v${PANEL.height}"/>`,
  );
  return `<text class="title" x="${left}" y="34">${title}</text><text class="quiet" x="${left}" y="53">${caption}</text>
${grid.join('')}${ticks.join('')}
<text class="quiet" x="${left + PANEL.width / 2}" y="${PANEL.top + PANEL.height + 42}" text-anchor="middle">step of training</text>
${warnings.join('')}
${curves.join('\n')}
${legend.join('')}`;
}
