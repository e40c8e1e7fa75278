/** How `rehearsal compare` shows its results to people. */

import type { ComparedCall, ComparisonRecord } from '../core/fidelity/comparison';
import type { Share } from '../core/fidelity/interval';
import type { ModelsSummary } from '../core/fidelity/models';
import type { Difference } from '../core/fidelity/paired';
import { verdictOf } from '../core/fidelity/summary';
import type { Surprise } from '../core/fidelity/surprise';
import { formatJson } from '../core/json';
import { printable } from '../core/text';
import type { Terminal } from './terminal';

export function printPair(pair: ComparedCall, { page: { print, style } }: Terminal): void {
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
  summary: Extract<ComparisonRecord, { type: 'summary' }>,
  { page: { print, style } }: Terminal,
): void {
  const { surprise } = summary;
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
  if (summary.gated) print(style.dim(`${summary.gated} refused by a gate: not counted`));
  if (summary.uncompared) print(style.warn(`${summary.uncompared} could not be compared`));
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
  const { models, calls, fidelity, surprise, anticipation, tools, differences } = summary;
  const others = (of: (one: (typeof differences)[number]) => string) => ['', ...differences.map(of)];
  const rows = [
    [`${calls} calls`, ...models.map((model) => printable(model))],
    ['fidelity', ...fidelity.map(shareText)],
    ...tools.map(({ tool, fidelity: own }) => [`  ${printable(tool)}`, ...own.map(shareText)]),
    ['surprise', ...perToken(surprise)],
    ['', ...perByte(surprise)],
    ...tools.map(({ tool, surprise: own }) => [`  ${printable(tool)}`, ...perByte(own)]),
    ['failures foreseen', ...anticipation.map(({ recall }) => shareText(recall))],
    ['foreseen that were real', ...anticipation.map(({ precision }) => shareText(precision))],
    ['against the first:', ...others(() => '')],
    ['  fidelity', ...others((one) => differenceText(one.fidelity, 100, 0, ' points'))],
    ['  bits/byte', ...others((one) => differenceText(one.bitsPerByte, 1, 3, ''))],
    ['  only this one knows', ...others(({ onlyThis }) => String(onlyThis))],
    ['  only the first knows', ...others(({ onlyFirst }) => String(onlyFirst))],
  ];
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  print('');
  for (const [index, row] of rows.entries()) {
    const line = row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd();
    print(index === 0 ? style.bold(line) : line);
  }
}

/** "+12 points (95 %: −3 to +27)" */
function differenceText(difference: Difference | null, scale: number, digits: number, unit: string): string {
  if (!difference) return '-';
  const signed = (value: number) => {
    const text = Math.abs(value * scale).toFixed(digits);
    return Number(text) === 0 ? text : `${value < 0 ? '-' : '+'}${text}`;
  };
  const { value, low, high } = difference;
  return `${signed(value)}${unit} (95 %: ${signed(low)} to ${signed(high)})`;
}
