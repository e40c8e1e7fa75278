/** A rehearsal in the terminal: a line a token, then what the gates, the tools and the checks said. */
import { formatJson } from '../core/json';
import type { Setup } from '../core/rehearsal/types';
import type { CheckView } from '../core/rehearsal/view.types';
import { printable } from '../core/text';
import type { StepEvent, TokenEvent } from './events';
import { indented, percent, quoted, type Style } from './style';

export interface Page {
  print(line: string): void;
  style: Style;
}

const SHOWN_ALTERNATIVES = 4;
/** What would read as 0.0 % says nothing; where it can be chosen, it is shown all the same. */
const LEAST_SHOWN = 0.0005;
const MARKS: { [verdict in CheckView['verdict']]: string } = {
  holds: '✓',
  fails: '✗',
  'left out': '–',
  unscored: '?',
};

export function printStart({ environment, task, policy, options }: Setup, { print, style }: Page): void {
  const { temperature, seed } = options;
  print(style.bold(`${printable(environment.name)} · ${printable(task.id)} · ${printable(policy.model)}`));
  print(style.dim(`${policy.tier}, temperature ${temperature}, seed ${seed}`));
  print('');
  print('user');
  print(indented(task.instruction));
}

/** Prints events one after the other; a heading stands before the first token of each output. */
export class TranscriptPrinter {
  private heading = '';

  constructor(
    private readonly page: Page,
    /** Alternatives get their numbers, to be chosen by. */
    private readonly numbered = false,
  ) {}

  show(event: StepEvent): void {
    if (event.type === 'token') this.token(event);
    else if (event.type === 'end') this.end(event);
    else for (const line of this.lines(event)) this.page.print(line);
  }

  private lines(event: Exclude<StepEvent, { type: 'token' | 'end' }>): string[] {
    const { style } = this.page;
    switch (event.type) {
      case 'user':
        return ['', 'user', indented(event.text)];
      case 'note':
        return [style.warn(`  note: ${printable(event.text)}`)];
      case 'answer':
        return [`  ${style.bold('answer')}`, indented(event.text, '    ')];
      case 'call': {
        const text = printable(event.text).replaceAll('\n', '\\n');
        return [`  ${style.bold('call')}   ${text}`, `  gates  ${this.gates(event)}`];
      }
      case 'observation': {
        const colour = event.outcome === 'error' ? style.bad : style.good;
        const text = printable(formatJson(event.value));
        const shown = `  ${style.bold(event.source.padEnd(9))} ${colour(event.outcome)} ${text}`;
        return event.raw === undefined ? [shown] : [shown, `  it wrote  ${quoted(event.raw)}`];
      }
    }
  }

  /** The next token stands under a heading of its own again, as after a jump. */
  newHeading(): void {
    this.heading = '';
  }

  private token(event: TokenEvent): void {
    const { print, style } = this.page;
    const colour = event.role === 'act' ? style.act : style.rehearse;
    const heading = `turn ${event.turn} · ${event.role === 'act' ? 'ACT' : `REHEARSE call ${(event.call ?? 0) + 1}`}`;
    if (heading !== this.heading) {
      print('');
      print(colour(heading));
      this.heading = heading;
    }
    const what = event.end === 'stop' && event.text === '' ? '(end)' : quoted(event.text);
    const origin = event.origin === 'sampled' ? '' : style.warn(` ${event.origin}`);
    const cut = event.end === 'length' ? style.warn(' limit reached') : '';
    print(
      `  ${percent(event.probability)}  ${what.padEnd(28)}${origin}${cut} ${style.dim(this.alternatives(event))}`,
    );
  }

  private alternatives({ id, alternatives }: TokenEvent): string {
    return alternatives
      .map((other, index) => ({ ...other, index }))
      .filter((other) => other.id !== id && (this.numbered || other.probability >= LEAST_SHOWN))
      .slice(0, SHOWN_ALTERNATIVES)
      .map(({ text, probability, index }) => {
        const number = this.numbered ? `${index + 1}:` : '';
        return `${number}${quoted(text)} ${percent(probability).trim()}`;
      })
      .join('  ');
  }

  /** Gates are asked in this order; the first that fails answers. */
  private gates({ gate, gatesChecked }: Extract<StepEvent, { type: 'call' }>): string {
    const { style } = this.page;
    if (!gatesChecked) return style.dim('left to the policy');
    const names = ['format', 'whitelist', 'schema'];
    const failed = gate
      ? ['INVALID_TOOL_CALL_FORMAT', 'TOOL_NOT_AVAILABLE', 'INVALID_PARAMETERS'].indexOf(gate.code)
      : 3;
    const shown = names
      .slice(0, failed + 1)
      .map((name, i) => (i < failed ? style.good(`${name} ✓`) : style.bad(`${name} ✗`)));
    return shown.join('  ') + (gate ? `  ${gate.code}: ${printable(gate.message)}` : '');
  }

  private end({ stop, message, reward, success, checks }: Extract<StepEvent, { type: 'end' }>): void {
    const { print, style } = this.page;
    this.heading = '';
    print('');
    print(style.bold(`end: ${stop}`) + (message ? ` (${printable(message)})` : ''));
    for (const check of checks) {
      const colour = { holds: style.good, fails: style.bad, 'left out': style.dim, unscored: style.warn }[
        check.verdict
      ];
      const turn = check.turn === undefined ? '' : style.dim(` (turn ${check.turn})`);
      print(`  ${colour(MARKS[check.verdict])} ${printable(check.title)}${turn}`);
      if (check.verdict !== 'holds') print(style.dim(`    ${printable(check.reason)}`));
    }
    const value = reward === null ? 'unscored' : reward.toFixed(2);
    print(`reward ${success ? style.good(value) : style.bad(value)}`);
  }
}
