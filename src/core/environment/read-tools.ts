/** Tools in OpenAI form, bare function form or MCP form, as one list. */
import { isObject, type Json, type JsonObject } from '../json';
import { patternsIn } from '../patterns';
import type { Locations, Report } from './diagnostics';
import { compileSchema } from './json-schema';
import { warnOfSlow } from './lint-tasks';
import type { Entry, Path } from './source';
import { type ToolEntry, ToolSchema } from './tool-schema';
import type { Tool } from './types';
import { accept } from './validate';

const NO_PARAMETERS: JsonObject = { type: 'object', properties: {} };

/** A wrong tool drops only itself; one whose schema does not compile stays on offer and is marked. */
export function readTools(entries: Entry[], report: Report, locations: Locations): Tool[] {
  const tools: Tool[] = [];
  for (const entry of entries) {
    const label = labelOf(entry.value);
    if (!accept(ToolSchema, entry, label, 'tool', report)) continue;
    const { tool, parameters, name } = readTool(entry.value as ToolEntry);
    if (locations.tools.has(tool.name)) {
      const message = `There is already a tool ${JSON.stringify(tool.name)}; this one was left out.`;
      report.warning(entry.place(name), 'duplicate-tool', message, 'Rename or remove one of them.');
      continue;
    }
    locations.tools.set(tool.name, entry.place());
    const compiled = compileSchema(tool.parameters);
    if (!compiled.ok) {
      tool.problem = compiled.problem;
      const message = `The schema of ${tool.name} does not compile, so every call of it is refused: ${compiled.problem}.`;
      report.error(
        entry.place(parameters),
        'tool-schema',
        message,
        'Correct the schema; other tools are not affected.',
      );
    }
    for (const pattern of patternsIn(tool.parameters))
      warnOfSlow(pattern, ` in the schema of ${tool.name}`, entry, parameters, report);
    tools.push(tool);
  }
  return tools;
}

function labelOf(value: Json): string {
  const inner = isObject(value) && isObject(value.function) ? value.function : value;
  const name = isObject(inner) ? inner.name : undefined;
  return typeof name === 'string' && name ? `Tool ${name}` : 'A tool';
}

function readTool(entry: ToolEntry): { tool: Tool; parameters: Path; name: Path } {
  const inner = entry.function ?? entry;
  const prefix = entry.function ? ['function'] : [];
  const key = entry.function || entry.parameters || !entry.inputSchema ? 'parameters' : 'inputSchema';
  const hint = entry.annotations?.readOnlyHint;
  const tool: Tool = {
    name: inner.name!,
    description: inner.description ?? '',
    parameters: (key === 'inputSchema' ? entry.inputSchema : inner.parameters) ?? NO_PARAMETERS,
    readOnly: entry.readOnly ?? hint === true,
    ...(entry.readOnly === undefined && hint === true ? { hinted: true } : {}),
  };
  return { tool, parameters: [...prefix, key], name: [...prefix, 'name'] };
}
