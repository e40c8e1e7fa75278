/** Policies and tool lists as people change them: sentences left out, tools reordered, described otherwise. */
import type { Tool } from '../../../src/core/environment/types';
import { anyTools } from './anytools';
import type { Random } from './random';
import type { Part } from './words';

const OTHER_SENTENCES = [
  'You are a support agent.',
  'Be brief.',
  'Use the tools to help the customer.',
  'Call one tool at a time.',
  'Be polite and short.',
  'Never invent an id.',
  'You help customers with their questions.',
];

/** Mostly the policy as it stands; else some of its sentences, or others. */
export function variedPolicy(policy: string, random: Random): string {
  if (random.chance(0.65)) return policy;
  const sentences = policy.split(/(?<=[.!?])\s+/);
  const kept = sentences.filter(() => random.chance(0.6));
  if (random.chance(0.4)) kept.unshift(random.pick(OTHER_SENTENCES));
  return kept.join(random.chance(0.5) ? ' ' : '\n') || random.pick(OTHER_SENTENCES);
}

/** Mostly the tools as they stand; else without some that are not called, reordered, with strangers among them. */
export function variedTools(
  tools: readonly Tool[],
  called: ReadonlySet<string>,
  random: Random,
  part: Part,
): Tool[] {
  if (random.chance(0.6)) return [...tools];
  let list = tools
    .filter((tool) => called.has(tool.name) || random.chance(0.7))
    .map((tool) => reworded(tool, random));
  if (random.chance(0.4))
    list = [...list, ...anyTools(random, part, random.int(1, 2)).map((one) => one.tool)];
  return random.chance(0.5) ? random.shuffle(list) : list;
}

function reworded(tool: Tool, random: Random): Tool {
  if (random.chance(0.5)) return tool;
  const [first = ''] = tool.description.split(/[:.]/);
  const words = tool.name.replaceAll('_', ' ');
  return { ...tool, description: random.pick([`${first}.`, first, `Tool to ${words}.`, `${words}.`]) };
}
