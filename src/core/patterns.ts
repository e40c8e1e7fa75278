/** Regular expressions that people write into environment files: which may take very long on some texts. */
import { type AST, RegExpParser } from '@eslint-community/regexpp';
import { isObject, type Json } from './json';

/** Repetitions allowed of something that itself has no bound, before they multiply to too many ways to match. */
const FEW = 3;
const parser = new RegExpParser();

/**
 * Why a pattern may take exponentially long (or a high power of the text's length), or null. It repeats what already
 * repeats, such as `(a+)+` and `(.*a){20}`, or alternatives of which two match the same text, such as `(a|a)*`.
 * A pattern that does not compile is none of these.
 */
export function mayRunLong(pattern: string): string | null {
  for (const unicode of [true, false]) {
    let parsed: AST.Pattern;
    try {
      parsed = parser.parsePattern(pattern, 0, pattern.length, { unicode });
    } catch {
      continue; // patterns such as `[\w-\.]` are ones only without the `u` flag
    }
    return reasonIn(parsed);
  }
  return null;
}

type Inner = AST.Pattern | AST.Alternative | AST.Element;

function reasonIn(node: Inner): string | null {
  if (node.type === 'Quantifier' && node.max > FEW) {
    if (some(node.element, (inner) => inner.type === 'Quantifier' && inner.max === Number.POSITIVE_INFINITY))
      return 'repeats what already repeats';
    if (some(node.element, isAmbiguous)) return 'repeats alternatives that match the same text';
  }
  for (const inner of innerOf(node)) {
    const reason = reasonIn(inner);
    if (reason) return reason;
  }
  return null;
}

function some(node: Inner, wanted: (node: Inner) => boolean): boolean {
  return wanted(node) || innerOf(node).some((inner) => some(inner, wanted));
}

function innerOf(node: Inner): readonly Inner[] {
  if ('alternatives' in node) return node.alternatives as Inner[];
  if (node.type === 'Alternative') return node.elements;
  return node.type === 'Quantifier' ? [node.element] : [];
}

/** Whether a group has two alternatives of which one begins as the other does and nothing later tells them apart. */
function isAmbiguous(node: Inner): boolean {
  if (node.type !== 'Group' && node.type !== 'CapturingGroup') return false;
  return node.alternatives.some((one, i) =>
    node.alternatives.slice(i + 1).some((other) => areAlike(one, other)),
  );
}

function areAlike(one: AST.Alternative, other: AST.Alternative): boolean {
  const length = Math.min(one.elements.length, other.elements.length);
  for (let i = 0; i < length; i++) {
    const [a, b] = [one.elements[i]!, other.elements[i]!];
    if (!isCharacter(a) || !isCharacter(b)) return true; // not looked into: rather one warning too many
    if (!meet(a, b)) return false;
  }
  return true;
}

const isCharacter = (node: AST.Element) =>
  node.type === 'Character' || node.type === 'CharacterSet' || node.type === 'CharacterClass';

/** Whether a character matches both. Printable ASCII decides; beyond it, only equal ones meet. */
function meet(a: AST.Element, b: AST.Element): boolean {
  if (a.raw === b.raw) return true;
  const [first, second] = [a, b].map(({ raw }) => whole(raw));
  if (!first || !second) return true;
  for (let code = 32; code < 127; code++) {
    const character = String.fromCharCode(code);
    if (first.test(character) && second.test(character)) return true;
  }
  return false;
}

function whole(raw: string): RegExp | null {
  for (const flags of ['u', '']) {
    try {
      return new RegExp(`^(?:${raw})$`, flags);
    } catch {
      // tried without the flag
    }
  }
  return null;
}

/** Keywords of JSON Schema whose value holds texts and not schemas. */
const DATA = new Set(['const', 'enum', 'default', 'examples', 'required', 'description', 'title']);

/** Every pattern of a JSON Schema: those of `pattern`, and the names in `patternProperties`. */
export function patternsIn(schema: Json | undefined): string[] {
  if (Array.isArray(schema)) return schema.flatMap(patternsIn);
  if (!isObject(schema)) return [];
  return Object.entries(schema).flatMap(([key, value]) => {
    if (key === 'pattern' && typeof value === 'string') return [value];
    if (DATA.has(key)) return [];
    const named = isObject(value) && NAMED.has(key);
    const own = key === 'patternProperties' && isObject(value) ? Object.keys(value) : [];
    return [...own, ...(named ? Object.values(value).flatMap(patternsIn) : patternsIn(value))];
  });
}

/** Keywords whose value maps names, which may be called `pattern`, to schemas. */
const NAMED = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);
