/** Reads what a policy wrote in its ACT role: reasoning, calls in the model's own dialect, and the rest. */
import type { Tool } from '../environment/types';
import type { DialectParser } from './dialects/dialect';
import { atLineStart } from './dialects/dialect';
import { hermes } from './dialects/hermes';
import { llama } from './dialects/llama';
import { mistral } from './dialects/mistral';
import { qwenCoder } from './dialects/qwen-coder';
import { leadingReasoning } from './reasoning';
import type { ActItem, ActParse, Dialect } from './types';

const PARSERS: Record<Dialect, DialectParser> = { hermes, llama, mistral, 'qwen-coder': qwenCoder };

const nextThink = atLineStart('<think>');

export interface ActOptions {
  /** The output hit its token limit. */
  cut?: boolean;
  /** The prompt ended in an opened reasoning block, so that the text begins inside it. */
  thinking?: boolean;
  /** Tools on offer; only Qwen-Coder's XML needs them, since it writes every value as text. */
  tools?: readonly Tool[];
}

/**
 * Splits a message into reasoning, content and calls. Never throws. A broken block is a format error for itself
 * alone; nothing inside reasoning is a call; no item means that the message is an answer.
 */
export function parseAct(text: string, dialect: Dialect, options: ActOptions = {}): ActParse {
  const parser = PARSERS[dialect];
  const context = { cut: options.cut ?? false, tools: options.tools ?? [] };
  const lead = leadingReasoning(text, options.thinking ?? false, (from) => {
    const at = parser.next(text, from);
    if (at < 0) return null;
    const block = parser.read(text, at, context);
    return { start: at, end: block.items.every((item) => item.kind === 'call') ? block.end : at + 1 };
  });
  const reasoning = lead.reasoning === null ? [] : [lead.reasoning];
  const items: ActItem[] = [];
  const notes = [...lead.notes];
  const content: string[] = [];
  let think = nextThink(text, lead.end);
  for (let at = lead.end; at < text.length; ) {
    const block = parser.next(text, at);
    if (think >= 0 && think < at) think = nextThink(text, at);
    if (think >= 0 && (block < 0 || think < block)) {
      const close = text.indexOf('</think>', think);
      reasoning.push(text.slice(think + '<think>'.length, close < 0 ? text.length : close).trim());
      content.push(text.slice(at, think));
      at = close < 0 ? text.length : close + '</think>'.length;
    } else if (block >= 0) {
      const read = parser.read(text, block, context);
      content.push(text.slice(at, block));
      items.push(...read.items);
      notes.push(...read.notes);
      at = read.end;
    } else {
      content.push(text.slice(at));
      at = text.length;
    }
  }
  const joined = content
    .map((piece) => piece.trim())
    .filter(Boolean)
    .join('\n');
  const thought = reasoning.length ? reasoning.join('\n') : null;
  notes.push(...remarks(parser, thought, joined, items));
  return { reasoning: thought, content: joined, items, notes };
}

/** What a person should know about a message and the loop does not use. */
function remarks(
  parser: DialectParser,
  reasoning: string | null,
  content: string,
  items: ActItem[],
): string[] {
  const notes: string[] = [];
  if (reasoning !== null && parser.next(reasoning, 0) >= 0) {
    notes.push(
      items.length
        ? 'A call stands in the reasoning as well: mentioned, not executed.'
        : 'A call stands only in the reasoning: it is not executed.',
    );
  }
  if (items.length && /<tool_response>|<execution_result>|\[TOOL_RESULTS\]/.test(content)) {
    notes.push('The message invents a tool response: it is kept as text and never used as one.');
  }
  if ([...content.matchAll(/^[ \t]*<(tool_call)>/gim)].some(([, tag]) => tag !== 'tool_call')) {
    notes.push('A tag like <tool_call> in another case is not a call.');
  } else if (/<tool_call>\s*[{<]/.test(content)) {
    notes.push('A <tool_call> that is not the first thing on its line is not a call.');
  }
  return notes;
}
