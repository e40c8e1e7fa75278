/**
 * The three gates a call passes before anything is rehearsed, in this order: format, whitelist, schema. One that
 * fails answers by itself. Source: EnvACE (arXiv 2608.06197).
 */
import { typeOf } from '../conversation/dialects/dialect';
import type { ActItem, Call } from '../conversation/types';
import { isObject, type Json, type JsonObject } from '../json';
import { parseStrict } from '../json-text';
import { compileSchema, type Violation } from './json-schema';
import type { Tool } from './types';

export interface GateFailure {
  code: 'INVALID_TOOL_CALL_FORMAT' | 'TOOL_NOT_AVAILABLE' | 'INVALID_PARAMETERS';
  message: string;
  /** What the schema gate found: `[{path, message}]`. */
  details?: Json;
}

export interface Gates {
  /** The failure of the first gate that fails, or null where all hold. */
  check(item: ActItem): GateFailure | null;
  /** Why a tool's schema does not compile, by tool name. */
  readonly problems: Map<string, string>;
}

const byTools = new WeakMap<readonly Tool[], Gates>();

/** Gates for the tools on offer; made once for each list, schemas compiled when a call first needs them. */
export function createGates(tools: readonly Tool[]): Gates {
  const known = byTools.get(tools);
  if (known) return known;
  const byName = new Map<string, Tool>();
  for (const tool of tools) if (!byName.has(tool.name)) byName.set(tool.name, tool);
  const gates: Gates = {
    check: (item) => {
      if (item.kind === 'format_error') {
        return {
          code: 'INVALID_TOOL_CALL_FORMAT',
          message: `The call is not in the right format: ${item.reason}.`,
        };
      }
      const tool = byName.get(item.call.name);
      return tool ? checkArguments(tool, item.call) : notAvailable(item.call.name);
    },
    get problems() {
      return problemsOf(tools);
    },
  };
  byTools.set(tools, gates);
  return gates;
}

function notAvailable(name: string): GateFailure {
  return {
    code: 'TOOL_NOT_AVAILABLE',
    message: `There is no tool ${JSON.stringify(name)}. Check the call and use the tools provided.`,
  };
}

function checkArguments(tool: Tool, call: Call): GateFailure | null {
  const schema = compileSchema(tool.parameters);
  if (!schema.ok) {
    return invalid(`The schema of ${tool.name} does not compile: ${schema.problem}.`, []);
  }
  const args = argumentsOf(tool, call);
  if (!isObject(args)) {
    const encoded = typeof args === 'string' && parseStrict(args).ok;
    const message = `must be an object, is ${typeOf(args)}${encoded ? ': send the object itself, not its text' : ''}`;
    return invalid(`The arguments of ${tool.name} do not satisfy its schema.`, [{ path: '', message }]);
  }
  const found = schema.validate(args);
  return found.length ? invalid(`The arguments of ${tool.name} do not satisfy its schema.`, found) : null;
}

function invalid(message: string, details: Violation[]): GateFailure {
  const listed = details.map(({ path, message: text }) => ({ path: path || '/', message: text }));
  return { code: 'INVALID_PARAMETERS', message, ...(listed.length ? { details: listed } : {}) };
}

/**
 * The arguments of a call as its tool takes them: many models write an empty string where a tool needs none.
 */
export function argumentsOf(tool: Tool, call: Pick<Call, 'arguments'>): Json {
  const empty = typeof call.arguments === 'string' && !call.arguments.trim();
  return empty && requiredFields(tool.parameters).length === 0 ? {} : call.arguments;
}

function requiredFields(schema: JsonObject): Json[] {
  return Array.isArray(schema.required) ? schema.required : [];
}

function problemsOf(tools: readonly Tool[]): Map<string, string> {
  const problems = new Map<string, string>();
  for (const tool of tools) {
    const schema = compileSchema(tool.parameters);
    if (!schema.ok) problems.set(tool.name, schema.problem);
  }
  return problems;
}
