/**
 * JSON Schemas as tools bring them: the dialect by `$schema`, unknown keywords ignored, one that does not compile
 * told as a sentence. Compiled once for each schema.
 */
import Ajv from 'ajv';
import Ajv2020 from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import type { Json, JsonObject } from '../json';
import { foreignType, readable } from './schema-problems';
import { type Violation, violations } from './violations';

export type { Violation };

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

/** Without a name, ajv does not find a schema that refers to itself as `#`. */
const OWN_ID = 'rehearsal:schema';
/** Names of the dialects themselves: a tool that has one must not put another schema in their place. */
const KNOWN_IDS = /^\s*https?:\/\/json-schema\.org\b/i;

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
  // ajv fetches nothing, and throws on a dialect it does not know.
  const { $schema: _dialect, $id, ...body } = schema;
  const rest = { ...body, $id: typeof $id === 'string' && !KNOWN_IDS.test($id) ? $id : OWN_ID };
  let problem = '';
  for (const ajv of order) {
    try {
      const validate = ajv.compile(rest);
      ajv.removeSchema(rest);
      return {
        ok: true,
        validate: (value) => {
          try {
            return violations(validate, value);
          } catch (error) {
            // A schema that is nothing but a reference to itself never comes to an end.
            return [{ path: '', message: `cannot be held against its schema: ${readable(error)}` }];
          }
        },
      };
    } catch (error) {
      problem ||= readable(error);
      ajv.removeSchema(rest);
    }
  }
  return { ok: false, problem };
}
