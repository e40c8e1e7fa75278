/** What a form of tool calls has to say; `../parse.ts` walks the message and splits off reasoning. */
import type { Tool } from '../../environment/types';
import { isObject, type Json } from '../../json';
import { fieldText, hasDuplicateKey, parseStrict } from '../../json-text';
import type { ActItem } from '../types';

export interface Context {
  /** The output hit its token limit: an unfinished block was cut off. */
  cut: boolean;
  /** Tools on offer: Qwen-Coder's XML has no types of its own. */
  tools: readonly Tool[];
}

export interface Block {
  /** Where the block ends (exclusive). */
  end: number;
  items: ActItem[];
  notes: string[];
}

export interface DialectParser {
  /** Start of the next block at or after `from`, or −1. What stands right at `from` counts as the first on its line. */
  next(text: string, from: number): number;
  /** Reads the block at `at`. Must end after `at`. Never throws. */
  read(text: string, at: number, context: Context): Block;
}

/** Finds the next of some tags that is the first thing on its line: its position at or after `from`, or −1. */
export function atLineStart(...tags: string[]): (text: string, from: number) => number {
  const any = new RegExp(tags.map((tag) => tag.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|'), 'g');
  return (text, from) => {
    any.lastIndex = from;
    for (let found = any.exec(text); found; found = any.exec(text)) {
      let before = found.index;
      while (before > from && (text[before - 1] === ' ' || text[before - 1] === '\t')) before--;
      if (before === from || text[before - 1] === '\n' || text[before - 1] === '\r') return found.index;
    }
    return -1;
  };
}

export function formatError(reason: string, text: string): ActItem {
  return { kind: 'format_error', reason, text };
}

/** Why a block that runs to the end of the message has no end. */
export function unfinished(context: Context, missing: string, text: string): ActItem {
  return formatError(
    context.cut ? `cut off at the output limit: ${missing} missing` : `${missing} missing`,
    text,
  );
}

/** One call as a JSON object with its name and, under the first of `keys` that is there, its arguments. */
export function readCallObject(text: string, keys: readonly string[], notes: string[]): ActItem {
  const parsed = parseStrict(text);
  if (!parsed.ok) return formatError(parsed.reason, text);
  const value = parsed.value;
  if (Array.isArray(value)) return formatError('one call object per block, got an array', text);
  if (!isObject(value)) return formatError(`a call is a JSON object, got ${typeOf(value)}`, text);
  if (!Object.hasOwn(value, 'name')) return formatError('name missing', text);
  const name = value.name;
  if (typeof name !== 'string') return formatError(`name is not a string but ${typeOf(name!)}`, text);
  if (!name.trim()) return formatError('name is empty', text);
  const key = keys.find((candidate) => Object.hasOwn(value, candidate));
  if (key === undefined) return formatError(argumentsMissing(Object.keys(value), keys[0]!), text);
  if (hasDuplicateKey(text)) notes.push(`A key stands twice in the call of ${name}; the last one counts.`);
  const others = Object.keys(value).filter((other) => other !== 'name' && other !== key);
  if (others.length) notes.push(`Other keys in the call of ${name} were ignored: ${others.join(', ')}.`);
  const args = value[key]!;
  if (typeof args === 'string' && args.trim()) {
    notes.push(`The arguments of ${name} are a string, not an object.`);
  }
  return { kind: 'call', call: { name, arguments: args, argumentsText: fieldText(text, key) ?? '' } };
}

function argumentsMissing(found: string[], key: string): string {
  const near = found.find((other) => /^(arguments|args|parameters|params|input|kwargs)$/i.test(other));
  return near ? `${key} missing; found ${near}` : `${key} missing`;
}

export function typeOf(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
