/**
 * Short documents for the first part of the training: an id, a name, an e-mail or a few words are copied from
 * one message into the next. Without them copying hardly starts (the measurements are in README.md).
 */
import { callLine, hermesCall, rehearseUser, resultText } from '../../../src/core/conversation/prompts';
import { formatJson, type JsonObject } from '../../../src/core/json';
import type { Document } from './documents';
import { anyValue, RESULTS } from './fields';
import type { Random } from './random';
import { inventedWord, type Part } from './words';

const chat = (user: string, assistant: string): Document => ({
  kind: 'copy',
  messages: [
    { role: 'user', content: user },
    { role: 'assistant', content: assistant },
  ],
});

function someObject(random: Random, part: Part, count: number): JsonObject {
  const object: JsonObject = {};
  for (const [name, make] of random.sample(RESULTS, count)) object[name] = make(random, part);
  return object;
}

export function copyDocument(random: Random, part: Part): Document {
  const tool = `${random.pick(['get', 'find', 'set', 'add'])}_${inventedWord(random)}`;
  const name = random.pick([
    'id',
    'name',
    'value',
    'order_id',
    'email',
    'city',
    'query',
    inventedWord(random),
  ]);
  const args = { [name]: anyValue(random, part) };
  switch (random.weighted({ echo: 8, act: 4, rehearse: 3, field: 3, records: 3 })) {
    case 'echo': {
      // Nothing but repetition, and half of its tokens carry loss: what makes copying start.
      const values = Array.from({ length: random.int(1, 3) }, () => anyValue(random, part));
      const said = values.join(random.pick([', ', ' ', '\n', ' and ']));
      return chat(said, said);
    }
    case 'act':
      return chat(`${tool} ${name} ${args[name]}.`, hermesCall(tool, args));
    case 'rehearse': {
      const result = random.chance(0.5) ? args : { ...args, status: 'ok' };
      return chat(
        rehearseUser([{ kind: 'call', line: callLine(tool, formatJson(args)) }]),
        resultText(result),
      );
    }
    case 'field': {
      const object = someObject(random, part, random.int(2, 4));
      const field = random.pick(Object.keys(object));
      return chat(`${formatJson(object)}\nWhat is the ${field}?`, `The ${field} is ${object[field]}.`);
    }
    case 'records': {
      const calls = Array.from({ length: random.int(2, 3) }, () => {
        const value = anyValue(random, part);
        return { line: callLine(tool, formatJson({ [name]: value })), value: someObject(random, part, 1) };
      });
      const asked = random.pick(calls);
      const before = calls.flatMap((one) => [
        { kind: 'call', line: one.line } as const,
        { kind: 'result', value: one.value } as const,
      ]);
      return chat(rehearseUser([...before, { kind: 'call', line: asked.line }]), resultText(asked.value));
    }
  }
}
