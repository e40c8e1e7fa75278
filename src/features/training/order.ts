/** Training files as they are offered: those that a newcomer wants first, each with what its author says of it. Knows no VS Code. */
import path from 'node:path';
import { parse, visit } from 'jsonc-parser';
import { isObject } from '../../core/json';

const SUFFIX = '.training.json';
const ENVIRONMENT_SUFFIX = '.rehearsal.json';
/** Longer words are the file's own to show. */
const LONGEST = 120;

const MARKS = /\/\/+|\/\*+|\*+\/|\n\s*\*|\s+/g;

export interface Offered {
  /** Absolute path. */
  file: string;
  /** What it says; empty where it cannot be read. */
  text: string;
}

/**
 * Folder by folder; in each those that are called like their environment first (`shop.training.json` of
 * `shop.rehearsal.json`), since variations have other names; else by name.
 */
export function inOrder<F extends Offered>(files: readonly F[]): F[] {
  return files
    .map((one) => ({ one, folder: path.dirname(one.file), rank: isPlain(one) ? 0 : 1 }))
    .sort(
      (a, b) => a.folder.localeCompare(b.folder) || a.rank - b.rank || a.one.file.localeCompare(b.one.file),
    )
    .map(({ one }) => one);
}

function isPlain({ file, text }: Offered): boolean {
  const value: unknown = parse(text);
  const environment = isObject(value) ? value.environment : null;
  return (
    typeof environment === 'string' &&
    path.basename(file, SUFFIX) === path.basename(environment, ENVIRONMENT_SUFFIX)
  );
}

/** The first sentence of the comment that the file begins with; empty where there is none. */
export function aboutOf(text: string): string {
  const comments: string[] = [];
  let isBegun = false;
  visit(text, {
    onComment: (offset, length) => !isBegun && comments.push(text.slice(offset, offset + length)),
    onObjectProperty: () => {
      isBegun = true;
    },
  });
  const whole = comments.join(' ').replace(MARKS, ' ').replace(/ +/g, ' ').trim();
  const sentence = /^.*?[.!?](?=\s|$)/.exec(whole)?.[0] ?? whole;
  return sentence.length > LONGEST ? `${sentence.slice(0, LONGEST - 1)}…` : sentence;
}
