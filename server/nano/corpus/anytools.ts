/**
 * Environments that nobody wrote: random tools with a verb, a noun and random arguments, requests that call one
 * of them, and results of the shape that the description promises. They teach what a person's own first
 * environment needs: read the list, pick the tool, fill its arguments from the request.
 */
import type { Tool } from '../../../src/core/environment/types';
import type { Json, JsonObject } from '../../../src/core/json';
import type { SessionEvent } from './documents';
import { ARGUMENTS, enumField, type Field, idField, RESULTS } from './fields';
import type { Random } from './random';
import { capital, inventedWord, listOf, type Part } from './words';

const split = (text: string) => text.trim().split(/\s+/);

const NOUNS: Record<'train' | 'heldOut', string[]> = {
  train:
    split(`account activity agent alarm album alert animal answer apartment app appointment area article artist
    asset auction balance bank battery bed bill bike blog board boat book booking branch budget bus button cabin
    calendar call camera campaign car card cart case category chat check city class client code comment company concert
    contact contest contract conversation country coupon course customer data day deal delivery device dish doctor
    document domain door driver email employee engine entry event exam exchange expense fact family fee file film
    filter flat flight folder food forecast form friend game garage gift goal grade grant group guest guide history
    holiday home hotel house idea image index insurance invite invoice issue item job journey key label lead league
    lesson letter level light link loan location lock log machine mail map market match meal medicine meeting member
    memory menu message meter model movie music name network news note notice number offer office option owner package
    page parcel park parking part partner party pass password path patient payment permit person pet phone photo
    picture place plan plant player playlist poll pool post prescription price print prize product profile program
    project promotion property purchase question queue quiz quote race rate reading receipt recipe record refund
    region reminder rental repair reply report request reservation resource restaurant result review reward ride road
    role room route rule salary sale sample schedule school score screen season seat section sensor series server
    service session setting share shift ship shipment shop show sign site snack song sound space speaker stock stop
    store story stream student subscription suggestion summary supplier survey switch system table tag target task tax
    taxi team test theme thermostat thread ticket timer title token topic tour toy track trade train transaction
    transfer translation transport trip truck tutor user value vehicle version video view visit visitor voice vote
    voucher warranty weather website window word work workout zone`),
  heldOut:
    split(`library museum newsletter vaccine festival donation greenhouse orchestra passport harvest kennel
    aquarium canoe bakery satellite podcast mortgage scooter sauna tractor`),
};

interface Verb {
  names: string[];
  does: string[];
  asks: string[];
  /** Status that it leaves, for verbs that change something. */
  status?: string;
}

const VERBS: Verb[] = [
  {
    names: split('get fetch show read check lookup'),
    does: ['Get', 'Show', 'Look up', 'Read', 'Return', 'Fetch'],
    asks: [
      'What is the {n}',
      'Show me the {n}',
      'Get the {n}',
      'Tell me the {n}',
      'Check the {n}',
      'I need the {n}',
      'Look up the {n}',
      'How is the {n}',
      'What is the {n} like',
      "What's the {n}",
      'Can you get the {n}',
      'Could you check the {n}',
      'I want to know the {n}',
      'Give me the {n}',
    ],
  },
  {
    names: split('search find list query'),
    does: ['Search', 'Find', 'List', 'Look for'],
    asks: [
      'Find a {n}',
      'Search for a {n}',
      'Look for a {n}',
      'Find me a {n}',
      'I am looking for a {n}',
      'Which {n} is there',
      'List every {n}',
      'Can you find a {n}',
      'I need a {n}',
      'Is there a {n}',
    ],
  },
  {
    names: split('create add make new book open schedule'),
    does: ['Create', 'Add', 'Make', 'Book', 'Open'],
    asks: [
      'Create a {n}',
      'Add a {n}',
      'Make a new {n}',
      'I need a new {n}',
      'Please book a {n}',
      'Set up a {n}',
      'I want a new {n}',
      'Can you create a {n}',
      'Please add a {n}',
      'Book me a {n}',
    ],
    status: 'created',
  },
  {
    names: split('update set change edit'),
    does: ['Update', 'Change', 'Set', 'Edit'],
    asks: ['Update the {n}', 'Change the {n}', 'Set the {n}', 'Edit the {n}', 'Please update the {n}'],
    status: 'updated',
  },
  {
    names: split('delete remove cancel drop'),
    does: ['Delete', 'Remove', 'Cancel'],
    asks: [
      'Delete the {n}',
      'Remove the {n}',
      'Cancel the {n}',
      'Please delete the {n}',
      'I no longer need the {n}',
    ],
    status: 'deleted',
  },
  {
    names: split('send share submit'),
    does: ['Send', 'Share', 'Submit'],
    asks: ['Send the {n}', 'Share the {n}', 'Send a {n}', 'Please send the {n}', 'Submit the {n}'],
    status: 'sent',
  },
];

export interface AnyTool {
  tool: Tool;
  verb: Verb;
  noun: string;
  needed: Field[];
  /** Names of the fields it gives back. */
  gives: string[];
  /** Whether its results start with its arguments. */
  echoes: boolean;
}

const QUESTION = /^(What|How|Which|Can|Could|Is)/;

const PARAMETER_ORDERS = [
  (properties: JsonObject, required: string[]): JsonObject => ({ type: 'object', properties, required }),
  (properties: JsonObject, required: string[]): JsonObject => ({
    type: 'object',
    properties,
    required,
    additionalProperties: false,
  }),
];

function enumerated(words: string[]): string {
  return words.length < 2
    ? words.join('')
    : `${words.slice(0, -1).join(', ')} and ${words[words.length - 1]}`;
}

function anyTool(random: Random, part: Part, taken: Set<string>): AnyTool {
  for (;;) {
    const verb = random.pick(VERBS);
    const noun =
      part !== 'heldOut' && random.chance(0.35) ? inventedWord(random) : random.pick(NOUNS[listOf(part)]);
    const [first, second] = [random.pick(verb.names), noun];
    const name = random.weighted({
      [`${first}_${second}`]: 8,
      [`${first}${capital(second)}`]: 1,
      [`${second}_${first}`]: 1,
    });
    if (taken.has(name)) continue;
    taken.add(name);
    const needed: Field[] = [];
    const add = (field: Field) => {
      if (!needed.some((one) => one.name === field.name)) needed.push(field);
    };
    if (random.chance(verb.status && verb.status !== 'created' ? 0.7 : 0.3)) add(idField(random, noun));
    for (let i = random.weighted({ 0: 3, 1: 5, 2: 2 }); i !== '0'; i = i === '2' ? '1' : '0') {
      add(random.chance(0.15) ? enumField(random) : random.pick(ARGUMENTS)(random));
    }
    if (!needed.length && !random.chance(0.4)) add(random.pick(ARGUMENTS)(random));
    const gives = verb.status ? ['status'] : random.sample(RESULTS, random.int(1, 3)).map(([field]) => field);
    const optional = random.chance(0.12) ? enumField(random) : undefined;
    const properties: JsonObject = {};
    for (const field of needed) properties[field.name] = field.schema;
    if (optional && !properties[optional.name]) properties[optional.name] = optional.schema;
    const promise = !verb.status && random.chance(0.6) ? `: its ${enumerated(gives)}` : '';
    const article = random.pick(['a', 'the', 'one']);
    const description = `${random.pick(verb.does)} ${article} ${noun}${promise}.`;
    const parameters = random.pick(PARAMETER_ORDERS)(
      properties,
      needed.map((field) => field.name),
    );
    return {
      tool: { name, description, parameters, readOnly: !verb.status },
      verb,
      noun,
      needed,
      gives,
      echoes: random.chance(0.5),
    };
  }
}

/** A few tools; often two share a noun or a verb, so that both words have to be read. */
export function anyTools(random: Random, part: Part, count = random.int(1, 4)): AnyTool[] {
  const taken = new Set<string>();
  return Array.from({ length: count }, () => anyTool(random, part, taken));
}

export interface AnyCall {
  request: string;
  tool: AnyTool;
  arguments: JsonObject;
}

export function anyCall(tools: readonly AnyTool[], random: Random, part: Part): AnyCall {
  const tool = random.pick(tools);
  const args: JsonObject = {};
  const said: string[] = [];
  for (const field of tool.needed) {
    const value = field.value(random, part);
    args[field.name] = value;
    said.push(`${random.pick(field.say)}${value}`);
  }
  const ask = random.pick(tool.verb.asks).replace('{n}', tool.noun);
  const order = random.chance(0.8) ? said : random.shuffle(said);
  return { request: `${[ask, ...order].join(' ')}${QUESTION.test(ask) ? '?' : '.'}`, tool, arguments: args };
}

export function anyResult(call: AnyCall, random: Random, part: Part): JsonObject {
  const value: JsonObject = call.tool.echoes ? { ...call.arguments } : {};
  if (call.tool.verb.status) return { ...value, status: call.tool.verb.status };
  for (const name of call.tool.gives) {
    const make = RESULTS.find(([field]) => field === name)?.[1];
    if (make && !(name in value)) value[name] = make(random, part);
  }
  return Object.keys(value).length ? value : { status: 'ok' };
}

/** What people also say: no tool is called for it. */
const SMALL_TALK: [string, string][] = [
  ['Hello!', 'Hello! What can I do for you?'],
  ['Hi', 'Hello! What can I do for you?'],
  ['Hello, can you help me?', 'Hello! What can I do for you?'],
  ['Thank you!', 'You are welcome.'],
  ['Thanks.', 'You are welcome.'],
  ['Thank you, goodbye.', 'You are welcome.'],
];

/** The answer says the first thing that the request did not already say. */
function anyAnswer(call: AnyCall, value: JsonObject): string {
  const noun = capital(call.tool.noun);
  if (typeof value.error === 'string') return `${value.error}.`;
  if (call.tool.verb.status) return `The ${call.tool.noun} is ${call.tool.verb.status}.`;
  const field = call.tool.gives.find((name) => name in value && !(name in call.arguments));
  if (!field) return `${noun} found.`;
  const said = value[field] as Json;
  if (typeof said === 'boolean') return `The ${call.tool.noun} is ${said ? '' : 'not '}${field}.`;
  return `The ${field} is ${said}.`;
}

/** A conversation of `count` requests with such tools: the words of its calls, and those of the answers. */
export function anySession(
  tools: readonly AnyTool[],
  count: number,
  random: Random,
  calls: Part,
  answers: Part,
): SessionEvent[] {
  const events: SessionEvent[] = [];
  let wrote = false;
  for (let i = 0; i < count; i++) {
    if (random.chance(0.03)) {
      const [said, answer] = random.pick(SMALL_TALK);
      events.push({ kind: 'user', text: said }, { kind: 'answer', text: answer });
      continue;
    }
    const call = anyCall(tools, random, calls);
    events.push({ kind: 'user', text: call.request });
    const failed =
      call.tool.needed.some((field) => /id$|number|code|reference/.test(field.name)) && random.chance(0.08);
    const value = failed
      ? { error: `${capital(call.tool.noun)} not found` }
      : anyResult(call, random, answers);
    events.push({
      kind: 'call',
      tool: call.tool.tool.name,
      arguments: call.arguments,
      value,
      mistake: false,
      afterWrite: wrote,
    });
    if (!call.tool.tool.readOnly) wrote = true;
    events.push({ kind: 'answer', text: anyAnswer(call, value) });
  }
  return events;
}
