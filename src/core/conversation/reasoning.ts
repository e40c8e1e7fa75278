/** Reasoning at the head of a model's output: `<think>…</think>`, Mistral's `[THINK]…[/THINK]`, or without the first tag. */

import { atLineStart } from './dialects/dialect';

const TAGS = [
  ['<think>', '</think>'],
  ['[THINK]', '[/THINK]'],
] as const;

export interface Lead {
  reasoning: string | null;
  /** Where what follows the reasoning begins. */
  end: number;
  notes: string[];
}

interface Span {
  start: number;
  end: number;
}

/**
 * Splits off the reasoning that a text begins with. Templates often write the opening tag into the prompt, so a
 * closing tag alone ends it too, unless it stands inside a call (`nextCall` tells where calls are).
 * @param thinking the prompt ended in an opened block: without a closing tag, all of the text is reasoning
 */
export function leadingReasoning(
  text: string,
  thinking: boolean,
  nextCall: (from: number) => Span | null,
): Lead {
  const start = text.search(/\S|$/);
  for (const [open, close] of TAGS) {
    if (text.startsWith(open, start))
      return until(text, start + open.length, text.indexOf(close, start), close);
  }
  for (const [open, close] of TAGS) {
    const end = thinking ? text.indexOf(close) : closingOutsideCalls(text, open, close, nextCall);
    if (end >= 0) return until(text, 0, end, close);
  }
  return thinking ? until(text, 0, -1, '') : { reasoning: null, end: 0, notes: [] };
}

function until(text: string, from: number, close: number, tag: string): Lead {
  if (close >= 0) return { reasoning: text.slice(from, close).trim(), end: close + tag.length, notes: [] };
  return { reasoning: text.slice(from).trim(), end: text.length, notes: ['The reasoning never ends.'] };
}

/** A complete call ahead of the tag is drafted reasoning; a tag within a call is text of that call. */
function closingOutsideCalls(
  text: string,
  open: string,
  close: string,
  nextCall: (from: number) => Span | null,
): number {
  let from = 0;
  for (let at = text.indexOf(close); at >= 0; at = text.indexOf(close, at + close.length)) {
    let call = nextCall(from);
    while (call && call.end <= at) {
      from = call.end;
      call = nextCall(from);
    }
    if (!call || call.start > at) return opensLater(text, open, at) ? -1 : at;
  }
  return -1;
}

/** Reasoning that begins further down: its closing tag ends that, and not the head of the text. */
function opensLater(text: string, open: string, before: number): boolean {
  return atLineStart(open)(text.slice(0, before), 0) >= 0;
}
