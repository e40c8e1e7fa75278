/** Compares a rehearsed answer with the real one, field by field. Pure; never throws. */
import { isObject, type Json, type JsonObject } from '../json';
import { canonicalValue, jsonInside } from './answers';
import { outcomeClass } from './errors';
import { labelOf, sameButForRounding } from './labels';
import { alignAs, alignByOrder } from './lists';
import { PathNode } from './places';
import { NO_RULES, PlacedRules } from './rules';
import type { Answer, Comparison, FieldKind, FieldResult, Rules } from './types';

/**
 * Every leaf of both answers with what became of it. Where one is a result and the other an error there is one
 * difference, at `$`; nothing that a label says changes a verdict.
 */
export function compareAnswers(rehearsed: Answer, real: Answer, rules: Rules = NO_RULES): Comparison {
  const outcome = { rehearsed: outcomeClass(rehearsed), real: outcomeClass(real), same: false };
  outcome.same = outcome.rehearsed === outcome.real;
  if (rehearsed.outcome !== real.outcome) {
    const field: FieldResult = {
      path: '$',
      field: '$',
      kind: 'differs',
      rehearsed: rehearsed.value,
      real: real.value,
      label:
        real.outcome === 'error'
          ? `a result, and the error ${outcome.real}`
          : `the error ${outcome.rehearsed}, and a result`,
    };
    return { verdict: 'differs', fields: [field], first: field, outcome };
  }
  const [left, right] = [canonicalValue(rehearsed), canonicalValue(real)];
  const walk = new Walk(new PlacedRules(rules, left, right));
  const root = PathNode.root();
  walk.node(root, root, left, right);
  return { ...summary(walk.fields), outcome };
}

function summary(fields: FieldResult[]): Pick<Comparison, 'verdict' | 'fields' | 'first'> {
  let verdict: Comparison['verdict'] = 'match';
  let first: FieldResult | null = null;
  for (const field of fields) {
    if (field.kind === 'match') continue;
    if (field.kind === 'tolerable') {
      if (verdict === 'match') verdict = 'tolerable';
    } else {
      verdict = 'differs';
      first ??= field;
    }
  }
  return { verdict, fields, first };
}

class Walk {
  readonly fields: FieldResult[] = [];

  constructor(private readonly rules: PlacedRules) {}

  /** `at` is the place in the real answer, `there` in the rehearsed one: they part where a list is realigned. */
  node(at: PathNode, there: PathNode, rehearsed: Json, real: Json): void {
    if (rehearsed === real && !isContainer(real)) this.same(at, there, real);
    else if (Array.isArray(rehearsed) && Array.isArray(real)) this.list(at, there, rehearsed, real);
    else if (isObject(rehearsed) && isObject(real)) this.object(at, there, rehearsed, real);
    else this.leaf(at, there, rehearsed, real);
  }

  private object(at: PathNode, there: PathNode, rehearsed: JsonObject, real: JsonObject): void {
    let both = 0;
    const keys = Object.keys(real);
    for (const key of keys) {
      const place = at.name(key);
      const other = there === at ? place : there.name(key);
      if (Object.hasOwn(rehearsed, key)) {
        both++;
        this.node(place, other, rehearsed[key]!, real[key]!);
      } else this.differs(place, other, 'missing', undefined, real[key]);
    }
    const others = Object.keys(rehearsed);
    if (others.length > both) {
      for (const key of others) {
        if (Object.hasOwn(real, key)) continue;
        const other = there.name(key);
        this.differs(there === at ? other : at.name(key), other, 'extra', rehearsed[key], undefined);
      }
    } else if (keys.length === 0) this.match(at, rehearsed, real);
  }

  private list(at: PathNode, there: PathNode, rehearsed: Json[], real: Json[]): void {
    const how = this.rules.listAt(at.path, there.path);
    if (!how && rehearsed.length === real.length) {
      if (real.length === 0) this.match(at, rehearsed, real);
      for (let i = 0; i < real.length; i++) {
        const place = at.item(i);
        this.node(place, there === at ? place : there.item(i), rehearsed[i]!, real[i]!);
      }
      return;
    }
    const aligned = how
      ? alignAs(how, rehearsed, real, (a, b) =>
          this.agree(at.item(b), there.item(a), rehearsed[a]!, real[b]!),
        )
      : alignByOrder(rehearsed, real);
    for (const { rehearsed: a, real: b } of aligned) {
      const place = at.item(b ?? a!);
      const other = there.item(a ?? b!);
      if (a === null) this.differs(place, other, 'missing', undefined, real[b!]);
      else if (b === null) this.differs(place, other, 'extra', rehearsed[a], undefined);
      else this.node(place, other, rehearsed[a]!, real[b]!);
    }
  }

  private agree(at: PathNode, there: PathNode, rehearsed: Json, real: Json): boolean {
    const walk = new Walk(this.rules);
    walk.node(at, there, rehearsed, real);
    return walk.fields.every(({ kind }) => kind === 'match' || kind === 'tolerable');
  }

  private leaf(at: PathNode, there: PathNode, rehearsed: Json, real: Json): void {
    const texts = typeof rehearsed === 'string' && typeof real === 'string';
    const left = texts ? jsonInside(rehearsed) : undefined;
    const right = texts ? jsonInside(real) : undefined;
    if (left !== undefined && right !== undefined) this.node(at, there, left, right);
    else if (
      typeof rehearsed === 'number' &&
      typeof real === 'number' &&
      sameButForRounding(rehearsed, real)
    ) {
      this.push(at, 'match', rehearsed, real, 'the same but for rounding');
    } else this.differs(at, there, 'differs', rehearsed, real);
  }

  private differs(
    at: PathNode,
    there: PathNode,
    kind: FieldKind,
    rehearsed: Json | undefined,
    real: Json | undefined,
  ): void {
    const tolerated = this.rules.ignores(at.path, there.path)
      ? 'ignored'
      : this.rules.tolerates(at.path, there.path, rehearsed, real);
    if (tolerated) this.push(at, 'tolerable', rehearsed, real, tolerated);
    else this.push(at, kind, rehearsed, real, labelOf(rehearsed, real));
  }

  /** JSON inside a text is always looked into, so that the same fields are counted in every pair. */
  private same(at: PathNode, there: PathNode, value: Json): void {
    const inner = typeof value === 'string' ? jsonInside(value) : undefined;
    if (inner === undefined) this.match(at, value, value);
    else this.node(at, there, inner, inner);
  }

  private match({ path, field }: PathNode, rehearsed: Json, real: Json): void {
    this.fields.push({ path, field, kind: 'match', rehearsed, real });
  }

  private push(
    { path, field }: PathNode,
    kind: FieldKind,
    rehearsed?: Json,
    real?: Json,
    label?: string,
  ): void {
    const result: FieldResult = { path, field, kind };
    if (rehearsed !== undefined) result.rehearsed = rehearsed;
    if (real !== undefined) result.real = real;
    if (label !== undefined) result.label = label;
    this.fields.push(result);
  }
}

function isContainer(value: Json): boolean {
  return typeof value === 'object' && value !== null;
}
