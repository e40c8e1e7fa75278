/** Whether a text that is also JSON is to be read as JSON, by the schema of its parameter. */
import { isObject, type Json, type JsonObject } from '../../json';

/**
 * True where the parameter's schema takes a value of this JSON type. A declared string stays text even where it
 * reads as a number ("keep me" in brackets as well); without a schema, JSON that is no string is read as JSON.
 */
export function readsAs(value: Json, key: string, schema: JsonObject | undefined): boolean {
  const properties = schema?.properties;
  const own = isObject(properties) && Object.hasOwn(properties, key) ? properties[key] : undefined;
  const types = own === undefined ? new Set<string>() : typesOf(own, schema!, 0);
  if (types.size === 0) return typeof value !== 'string';
  if (types.has('string') && value !== null) return false;
  return jsonTypes(value).some((type) => types.has(type));
}

function jsonTypes(value: Json): string[] {
  if (value === null) return ['null'];
  if (Array.isArray(value)) return ['array'];
  if (typeof value === 'number') return Number.isInteger(value) ? ['integer', 'number'] : ['number'];
  return [typeof value];
}

/** Types that a schema names, through `$ref` inside the tool, `anyOf`, `oneOf`, `allOf`, `enum` and `const`. */
function typesOf(schema: Json | undefined, root: JsonObject, depth: number): Set<string> {
  const types = new Set<string>();
  if (!isObject(schema) || depth > 8) return types;
  for (const type of [schema.type].flat()) if (typeof type === 'string') types.add(type);
  if (types.size) return types;
  const values = Array.isArray(schema.enum) ? schema.enum : 'const' in schema ? [schema.const!] : [];
  for (const value of values) for (const type of jsonTypes(value)) types.add(type);
  const branches = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((list) =>
    Array.isArray(list) ? list : [],
  );
  if (typeof schema.$ref === 'string') branches.push(follow(schema.$ref, root) ?? null);
  for (const branch of branches) for (const type of typesOf(branch, root, depth + 1)) types.add(type);
  return types;
}

function follow(reference: string, root: JsonObject): Json | undefined {
  if (!reference.startsWith('#')) return undefined;
  let at: Json | undefined = root;
  for (const part of reference.slice(1).split('/').filter(Boolean)) {
    const key = part.replace(/~1/g, '/').replace(/~0/g, '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as JsonObject)[key];
  }
  return at;
}
