/** How the terminal shows things: colours only where they are wanted, whatever a model wrote as visible text. */
import { escaped, printable } from '../core/text';

export interface Style {
  dim(text: string): string;
  bold(text: string): string;
  act(text: string): string;
  rehearse(text: string): string;
  good(text: string): string;
  bad(text: string): string;
  warn(text: string): string;
}

const PLAIN = (text: string) => text;
const paint = (code: string) => (text: string) => `\x1b[${code}m${text}\x1b[0m`;

export function styleFor(stream: { isTTY?: boolean }): Style {
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env;
  const forced = FORCE_COLOR !== undefined && FORCE_COLOR !== '0';
  const wanted = forced || (stream.isTTY === true && TERM !== 'dumb');
  if (NO_COLOR || !wanted) {
    return { dim: PLAIN, bold: PLAIN, act: PLAIN, rehearse: PLAIN, good: PLAIN, bad: PLAIN, warn: PLAIN };
  }
  return {
    dim: paint('2'),
    bold: paint('1'),
    act: paint('36'),
    rehearse: paint('35'),
    good: paint('32'),
    bad: paint('31'),
    warn: paint('33'),
  };
}

/** Text from outside on one line: line ends and tabs as such, quotes around, so that spaces can be seen. */
export function quoted(text: string): string {
  return `"${escaped(text)}"`;
}

/** Text from outside over several lines, each indented. */
export function indented(text: string, by = '  '): string {
  return printable(text)
    .split('\n')
    .map((line) => by + line)
    .join('\n');
}

/** `98.2 %`, right-aligned; `?` where the server gave no probability. */
export function percent(probability: number | null): string {
  return (probability === null ? '?' : `${(100 * probability).toFixed(1)} %`).padStart(7);
}
