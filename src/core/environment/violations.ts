/** What a value violates in a schema, as short sentences: people read them, and so does the policy. */
import type { ErrorObject, ValidateFunction } from 'ajv';
import { isObject, type Json } from '../json';
import { allFinite, parseStrict } from '../json-text';

export interface Violation {
  /** JSON pointer into the value; empty for the value itself. */
  path: string;
  message: string;
  /** Keyword that is not satisfied. */
  keyword?: string;
  /** Name of the field that is missing or unknown. */
  field?: string;
  /** Types that the value may have, and the one that it has. */
  types?: readonly string[];
  is?: string;
  /** It is the JSON text of a value that would do. */
  encoded?: boolean;
  /** What the keyword says: allowed values, a limit, a pattern. */
  params?: { readonly [name: string]: unknown };
}

const SHOWN = 10;

/** At most ten violations of a value; empty where it satisfies the schema. */
export function violations(validate: ValidateFunction, value: Json): Violation[] {
  // ajv takes NaN and Infinity for numbers.
  if (!allFinite(value)) return [{ path: '', message: 'has a number that is not finite' }];
  if (validate(value)) return [];
  const errors = validate.errors ?? [];
  // A union reports itself and each of its branches; the branches are left out where there are several.
  const unions = errors.filter((error) => error.keyword === 'anyOf' || error.keyword === 'oneOf');
  const told = errors.filter(
    (error) =>
      !unions.some((union) => error !== union && error.schemaPath.startsWith(`${union.schemaPath}/`)),
  );
  const list = told.map((error): Violation => {
    const found = { path: error.instancePath, keyword: error.keyword, params: error.params };
    const values = { ...found, ...fieldOf(error), ...typesOf(error) };
    return { ...values, message: sentence(error, values) };
  });
  const unique = list.filter(
    (a, i) => list.findIndex((b) => a.path === b.path && a.message === b.message) === i,
  );
  return unique.length <= SHOWN
    ? unique
    : [...unique.slice(0, SHOWN), { path: '', message: `and ${unique.length - SHOWN} more` }];
}

function fieldOf({ params }: ErrorObject): { field?: string } {
  const field = params.missingProperty ?? params.additionalProperty ?? params.unevaluatedProperty;
  return typeof field === 'string' ? { field } : {};
}

type Values = Omit<Violation, 'message'>;

function typesOf(error: ErrorObject): Pick<Values, 'types' | 'is' | 'encoded'> {
  const types = error.keyword === 'type' ? [error.params.type].flat() : typesOfUnion(error);
  return types ? { types, is: nameOf(error.data), encoded: isEncoded(error.data, types) } : {};
}

/** The types of a union whose branches are nothing else. */
function typesOfUnion({ keyword, schema }: ErrorObject): string[] | null {
  if (keyword !== 'anyOf' && keyword !== 'oneOf') return null;
  const types = Array.isArray(schema) ? (schema as Json[]).map((one) => isObject(one) && one.type) : [];
  return types.length > 0 && types.every((type) => typeof type === 'string') ? (types as string[]) : null;
}

/** Some models send lists and objects as JSON text. */
function isEncoded(data: unknown, types: readonly string[]): boolean {
  if (typeof data !== 'string') return false;
  const parsed = parseStrict(data);
  if (!parsed.ok) return false;
  return (
    types.includes(nameOf(parsed.value)) || (Number.isInteger(parsed.value) && types.includes('integer'))
  );
}

/** In the words of JSON Schema, for those who write schemas, and for models. */
function sentence(
  { keyword, message }: ErrorObject,
  { field, params = {}, types, is, encoded }: Values,
): string {
  switch (keyword) {
    case 'required':
      return `required field ${JSON.stringify(field)} is missing`;
    case 'type':
      return `must be ${types!.join(' or ')}, is ${is}${encoded ? ': send the value itself, not its text' : ''}`;
    case 'enum':
      return `must be one of ${shorten(JSON.stringify(params.allowedValues))}`;
    case 'const':
      return `must be ${shorten(JSON.stringify(params.allowedValue))}`;
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return `unknown field ${JSON.stringify(field)}`;
    case 'anyOf':
    case 'oneOf':
      return types ? `must be ${types.join(' or ')}, is ${is}` : 'fits none of the alternatives';
    default:
      return message ?? 'does not satisfy the schema';
  }
}

function nameOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** The start of a long text. */
export function shorten(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
