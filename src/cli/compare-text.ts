/** How `rehearsal compare` shows its results to people. */
import type { Share } from '../core/fidelity/interval';
import type { ModelsSummary } from '../core/fidelity/models';
import { type FidelitySummary, verdictOf } from '../core/fidelity/summary';
import type { Surprise, SurpriseSummary } from '../core/fidelity/surprise';
import { formatJson } from '../core/json';
import { printable } from '../core/text';
import type { PairResult } from '../node/fidelity/compare';
import type { Terminal } from './terminal';

export function printPair(pair: PairResult, { page: { print, style } }: Terminal): void {
  const verdict = verdictOf(pair);
  const mark = { match: style.good('='), tolerable: style.warn('≈'), differs: style.bad('≠') };
  const shown = verdict === null ? style.dim('-') : mark[verdict];
  print(
    `${shown} ${printable(pair.tool)} ${printable(formatJson(pair.arguments))}${pair.source === 'gate' ? style.dim(' (refused by a gate: not counted)') : ''}`,
  );
  for (const { kind, path: where, rehearsed, real, label } of pair.comparison.fields) {
    if (kind === 'match' || kind === 'tolerable') continue;
    const side = (value: typeof real) =>
      value === undefined ? '(absent)' : printable(formatJson(value).slice(0, 200));
    print(
      `    ${printable(where)} ${kind}: rehearsed ${side(rehearsed)}, real ${side(real)}${label ? style.dim(` (${label})`) : ''}`,
    );
  }
}

export function printSummary(
  summary: FidelitySummary,
  surprise: SurpriseSummary | null,
  more: { gated: number; uncompared: number },
  { page: { print, style } }: Terminal,
): void {
  print('');
  print(style.bold(`fidelity ${shareText(summary.fidelity)}`));
  for (const { tool, fidelity, fields } of summary.tools) {
    print(`  ${printable(tool)}  ${shareText(fidelity)}`);
    for (const { field, fidelity: own } of fields) {
      if (own.good < own.n) print(`    ${printable(field)}  ${shareText(own)}`);
    }
  }
  const { recall, precision } = summary.anticipation;
  print(`failures foreseen: ${shareText(recall)}; foreseen failures that were real: ${shareText(precision)}`);
  if (surprise) {
    print(`surprise of the real answers: ${surpriseText(surprise)}`);
    for (const { tool, ...own } of surprise.tools) print(`  ${printable(tool)}  ${surpriseText(own)}`);
    if (surprise.unscored) print(style.warn(`${surprise.unscored} real answers could not be scored`));
  } else if (summary.fidelity.n)
    print(style.dim('no surprise of the real answers: this server cannot score'));
  if (summary.leftOut) print(style.dim(`${summary.leftOut} left out: the real tool is wrong`));
  if (more.gated) print(style.dim(`${more.gated} refused by a gate: not counted`));
  if (more.uncompared) print(style.warn(`${more.uncompared} could not be compared`));
}

function shareText({ share, good, n, low, high }: Share): string {
  const percent = (value: number) => `${(100 * value).toFixed(0)} %`;
  return share === null
    ? 'none'
    : `${percent(share)} (${good} of ${n}; 95 %: ${percent(low)} to ${percent(high)})`;
}

/** Bits a token say how sure this model is; bits a byte can be compared between models. */
function surpriseText({ bitsPerToken, bitsPerByte, tokens }: Surprise): string {
  if (bitsPerToken === null || bitsPerByte === null) return 'none';
  return `${bitsPerToken.toFixed(2)} bits/token, ${bitsPerByte.toFixed(3)} bits/byte (${tokens} tokens)`;
}

/** One table: a row a number, a column a model. */
export function printModels(summary: ModelsSummary, { page: { print, style } }: Terminal): void {
  const perByte = (all: ModelsSummary['surprise']) =>
    all.map((one) => (one?.bitsPerByte == null ? '-' : `${one.bitsPerByte.toFixed(3)} bits/byte`));
  const perToken = (all: ModelsSummary['surprise']) =>
    all.map((one) => (one?.bitsPerToken == null ? '-' : `${one.bitsPerToken.toFixed(2)} bits/token`));
  const { models, calls, fidelity, surprise, anticipation, tools, onlyFirst, onlySecond } = summary;
  const rows = [
    [`${calls} calls`, ...models.map((model) => printable(model))],
    ['fidelity', ...fidelity.map(shareText)],
    ...tools.map(({ tool, fidelity: own }) => [`  ${printable(tool)}`, ...own.map(shareText)]),
    ['surprise', ...perToken(surprise)],
    ['', ...perByte(surprise)],
    ...tools.map(({ tool, surprise: own }) => [`  ${printable(tool)}`, ...perByte(own)]),
    ['failures foreseen', ...anticipation.map(({ recall }) => shareText(recall))],
    ['foreseen that were real', ...anticipation.map(({ precision }) => shareText(precision))],
    ['only this one knows', String(onlyFirst), String(onlySecond)],
  ];
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]!.length)));
  print('');
  for (const [index, row] of rows.entries()) {
    const line = row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd();
    print(index === 0 ? style.bold(line) : line);
  }
}
