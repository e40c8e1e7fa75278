/** JSONPath (RFC 9535) as environments use it: in `ignore`, in tolerances, in checks on results. No eval. */
import { compile, type JSONPathQuery } from 'json-p3';
import type { Json } from './json';

/** Member names and list indexes from the root to a place. */
export type Location = readonly (string | number)[];

const KEPT = 512;
const compiled = new Map<string, JSONPathQuery | null>();

/** A path ready to use, or null where it is malformed. The `$` in front may be left out. */
function queryOf(path: string): JSONPathQuery | null {
  const known = compiled.get(path);
  if (known !== undefined) return known;
  if (compiled.size >= KEPT) compiled.clear();
  const text = path.startsWith('$') ? path : /^[[.]/.test(path) ? `$${path}` : `$.${path}`;
  let query: JSONPathQuery | null = null;
  try {
    query = compile(text);
  } catch {
    // What is wrong with it is said by the linter, at the place where it is written.
  }
  compiled.set(path, query);
  return query;
}

export function isPath(path: string): boolean {
  return queryOf(path) !== null;
}

/** Every place that a path selects, in order; none where it is malformed. */
export function locationsAt(value: Json, path: string): { location: Location; value: Json }[] {
  try {
    const nodes = queryOf(path)?.query(value).nodes ?? [];
    return nodes.map((node) => ({ location: node.location, value: node.value as Json }));
  } catch {
    return []; // a filter that recurses too deep selects nothing
  }
}

/** All values that a path selects, in order; empty where there is none or the path is malformed. */
export function valuesAt(value: Json, path: string): Json[] {
  return locationsAt(value, path).map((node) => node.value);
}

const PLAIN = /^[\p{L}_][\p{L}\p{N}_]*$/u;

/** One more step of a path as people read it: `.name`, `['a name']`, `[0]`. */
export function pathStep(step: string | number): string {
  if (typeof step === 'number') return `[${step}]`;
  return PLAIN.test(step) ? `.${step}` : `['${escaped(step)}']`;
}

/** RFC 9535 normalized paths escape the quote, the backslash and control characters. */
function escaped(name: string): string {
  return JSON.stringify(name).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'");
}

export function pathText(location: Location): string {
  return `$${location.map(pathStep).join('')}`;
}

const STEPS = /\.([\p{L}_][\p{L}\p{N}_]*)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]/gu;

/** The steps of a path that `pathText` wrote; of a list's items (`[*]`) only those before it. */
export function pathLocation(text: string): Location {
  const location: (string | number)[] = [];
  let at = 1;
  for (const match of text.matchAll(STEPS)) {
    if (match.index !== at) break;
    at += match[0].length;
    const [, plain, index, quoted] = match;
    if (plain !== undefined) location.push(plain);
    else if (index !== undefined) location.push(Number(index));
    else location.push(unescaped(quoted!));
  }
  return location;
}

function unescaped(name: string): string {
  return JSON.parse(`"${name.replaceAll("\\'", "'").replaceAll('"', '\\"')}"`) as string;
}
