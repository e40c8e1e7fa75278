/**
 * JSON Schemas as tools bring them: the dialect by `$schema`, unknown keywords ignored, one that does not compile
 * told as a sentence. Compiled once for each schema.
 */
import type { ErrorObject, ValidateFunction } from 'ajv';
import Ajv from 'ajv';
import Ajv2020 from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import type { Json, JsonObject } from '../json';
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

export type CompiledSchema =
  | { ok: true; validate(value: Json): Violation[] }
  /** Why it does not compile, without a full stop. */
  | { ok: false; problem: string };

const options = {
  strict: false,
  allErrors: true,
  verbose: true,
  logger: false,
  // Two tools may have the same `$id`; a schema is never referred to from another.
  addUsedSchema: false,
  // Patterns like `[\w-\.]` are common in tools and are errors under the `u` flag.
  unicodeRegExp: false,
} as const;

type Compiler = Ajv | Ajv2020;
let compilers: { draft7: Compiler; draft2020: Compiler } | undefined;

function instances() {
  if (!compilers) {
    compilers = { draft7: new Ajv(options), draft2020: new Ajv2020(options) };
    for (const ajv of Object.values(compilers)) {
      addFormats(ajv as Ajv);
      ajv.removeKeyword('id'); // draft-04's name for `$id`; ajv refuses the whole schema for it
    }
  }
  return compilers;
}

const bySchema = new WeakMap<JsonObject, CompiledSchema>();
/** An editor reloads the file at every key; schemas that did not change keep their compiled form. */
const byText = new Map<string, CompiledSchema>();
const KEPT = 512;

/** Compiles a schema; never throws. */
export function compileSchema(schema: JsonObject): CompiledSchema {
  const known = bySchema.get(schema);
  if (known) return known;
  const text = JSON.stringify(schema);
  const compiled = byText.get(text) ?? compileNew(schema);
  if (byText.size >= KEPT) byText.clear();
  byText.set(text, compiled);
  bySchema.set(schema, compiled);
  return compiled;
}

function compileNew(schema: JsonObject): CompiledSchema {
  const foreign = foreignType(schema, '');
  if (foreign) return { ok: false, problem: foreign };
  const { draft7, draft2020 } = instances();
  // Where a dialect is named it decides; else today's, and the older one for what only it knows (tuple `items`).
  const named = typeof schema.$schema === 'string' ? schema.$schema : '';
  const order = /draft-0?[3-7]/.test(named)
    ? [draft7]
    : /2019-09|2020-12/.test(named)
      ? [draft2020]
      : [draft2020, draft7];
  const { $schema: _dialect, ...rest } = schema; // ajv fetches nothing, and throws on a dialect it does not know
  let problem = '';
  for (const ajv of order) {
    try {
      const validate = ajv.compile(rest);
      ajv.removeSchema(rest);
      return { ok: true, validate: (value) => violations(validate, value) };
    } catch (error) {
      problem ||= readable(error);
      ajv.removeSchema(rest);
    }
  }
  return { ok: false, problem };
}

function readable(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const parts = message
    .replace(/^schema is invalid: /, '')
    .replace(/\bdata\//g, '/')
    .replace(/object,boolean/g, 'an object')
    .replace(/ from id #?$/, '')
    .split(', ');
  return [...new Set(parts)].slice(0, 3).join(', ');
}

/** Type names of Python and Java, as BFCL has them, with what JSON Schema calls them. */
const FOREIGN = Object.fromEntries(
  Object.entries({
    object: ['dict', 'hashmap', 'map'],
    array: ['tuple', 'list', 'arraylist', 'set'],
    number: ['float', 'double'],
    integer: ['int', 'long', 'bigint'],
    string: ['str', 'char'],
    boolean: ['bool'],
    '': ['any', ''],
  }).flatMap(([right, names]) =>
    names.map((name) => [name, right ? `write "${right}"` : 'leave "type" out']),
  ),
);
const TYPES = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']);

function foreignType(schema: Json | undefined, path: string): string | null {
  if (typeof schema !== 'object' || schema === null) return null;
  if (!Array.isArray(schema) && typeof schema.type === 'string' && !TYPES.has(schema.type)) {
    const name = schema.type.toLowerCase();
    const right = FOREIGN[name] ?? (TYPES.has(name) ? `write "${name}"` : 'JSON Schema has no such type');
    return `type "${schema.type}" at ${path || '/'} (${right})`;
  }
  if (Array.isArray(schema)) return null;
  for (const [key, value] of Object.entries(schema)) {
    const found = SCHEMAS_BY_NAME.has(key)
      ? eachForeign(value, `${path}/${key}`)
      : SCHEMAS.has(key)
        ? Array.isArray(value)
          ? eachForeign(value, `${path}/${key}`)
          : foreignType(value, `${path}/${key}`)
        : null;
    if (found) return found;
  }
  return null;
}

/** Keywords whose value is a schema (or a list of them), and those whose value is a map of schemas by name. */
const SCHEMAS = new Set([
  'items',
  'prefixItems',
  'additionalProperties',
  'additionalItems',
  'contains',
  'not',
  'if',
  'then',
  'else',
  'anyOf',
  'oneOf',
  'allOf',
  'propertyNames',
]);
const SCHEMAS_BY_NAME = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
]);

function eachForeign(schemas: Json, path: string): string | null {
  if (typeof schemas !== 'object' || schemas === null) return null;
  for (const [key, schema] of Object.entries(schemas)) {
    const found = foreignType(schema, `${path}/${key}`);
    if (found) return found;
  }
  return null;
}

const SHOWN = 10;

function violations(validate: ValidateFunction, value: Json): Violation[] {
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
