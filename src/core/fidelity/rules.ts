/** The author's `ignore` and `tolerances` at the places of one pair of answers. */
import { isObject, type Json } from '../json';
import { locationsAt, pathText } from '../jsonpath';
import { jsonInside } from './answers';
import { numberOf } from './labels';
import { timeOf } from './times';
import type { Rules, Tolerance } from './types';

export const NO_RULES: Rules = { ignore: [], tolerances: [] };

/** Evaluates paths only where a difference asks for them: most pairs have none. */
export class PlacedRules {
  private ignored: Set<string> | null = null;
  private tolerances: Map<string, Tolerance[]> | null = null;
  /** Whether the alignment of some list is the author's. */
  readonly alignsLists: boolean;

  constructor(
    private readonly rules: Rules,
    private readonly rehearsed: Json,
    private readonly real: Json,
  ) {
    this.alignsLists = rules.tolerances.some((tolerance) => tolerance.list !== undefined);
  }

  /** Whether the author ignores this place, or one above it. */
  ignores(path: string, rehearsedPath: string): boolean {
    if (this.rules.ignore.length === 0) return false;
    this.ignored ??= new Set(this.rules.ignore.flatMap((rule) => this.placesOf(rule)));
    for (const above of this.ignored) if (isAt(path, above) || isAt(rehearsedPath, above)) return true;
    return false;
  }

  /** How a list is aligned where the author says so. */
  listAt(path: string, rehearsedPath: string): Tolerance['list'] {
    return this.alignsLists
      ? this.at(path, rehearsedPath).find(({ list }) => list !== undefined)?.list
      : undefined;
  }

  /** Why the author lets this difference pass, or null. Undefined stands for absent. */
  tolerates(path: string, rehearsedPath: string, rehearsed?: Json, real?: Json): string | null {
    for (const tolerance of this.rules.tolerances.length ? this.at(path, rehearsedPath) : []) {
      if (tolerance.null === 'absent' && (rehearsed ?? null) === null && (real ?? null) === null) {
        return 'null and absent are the same here';
      }
      if (tolerance.number && numbersAgree(tolerance.number, rehearsed, real))
        return 'within the tolerance of numbers';
      if (tolerance.time && timesAgree(tolerance.time.seconds, rehearsed, real))
        return 'within the tolerance of times';
    }
    return null;
  }

  private at(path: string, rehearsedPath: string): Tolerance[] {
    if (!this.tolerances) {
      this.tolerances = new Map();
      for (const tolerance of this.rules.tolerances) {
        for (const place of this.placesOf(tolerance.path)) {
          this.tolerances.set(place, [...(this.tolerances.get(place) ?? []), tolerance]);
        }
      }
    }
    return this.tolerances.get(path) ?? this.tolerances.get(rehearsedPath) ?? [];
  }

  private placesOf(rule: string): string[] {
    const trees = [expanded(this.real), expanded(this.rehearsed)];
    return trees.flatMap((tree) => locationsAt(tree, rule).map(({ location }) => pathText(location)));
  }
}

function isAt(path: string, above: string): boolean {
  if (!path.startsWith(above)) return false;
  const next = path[above.length];
  return next === undefined || next === '.' || next === '[';
}

/** A tree in which JSON inside texts can be pointed into. */
function expanded(value: Json): Json {
  if (typeof value === 'string') {
    const inner = jsonInside(value);
    return inner === undefined ? value : expanded(inner);
  }
  if (Array.isArray(value)) return value.map(expanded);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, item]): [string, Json] => [key, expanded(item)]);
  return Object.fromEntries(entries);
}

function numbersAgree(
  { absolute = 0, relative = 0 }: NonNullable<Tolerance['number']>,
  rehearsed: Json | undefined,
  real: Json | undefined,
): boolean {
  const [a, b] = [numberOf(rehearsed), numberOf(real)];
  if (a === null || b === null) return false;
  // 0.3 − 0.2 is more than 0.1 by a rounding; the author meant to include the bound.
  return Math.abs(a - b) <= Math.max(absolute, relative * Math.abs(b)) * (1 + 1e-9) + 1e-12 * Math.abs(b);
}

function timesAgree(seconds: number, rehearsed: Json | undefined, real: Json | undefined): boolean {
  if (rehearsed === undefined || real === undefined) return false;
  const [a, b] = [timeOf(rehearsed), timeOf(real)];
  // A local time and one with a zone cannot be compared: nobody says where the tool ran.
  return a !== null && b !== null && a.zoned === b.zoned && Math.abs(a.seconds - b.seconds) <= seconds;
}
