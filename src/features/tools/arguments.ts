/** Arguments of a call as a person types them. Knows no VS Code. */
import { compileSchema } from '../../core/environment/json-schema';
import type { Environment, Tool } from '../../core/environment/types';
import { isObject, type Json, type JsonObject } from '../../core/json';
import { parseStrict } from '../../core/json-text';

/** Those of the first record of this tool, else its required arguments, empty. */
export function sampleArguments({ examples }: Environment, tool: Tool): JsonObject {
  const known = examples.find((example) => example.tool === tool.name);
  if (known) return known.arguments;
  const { properties, required } = tool.parameters;
  const names = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
  return Object.fromEntries(
    names.map((name) => [name, emptyValue(isObject(properties) ? properties[name] : undefined)]),
  );
}

function emptyValue(schema: Json | undefined): Json {
  if (!isObject(schema)) return '';
  const [first] = Array.isArray(schema.enum) ? schema.enum : [schema.default];
  if (first !== undefined) return first;
  const empty: { [type: string]: Json } = { number: 0, integer: 0, boolean: false, array: [], object: {} };
  return empty[String(schema.type)] ?? '';
}

/** What is wrong with the arguments as they are typed; `stops` where they cannot be sent at all. */
export function problemWith(text: string, tool: Tool): { message: string; stops: boolean } | null {
  const parsed = parseStrict(text);
  if (!parsed.ok) return { message: `This is ${parsed.reason}.`, stops: true };
  if (!isObject(parsed.value)) return { message: 'Arguments are an object: {"name": "value"}.', stops: true };
  const compiled = compileSchema(tool.parameters);
  const [wrong] = compiled.ok ? compiled.validate(parsed.value) : [];
  return wrong ? { message: `${wrong.path.slice(1)} ${wrong.message}`.trim(), stops: false } : null;
}
