/** What a screen reader hears by itself: stops and ends of outputs, never the stream of tokens. */
import type { EndView, OtherView, TurnView } from '../../src/core/rehearsal/view.types';
import { el } from '../common/dom';
import type { Head } from '../common/messages';
import { nameOf, printable, spoken } from '../common/text';
import type { OutputElement } from './output';

export class Announcer {
  readonly element = el('div', { class: 'sr', role: 'status', 'aria-live': 'polite' });
  private heard = new Set<number>();
  private last = '';
  private pending: string[] = [];

  /** What was there before the panel opened is not news. */
  forget(turns: readonly TurnView[]): void {
    this.heard = new Set(turns.flatMap(observed).map(({ node }) => node));
  }

  /** An output that ended is read once: "REHEARSE: error, Order not found, rehearsed." */
  turn(turn: TurnView): void {
    for (const { node, source, outcome, summary } of observed(turn)) {
      if (this.heard.has(node)) continue;
      this.heard.add(node);
      const who = source === 'rehearsed' ? 'REHEARSE' : 'Observation';
      const text = printable(summary).replace(/^error: /, '');
      this.pending.push(`${who}: ${outcome === 'error' ? 'error, ' : ''}${text}, ${source}.`);
    }
    if (turn.answer !== null && !this.heard.has(-turn.index)) {
      this.heard.add(-turn.index);
      this.pending.push(`Answer: ${printable(turn.answer)}`);
    }
  }

  /** The other answer to a call, once it is there: what it came to, not all of it. */
  other({ source, status, outcome, failure, comparison }: OtherView): void {
    if (status === 'running') return;
    const who = source === 'real' ? 'Real tool' : 'Rehearsed beside';
    const said =
      status === 'failed' ? printable(failure ?? 'failed') : outcome === 'error' ? 'an error' : 'answered';
    const verdict = comparison ? `, ${comparison.verdict}` : '';
    this.element.textContent = `${who}: ${said}${verdict}.`;
  }

  /** "Stopped at turn 3, ACT, token 12: hash." Said once for each stop. */
  head(head: Head, here: { output: OutputElement; place: number } | null, end: EndView | null): void {
    if (head.status === 'running') {
      this.last = '';
      return;
    }
    const key = `${head.status} ${head.cursor} ${head.reason}`;
    if (key === this.last) return;
    this.last = key;
    // An error is said by its alert.
    if (head.status !== 'failed') this.pending.push(stopText(head, here, end));
    this.element.textContent = this.pending.join(' ');
    this.pending = [];
  }
}

function stopText(
  head: Head,
  here: { output: OutputElement; place: number } | null,
  end: EndView | null,
): string {
  if (head.status === 'ended' && end) return `${head.reason}, ${end.success ? 'success' : 'no success'}.`;
  if (!here) return `${head.reason}.`;
  const { output, place } = here;
  const role = output.role === 'act' ? 'ACT' : 'REHEARSE';
  return `Stopped at turn ${output.turn}, ${role}, token ${place + 1}: ${spoken(nameOf(output.tokens[place]!))}.`;
}

function observed(turn: TurnView) {
  return turn.calls.flatMap(({ observation }) => observation ?? []);
}
