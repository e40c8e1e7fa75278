/**
 * The transcript as a read-only text document: what the debugger shows as source. Every token of the branch
 * shown has a place in it, so that the current one can be marked and a breakpoint belongs to an output.
 */
import { printable } from '../text';
import type { SessionView, TokenView } from './view.types';

/** A place of a token, zero-based; a token may span lines. */
export interface TokenPlace {
  node: number;
  line: number;
  column: number;
  endLine: number;
  endColumn: number;
}

export interface OutputPlace {
  turn: number;
  /** Null for ACT. */
  call: number | null;
  /** Line of its heading. */
  line: number;
  /** Last line of its tokens. */
  endLine: number;
}

export interface TranscriptDocument {
  text: string;
  tokens: TokenPlace[];
  outputs: OutputPlace[];
  /** Line of each observation, by the node after which it stands. */
  observations: Map<number, number>;
  /** First line of each turn, by 1-based turn. */
  turns: Map<number, number>;
}

/** Before everything but headings. */
export const INDENT = '  ';

export function transcriptDocument(view: SessionView): TranscriptDocument {
  const page = new Page();
  page.line(`# ${view.task} · ${view.environment} · ${view.model}`);
  page.line('');
  page.line('user');
  page.block(view.instruction);
  for (const turn of view.turns) {
    if (turn.user !== null) {
      page.line('user');
      page.block(turn.user);
    }
    page.turns.set(turn.index, page.at);
    page.output(turn.index, null, `turn ${turn.index} · ACT`, turn.act.tokens);
    for (const note of turn.notes) page.line(`${INDENT}note: ${printable(note)}`);
    for (const call of turn.calls) {
      const title = `turn ${turn.index} · REHEARSE ${printable(call.tool ?? 'not a call')}`;
      if (call.rehearsal) page.output(turn.index, call.index, title, call.rehearsal.tokens);
      const { observation } = call;
      if (!observation) continue;
      if (!call.rehearsal)
        page.line(`turn ${turn.index} · OBSERVATION ${printable(call.tool ?? 'not a call')}`);
      page.observations.set(observation.node, page.at);
      page.line(`${INDENT}${observation.source}: ${printable(observation.summary)}`);
    }
    page.line('');
  }
  if (view.end) {
    const { reward, stop, checks } = view.end;
    page.line(`end · ${stop} · reward ${reward === null ? 'unscored' : reward.toFixed(2)}`);
    for (const check of checks)
      page.line(`${INDENT}${check.verdict}: ${printable(check.title)}. ${printable(check.reason)}`);
  }
  return page.finish();
}

class Page {
  readonly turns = new Map<number, number>();
  readonly observations = new Map<number, number>();
  private readonly lines: string[] = [];
  private readonly tokens: TokenPlace[] = [];
  private readonly outputs: OutputPlace[] = [];

  get at(): number {
    return this.lines.length;
  }

  line(text: string): void {
    this.lines.push(text);
  }

  block(text: string): void {
    for (const line of text.split('\n')) this.line(INDENT + printable(line));
    this.line('');
  }

  output(turn: number, call: number | null, title: string, tokens: readonly TokenView[]): void {
    const heading = this.at;
    this.line(title);
    let current = INDENT;
    for (const token of tokens) {
      const line = this.at;
      const column = current.length;
      const [first, ...rest] = printable(token.text).split('\n');
      current += first;
      for (const more of rest) {
        this.line(current);
        current = INDENT + more;
      }
      this.tokens.push({ node: token.node, line, column, endLine: this.at, endColumn: current.length });
    }
    this.line(current);
    this.outputs.push({ turn, call, line: heading, endLine: this.at - 1 });
  }

  finish(): TranscriptDocument {
    const { tokens, outputs, observations, turns } = this;
    return { text: `${this.lines.join('\n')}\n`, tokens, outputs, observations, turns };
  }
}
