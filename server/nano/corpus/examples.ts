/** The example environments as the corpus needs them: their tools, policy and tool modules, read from disk. */
import { readFileSync } from 'node:fs';
import { parse } from 'jsonc-parser';
import { DEFAULTS } from '../../../src/core/environment/schema';
import type { Environment, Tool } from '../../../src/core/environment/types';
import type { JsonObject } from '../../../src/core/json';
import type { ToolModule } from './documents';

interface FileTool {
  readOnly?: boolean;
  function: { name: string; description: string; parameters: JsonObject };
}

export interface ExampleWorld {
  name: string;
  policy: string;
  tools: Tool[];
  module: ToolModule;
}

async function load(name: string): Promise<ExampleWorld> {
  const text = (file: string) =>
    readFileSync(new URL(`../../../examples/${name}/${file}`, import.meta.url), 'utf8');
  const file = parse(text(`${name}.rehearsal.json`)) as { tools: FileTool[] };
  const tools = file.tools.map((tool) => ({ ...tool.function, readOnly: tool.readOnly === true }));
  const module = (await import(`../../../examples/${name}/tools.mjs`)) as ToolModule;
  return { name, policy: text('policy.md').trim(), tools, module };
}

export const shopWorld = await load('shop');
export const flightsWorld = await load('flights');

/** An environment around tools and a policy: what the prompts read, with nothing else set. */
export function environmentOf(
  part: Pick<Environment, 'name' | 'policy' | 'tools'> & Partial<Environment>,
): Environment {
  return {
    examples: [],
    ignore: [],
    tasks: [],
    ...DEFAULTS,
    maxTurns: 30,
    limits: { act: 256, rehearse: 256 },
    ...part,
  };
}
