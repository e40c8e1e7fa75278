/** What a value violates in a schema, as short sentences: people read them, and so does the policy. */
import type { ErrorObject, ValidateFunction } from 'ajv';
import type { Json } from '../json';
import { allFinite, parseStrict } from '../json-text';

export interface Violation {
  /** JSON pointer into the value; empty for the value itself. */
  path: string;
  message: string;
  /** Keyword that is not satisfied. */
  keyword?: string;
  /** Name of the field that is missing or unknown. */
  field?: string;
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
  const list = told.map((error) => ({
    path: error.instancePath,
    message: sentence(error),
    keyword: error.keyword,
    ...fieldOf(error),
  }));
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

function sentence(error: ErrorObject): string {
  const params = error.params as Record<string, unknown>;
  switch (error.keyword) {
    case 'required':
      return `required field ${JSON.stringify(params.missingProperty)} is missing`;
    case 'type':
      return `must be ${[params.type].flat().join(' or ')}, is ${nameOf(error.data)}${hint(error)}`;
    case 'enum':
      return `must be one of ${shorten(JSON.stringify(params.allowedValues))}`;
    case 'const':
      return `must be ${shorten(JSON.stringify(params.allowedValue))}`;
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return `unknown field ${JSON.stringify(params.additionalProperty ?? params.unevaluatedProperty)}`;
    case 'anyOf':
    case 'oneOf':
      return unionSentence(error);
    default:
      return error.message ?? 'does not satisfy the schema';
  }
}

/** Some models send lists and objects as JSON text. */
function hint({ data, params }: ErrorObject): string {
  if (typeof data !== 'string') return '';
  const parsed = parseStrict(data);
  const sent = parsed.ok ? parsed.value : null;
  const types = [nameOf(sent), ...(Number.isInteger(sent) ? ['integer'] : [])];
  return parsed.ok && [params.type].flat().some((type) => types.includes(type))
    ? ': send the value itself, not its text'
    : '';
}

function unionSentence(error: ErrorObject): string {
  const branches = Array.isArray(error.schema) ? (error.schema as Json[]) : [];
  const types = branches.map((branch) =>
    typeof branch === 'object' && branch && !Array.isArray(branch) ? branch.type : undefined,
  );
  const simple = types.length > 0 && types.every((type) => typeof type === 'string');
  return simple ? `must be ${types.join(' or ')}, is ${nameOf(error.data)}` : 'fits none of the alternatives';
}

function nameOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function shorten(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
