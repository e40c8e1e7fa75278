/** JSON values, and the one way this product writes and compares them. Pure. */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * JSON with a space after `:` and `,`: the form Python's `json.dumps` and every Hermes-style chat template
 * write, so that what we put into a prompt has the same tokens as what a model has seen in training.
 */
export function formatJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(formatJson).join(', ')}]`;
  if (isObject(value)) {
    const fields = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${formatJson(item)}`);
    return `{${fields.join(', ')}}`;
  }
  return JSON.stringify(value);
}

/** Deep equality of JSON values; the order of keys carries no meaning, the order of list items does. */
export function equalJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, i) => equalJson(item, b[i]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && equalJson(a[key], b[key]))
  );
}
