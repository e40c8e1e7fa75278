/** What a model wrote, as it is shown and as it is said. Control characters never reach the page as such. */

import type { TokenView } from '../../src/core/rehearsal/view.types';
import { printable } from '../../src/core/text';

export { printable };

/** How a token is drawn: words as they are, the rest quietly. */
export type TokenKind = 'word' | 'space' | 'tag' | 'end';

const TAG = /^<\/?[^<>\s]+>$/;

export function kindOf(token: Pick<TokenView, 'text' | 'end'>): TokenKind {
  if (token.text === '') return token.end === 'stop' ? 'end' : 'space';
  if (TAG.test(token.text)) return 'tag';
  return token.text.trim() === '' ? 'space' : 'word';
}

/** A token's text, or what it is called where it has none: an end token, or one that writes nothing. */
export function nameOf({ id, text, alternatives, end }: Omit<TokenView, 'node'>): string {
  if (text !== '') return text;
  const listed = alternatives.find((other) => other.id === id)?.text;
  return listed || (end === 'stop' ? END : unnamed(id));
}

/** As core names the branch of such a token. */
const END = 'end of output';

function unnamed(id: number): string {
  return `<${id}>`;
}

/** A token in the flow of its output: newlines show, and break the line where more follows in the same token. */
export function flowText(token: TokenView): string {
  const text = printable(nameOf(token)).replaceAll('\t', '⇥');
  const visible = kindOf(token) === 'space' ? text.replaceAll(' ', '·') : text;
  return visible.replace(
    /(\n+)([^\n]?)/g,
    (_, newlines: string, next: string) => '↵'.repeat(newlines.length) + (next && `\n${next}`),
  );
}

/** A token alone, in a box: every space shows. */
export function boxText(text: string, id?: number): string {
  if (text === END) return text;
  if (text === '' && id !== undefined) return unnamed(id);
  return printable(text).replaceAll('\t', '⇥').replaceAll('\n', '↵').replaceAll(' ', '␣');
}

const SPOKEN: Record<string, string> = {
  '#': 'hash', '"': 'quote', "'": 'apostrophe', '{': 'left brace', '}': 'right brace', '[': 'left bracket',
  ']': 'right bracket', '(': 'left parenthesis', ')': 'right parenthesis', '<': 'less than', '>': 'greater than',
  ':': 'colon', ';': 'semicolon', ',': 'comma', '.': 'dot', '-': 'dash', _: 'underscore', '/': 'slash',
  '\\': 'backslash', '|': 'bar', '=': 'equals', '+': 'plus', '*': 'star', '&': 'and', '%': 'percent sign',
  $: 'dollar', '@': 'at', '!': 'exclamation mark', '?': 'question mark', '`': 'backtick', '~': 'tilde',
  '^': 'caret', ' ': 'space', '\n': 'new line', '\t': 'tab',
}; // biome-ignore format: a table

/** A token as it is said. Screen readers skip punctuation, so what has no letter is spelled out. */
export function spoken(text: string): string {
  if (text === '') return 'a token without text';
  if (text === END) return 'end of output';
  if (TAG.test(text))
    return `${text.startsWith('</') ? 'end ' : ''}${printable(text)
      .replace(/[<>/|_]+/g, ' ')
      .trim()} tag`;
  if (/[\p{L}\p{N}]/u.test(text)) return printable(text.trim()).replaceAll('\t', ' ');
  return [...text].map((letter) => SPOKEN[letter] ?? printable(letter)).join(' ');
}
