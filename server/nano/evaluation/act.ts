/** ACT on real tools: the model's own calls are executed on databases, names and ids it never saw. */
import { parseAct } from '../../../src/core/conversation/parse';
import { createGates } from '../../../src/core/environment/gates';
import { equalJson, formatJson, type Json, type JsonObject } from '../../../src/core/json';
import { anyCall, anyTools } from '../corpus/anytools';
import { type ChatMessage, openAiTools, Session, type SessionEvent } from '../corpus/documents';
import { type ExampleWorld, flightsWorld, shopWorld } from '../corpus/examples';
import { FLIGHT_KINDS, flightState, flightTask } from '../corpus/flights';
import { Random } from '../corpus/random';
import { SHOP_KINDS, shopState, shopTask } from '../corpus/shop';
import type { Model } from './model';

const TURNS = 8;

interface Rollout {
  kind: string;
  world: ExampleWorld;
  messages: ChatMessage[];
  session: Session;
  wanted: { events: readonly SessionEvent[]; state: JsonObject };
  answer: string | null;
  calls: number;
  valid: number;
  firstExact: boolean;
}

export interface ActFigures {
  tasks: number;
  /** Final state and final answer are those of the expert. */
  success: number;
  validCalls: number;
  firstCallExact: number;
  byKind: Record<string, number>;
}

/** What went wrong in tasks that did not succeed: everything after the policy, and the answer wanted. */
function failureOf(one: Rollout): string {
  const wanted = one.wanted.events.at(-1);
  const said = one.messages
    .slice(1)
    .map(({ role, content }) => `    ${role}: ${content.replaceAll('\n', ' ')}`);
  return `  ${one.kind}, wanted: ${wanted?.kind === 'answer' ? wanted.text : ''}\n${said.join('\n')}`;
}

function rollout(world: ExampleWorld, kind: string, random: Random): Rollout {
  const state = world === shopWorld ? shopState(random, 'heldOut') : flightState(random, 'heldOut');
  const readOnly = (name: string) => world.tools.find((tool) => tool.name === name)?.readOnly === true;
  for (;;) {
    const expert = new Session(world.module, state, readOnly);
    if (world === shopWorld) shopTask(expert, state, kind as 'cancel', random, 'heldOut');
    else flightTask(expert, state, kind as 'change', random, 'heldOut');
    if (expert.events.some((event) => event.kind === 'call' && event.mistake)) continue;
    const request = (expert.events[0] as { text: string }).text;
    return {
      kind,
      world,
      messages: [
        { role: 'system', content: world.policy },
        { role: 'user', content: request },
      ],
      session: new Session(world.module, state, readOnly),
      wanted: { events: expert.events, state: expert.state },
      answer: null,
      calls: 0,
      valid: 0,
      firstExact: false,
    };
  }
}

/** `each` tasks of each kind of the shop or the airline. */
export async function actOnRealTools(
  model: Model,
  name: 'shop' | 'flights',
  each: number,
  seed: number,
): Promise<{ figures: ActFigures; failures: string[] }> {
  const world = name === 'shop' ? shopWorld : flightsWorld;
  const random = new Random(seed);
  const kinds: readonly string[] = name === 'shop' ? SHOP_KINDS : FLIGHT_KINDS;
  const all = kinds.flatMap((kind) => Array.from({ length: each }, () => rollout(world, kind, random)));
  for (let turn = 0; turn < TURNS; turn++) {
    const open = all.filter((one) => one.answer === null);
    const tools = openAiTools(world.tools);
    const texts = await model.write(open.map(({ messages }) => ({ messages, tools })));
    for (const [index, one] of open.entries()) step(one, texts[index] as string);
  }
  const byKind: Record<string, number> = {};
  for (const kind of kinds) byKind[kind] = share(all.filter((one) => one.kind === kind).map(succeeded));
  const sum = (of: (one: Rollout) => number) => all.reduce((total, one) => total + of(one), 0);
  const figures = {
    tasks: all.length,
    success: share(all.map(succeeded)),
    validCalls:
      sum((one) => one.valid) /
      Math.max(
        1,
        sum((one) => one.calls),
      ),
    firstCallExact: share(all.map((one) => one.firstExact)),
    byKind,
  };
  return { figures, failures: all.filter((one) => !succeeded(one)).map(failureOf) };
}

function step(one: Rollout, text: string): void {
  one.messages.push({ role: 'assistant', content: text });
  const { items } = parseAct(text, 'hermes', { tools: one.world.tools });
  if (!items.length) {
    one.answer = text;
    return;
  }
  for (const item of items) {
    const failure = createGates(one.world.tools).check(item);
    const first = one.calls++ === 0;
    let value: Json;
    if (failure || item.kind !== 'call') {
      value = { error_tool_call: { code: failure?.code ?? '', message: failure?.message ?? '' } };
    } else {
      one.valid++;
      const { name, arguments: args } = item.call;
      const wanted = one.wanted.events.find((event) => event.kind === 'call');
      one.firstExact ||=
        first && wanted?.kind === 'call' && name === wanted.tool && equalJson(args, wanted.arguments);
      value = one.session.call(name, args as JsonObject);
    }
    one.messages.push({
      role: 'tool',
      name: item.kind === 'call' ? item.call.name : 'unknown',
      content: formatJson(value),
    });
  }
}

function succeeded(one: Rollout): boolean {
  const last = one.wanted.events[one.wanted.events.length - 1];
  return (
    equalJson(one.session.state, one.wanted.state) && last?.kind === 'answer' && one.answer === last.text
  );
}

export const share = (list: readonly boolean[]) => list.filter(Boolean).length / Math.max(1, list.length);

/** Tools with nouns that were never seen: one request, one call; exact means the name and every argument. */
export async function unseenTools(model: Model, count: number, seed: number) {
  const random = new Random(seed);
  const cases = Array.from({ length: count }, () => {
    const made = anyTools(random, 'heldOut');
    return { tools: made.map((one) => one.tool), call: anyCall(made, random, 'heldOut') };
  });
  const texts = await model.write(
    cases.map(({ tools, call }) => ({
      messages: [
        { role: 'system', content: 'You are a helpful assistant.' },
        { role: 'user', content: call.request },
      ],
      tools: openAiTools(tools),
    })),
  );
  const judged = cases.map(({ tools, call }, index) => {
    const { items } = parseAct(texts[index] as string, 'hermes', { tools });
    const item = items[0];
    const written = item?.kind === 'call' ? item.call : undefined;
    const failure = item ? createGates(tools).check(item) : undefined;
    const name = written?.name === call.tool.tool.name;
    return {
      valid: failure === null,
      name,
      exact: name && items.length === 1 && equalJson(written?.arguments, call.arguments),
      arguments: call.tool.needed.length,
      tools: tools.length,
      request: call.request,
      text: texts[index],
    };
  });
  return {
    cases: count,
    valid: share(judged.map((one) => one.valid)),
    toolRight: share(judged.map((one) => one.name)),
    exact: share(judged.map((one) => one.exact)),
    exactOneArgument: share(judged.filter((one) => one.arguments === 1).map((one) => one.exact)),
    judged,
  };
}
