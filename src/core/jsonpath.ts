/** The part of JSONPath (RFC 9535) that environments use: `$.a.b`, `['a b']`, `[0]`, `[-1]`, `[*]`, `.*`. */
import { isObject, type Json } from './json';

export type PathStep = { key: string } | { index: number } | { all: true };

const STEP =
  /\.([\p{L}_$][\p{L}\p{N}_$-]*)|\.(\*)|\[(\*)\]|\[(-?\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/uy;

/** Steps of a path, or null where it is not in this part of JSONPath. The `$` in front may be left out. */
export function parsePath(path: string): PathStep[] | null {
  const text = path.startsWith('$')
    ? path.slice(1)
    : path.startsWith('[') || path.startsWith('.')
      ? path
      : `.${path}`;
  const steps: PathStep[] = [];
  STEP.lastIndex = 0;
  while (STEP.lastIndex < text.length) {
    const found = STEP.exec(text);
    if (!found) return null;
    const [, name, dotAll, all, index, single, double] = found;
    if (dotAll || all) steps.push({ all: true });
    else if (index !== undefined) steps.push({ index: Number(index) });
    else steps.push({ key: name ?? (single ?? double)!.replace(/\\(.)/g, '$1') });
  }
  return steps;
}

/** All values that a path selects, in order; empty where there is none or the path is malformed. */
export function valuesAt(value: Json, path: string): Json[] {
  let found = [value];
  for (const step of parsePath(path) ?? [{ index: Number.NaN }]) {
    found = found.flatMap((item): Json[] => {
      if ('all' in step) return typeof item === 'object' && item !== null ? Object.values(item) : [];
      if ('index' in step) {
        const one = Array.isArray(item) ? item.at(step.index) : undefined;
        return one === undefined || Number.isNaN(step.index) ? [] : [one];
      }
      return isObject(item) && Object.hasOwn(item, step.key) ? [item[step.key]!] : [];
    });
  }
  return found;
}
