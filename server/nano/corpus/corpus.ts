/** The corpus: documents of every kind, in the shares that the recipe asks for. Deterministic by seed. */
import type { Example } from '../../../src/core/environment/types';
import type { JsonObject } from '../../../src/core/json';
import { type AnyTool, anyCall, anyResult, anySession, anyTools } from './anytools';
import { copyDocument } from './copying';
import {
  actDocument,
  type Document,
  example,
  execute,
  rehearseDocument,
  Session,
  type SessionEvent,
} from './documents';
import { type ExampleWorld, environmentOf, flightsWorld, shopWorld } from './examples';
import { FLIGHT_KINDS, flightCall, flightState, flightTask } from './flights';
import { Random } from './random';
import { withRefused } from './refused';
import { SHOP_KINDS, shopCall, shopState, shopTask } from './shop';
import { variedPolicy, variedTools } from './varied';
import type { Part } from './words';

export const KINDS = [
  'copy',
  'act-shop',
  'act-flights',
  'act-any',
  'rehearse-shop',
  'rehearse-flights',
  'rehearse-any',
  'act-novice',
] as const;
export type Kind = (typeof KINDS)[number];

/** Where the rehearsed answer hangs on what was rehearsed before: changes after a look-up. */
const SHOP_CHANGES = [...SHOP_KINDS, 'cancel', 'cancel', 'address', 'address'] as const;
const FLIGHT_CHANGES = [...FLIGHT_KINDS, 'change', 'change', 'cancel'] as const;

export interface CorpusOptions {
  /** What REHEARSE documents are made of, where not of the same words as the others. */
  rehearse?: Part;
  /** What the calls in them are made of, where the tools are ones that nobody wrote: copying stays copying. */
  calls?: Part;
  /** Fewest and most requests in a session with such tools. */
  requests?: readonly [number, number];
  /** Share of order ids sent without their # that ACT learns to send so: then it is a choice, if a rare one. */
  slips?: number;
}

/** One document; `part` says which names and words it is made of. */
export function makeDocument(kind: Kind, random: Random, part: Part, options: CorpusOptions = {}): Document {
  for (;;) {
    const document = attempt(kind, random, part, options);
    if (document) return document;
  }
}

function attempt(kind: Kind, random: Random, part: Part, options: CorpusOptions): Document | undefined {
  if (kind === 'copy') return copyDocument(random, part);
  if (kind === 'act-any' || kind === 'rehearse-any') return anyDocument(kind, random, part, options);
  const world = kind.endsWith('flights') ? flightsWorld : shopWorld;
  return worldDocument(kind, world, random, part, options);
}

function worldDocument(
  kind: Kind,
  world: ExampleWorld,
  random: Random,
  part: Part,
  { slips }: CorpusOptions,
): Document | undefined {
  const rehearses = kind.startsWith('rehearse');
  const options = { free: rehearses, records: rehearses, novice: kind === 'act-novice' };
  const { session, examples } = worldSession(world, random, part, options);
  const called = new Set(session.events.flatMap((event) => (event.kind === 'call' ? [event.tool] : [])));
  const tools = variedTools(world.tools, called, random, part);
  const environment = environmentOf({ name: world.name, policy: variedPolicy(world.policy, random), tools });
  const events = random.chance(rehearses ? 0.12 : 0.04)
    ? withRefused(session.events, tools, random)
    : session.events;
  if (!rehearses) return actDocument(kind, environment, slips ? withSlips(events, slips, random) : events);
  environment.examples = examples;
  return rehearseDocument(kind, environment, events, random.chance(part === 'plain' ? 0.6 : 0.4));
}

function withSlips(events: readonly SessionEvent[], share: number, random: Random): SessionEvent[] {
  return events.map((event) => {
    const slip = event.kind === 'call' && event.mistake && !event.refused && event.tool === 'get_order';
    return slip && random.chance(share) ? { ...event, mistake: false } : event;
  });
}

/** One to four requests, done by the expert; `free`: sometimes calls that no request asked for. */
export function worldSession(
  world: ExampleWorld,
  random: Random,
  part: Part,
  options: { free?: boolean; records?: boolean; novice?: boolean } = {},
): { session: Session; examples: Example[] } {
  const shop = world === shopWorld;
  const state = shop ? shopState(random, part) : flightState(random, part);
  const readOnly = (name: string) => world.tools.find((tool) => tool.name === name)?.readOnly === true;
  const session = new Session(world.module, state, readOnly);
  for (let left = Number(random.weighted({ 1: 3, 2: 3, 3: 3, 4: 2 })); left > 0; left--) {
    if (options.free && random.chance(0.35)) freeCalls(session, state, world, random, part);
    else if (shop)
      shopTask(
        session,
        state,
        random.pick(part === 'plain' ? SHOP_CHANGES : SHOP_KINDS),
        random,
        part,
        options.novice,
      );
    else
      flightTask(session, state, random.pick(part === 'plain' ? FLIGHT_CHANGES : FLIGHT_KINDS), random, part);
  }
  return { session, examples: options.records ? records(world, state, random, part, session.events) : [] };
}

/** Calls that fit no request: what an untrained policy, or a person, may well send. */
function freeCalls(
  session: Session,
  state: JsonObject,
  world: ExampleWorld,
  random: Random,
  part: Part,
): void {
  const calls = Array.from({ length: random.int(1, 2) }, () =>
    world === shopWorld ? shopCall(state, random, part) : flightCall(state, random),
  );
  const values = calls.flatMap((call) => Object.values(call.arguments)).filter(() => random.chance(0.5));
  session.user(
    `${random.pick(['Please check', 'What about', 'Tell me about', 'I have a question about'])} ${values.join(' and ') || 'this'}.`,
  );
  for (const call of calls) session.call(call.tool, call.arguments);
}

/** Up to six recorded calls on the same data; often among them one that the session makes. */
function records(
  world: ExampleWorld,
  state: JsonObject,
  random: Random,
  part: Part,
  events: readonly SessionEvent[],
): Example[] {
  if (random.chance(0.2)) return [];
  const calls: { tool: string; arguments: JsonObject }[] = [];
  for (let i = random.int(0, 5); i > 0; i--) {
    calls.push(world === shopWorld ? shopCall(state, random, part) : flightCall(state, random));
  }
  for (const event of events)
    if (event.kind === 'call' && !event.afterWrite && random.chance(part === 'plain' ? 0.6 : 0.35))
      calls.push(event);
  const seen = new Set<string>();
  return random.shuffle(calls).flatMap((call) => {
    const key = JSON.stringify([call.tool, call.arguments]);
    if (seen.has(key) || seen.size >= 6) return [];
    seen.add(key);
    return [
      example(
        call.tool,
        call.arguments,
        execute(world.module, call.tool, call.arguments, structuredClone(state)),
      ),
    ];
  });
}

const POLICIES = [
  'You are a helpful assistant.',
  'You are an assistant with tools. Do what the user asks, one call at a time.',
  'Help the user with the tools. Answer in one short sentence.',
  'You answer questions with tools.',
  '',
];

function anyDocument(
  kind: Kind,
  random: Random,
  part: Part,
  { calls = part, requests = [1, 5] }: CorpusOptions,
): Document | undefined {
  const made = anyTools(random, part);
  const tools = made.map((one) => one.tool);
  const environment = environmentOf({ name: 'any', policy: random.pick(POLICIES), tools });
  let events = anySession(made, random.int(...requests), random, calls, part);
  if (random.chance(0.06)) events = withRefused(events, tools, random);
  if (kind === 'act-any') return actDocument(kind, environment, events);
  environment.examples = anyRecords(made, events, random, calls, part);
  return rehearseDocument(kind, environment, events, random.chance(0.3));
}

function anyRecords(
  made: readonly AnyTool[],
  events: readonly SessionEvent[],
  random: Random,
  calls: Part,
  part: Part,
) {
  if (random.chance(0.4)) return [];
  const list = Array.from({ length: random.int(1, 4) }, () => {
    const call = anyCall(made, random, calls);
    return example(call.tool.tool.name, call.arguments, anyResult(call, random, part));
  });
  for (const event of events) {
    if (event.kind === 'call' && !event.afterWrite && !event.refused && random.chance(0.3)) {
      list.push(example(event.tool, event.arguments, event.value));
    }
  }
  return random.shuffle(list);
}

/** `count` documents of the given shares. */
export function* corpus(
  seed: number,
  count: number,
  shares: Partial<Record<Kind, number>>,
  part: Part = 'train',
  options: CorpusOptions = {},
): Generator<Document> {
  const random = new Random(seed);
  const all = shares as Record<Kind, number>;
  for (let i = 0; i < count; i++) {
    const kind = random.weighted(all);
    const words = kind.startsWith('rehearse') ? (options.rehearse ?? part) : part;
    yield makeDocument(kind, random, words, options);
  }
}
