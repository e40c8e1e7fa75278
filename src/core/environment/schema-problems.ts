/** Why a schema is none, in words for its author. */
import type { Json } from '../json';

/** What ajv says about a schema, without its own terms. */
export function readable(error: unknown): string {
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

/**
 * The first type name in a schema that JSON Schema does not have, where it stands and what to write, or null. Only
 * places that hold schemas are looked at: a property may well be called `type`.
 */
export function foreignType(schema: Json | undefined, path: string): string | null {
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
