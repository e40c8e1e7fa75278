/** REHEARSE on held-out databases: are the answers well-formed, and exact where the prompt decides them? */
import { parseResult } from '../../../src/core/conversation/result';
import { equalJson, isObject, type Json } from '../../../src/core/json';
import { type Kind, makeDocument, worldSession } from '../corpus/corpus';
import {
  type ChatMessage,
  type Document,
  recorded,
  rehearseDocument,
  type SessionEvent,
} from '../corpus/documents';
import { environmentOf, flightsWorld, shopWorld } from '../corpus/examples';
import { Random } from '../corpus/random';
import { share } from './act';
import type { Model } from './model';

interface Case {
  messages: ChatMessage[];
  value: Json;
  /** What decides the answer; `free` where nothing does. */
  decided: 'recorded' | 'missing #' | 'read after a write' | 'free';
}

export interface RehearseFigures {
  cases: number;
  wellFormed: number;
  /** Same fields as the real tool's answer. */
  sameShape: number;
  /** Exact answers, where something decides them. */
  exact: Record<string, { share: number; cases: number }>;
}

/** Every assistant message of a REHEARSE chat is a case: what stands before it is as the real tools answered. */
function casesOf(document: Document, decided: (index: number) => Case['decided']): Case[] {
  const cases: Case[] = [];
  document.messages.forEach((message, index) => {
    if (message.role !== 'assistant') return;
    const parsed = parseResult(message.content);
    if (!parsed.ok) throw new Error('a document of the corpus does not parse');
    cases.push({
      messages: document.messages.slice(0, index),
      value: parsed.value,
      decided: decided(cases.length),
    });
  });
  return cases;
}

function worldCases(name: 'shop' | 'flights', count: number, random: Random): Case[] {
  const world = name === 'shop' ? shopWorld : flightsWorld;
  const cases: Case[] = [];
  while (cases.length < count) {
    const { session, examples } = worldSession(world, random, 'heldOut', { free: true, records: true });
    const environment = environmentOf({ name, policy: world.policy, tools: world.tools, examples });
    const document = rehearseDocument(`rehearse-${name}`, environment, session.events, false);
    if (!document) continue;
    const calls = session.events.filter((event) => event.kind === 'call');
    cases.push(...casesOf(document, (index) => decidedBy(calls, index, examples)));
  }
  return cases;
}

function decidedBy(
  calls: Extract<SessionEvent, { kind: 'call' }>[],
  index: number,
  examples: Parameters<typeof recorded>[0],
) {
  const call = calls[index]!;
  if (!call.afterWrite && recorded(examples, call)) return 'recorded';
  const id = call.arguments.order_id;
  if (typeof id === 'string' && !id.startsWith('#')) return 'missing #';
  const before = calls
    .slice(0, index)
    .filter((one) => equalJson(Object.values(one.arguments)[0], Object.values(call.arguments)[0]));
  const seen = before.some((one) => one.tool === call.tool);
  if (call.afterWrite && seen && /^get_/.test(call.tool)) return 'read after a write';
  return 'free';
}

export async function rehearseOn(
  model: Model,
  name: 'shop' | 'flights' | 'any',
  count: number,
  seed: number,
): Promise<RehearseFigures> {
  const random = new Random(seed);
  const cases: Case[] = [];
  if (name !== 'any') cases.push(...worldCases(name, count, random));
  while (cases.length < count)
    cases.push(...casesOf(makeDocument('rehearse-any' as Kind, random, 'heldOut'), () => 'free'));
  cases.length = count;
  const texts = await model.write(cases.map(({ messages }) => ({ messages })));
  const values = texts.map((text) => parseResult(text));
  const judged = cases.map((one, index) => {
    const parsed = values[index]!;
    return {
      ...one,
      ok: parsed.ok,
      exact: parsed.ok && equalJson(parsed.value, one.value),
      shape: parsed.ok && shape(parsed.value) === shape(one.value),
    };
  });
  const exact: RehearseFigures['exact'] = {};
  for (const decided of ['recorded', 'missing #', 'read after a write'] as const) {
    const mine = judged.filter((one) => one.decided === decided);
    if (mine.length) exact[decided] = { share: share(mine.map((one) => one.exact)), cases: mine.length };
  }
  return {
    cases: cases.length,
    wellFormed: share(judged.map((one) => one.ok)),
    sameShape: share(judged.map((one) => one.shape)),
    exact,
  };
}

const shape = (value: Json) =>
  isObject(value) ? Object.keys(value).sort().join() : Array.isArray(value) ? '[]' : typeof value;
