/** Calls that core's own gates refuse, put before a right one: as mistakes in ACT, and REHEARSE learns the answer. */

import { parseAct } from '../../../src/core/conversation/parse';
import { callLine, hermesCall } from '../../../src/core/conversation/prompts';
import { createGates } from '../../../src/core/environment/gates';
import type { Tool } from '../../../src/core/environment/types';
import { formatJson, type Json, type JsonObject } from '../../../src/core/json';
import type { CallEvent, SessionEvent } from './documents';
import type { Random } from './random';
import { inventedWord } from './words';

/** The events with one refused call before a random one of them, or as they were where there is no call. */
export function withRefused(
  events: readonly SessionEvent[],
  tools: readonly Tool[],
  random: Random,
): SessionEvent[] {
  const places = events.flatMap((event, index) => (event.kind === 'call' ? [index] : []));
  if (!places.length) return [...events];
  const place = random.pick(places);
  const refused = refuse(events[place] as CallEvent, tools, random);
  return refused ? [...events.slice(0, place), refused, ...events.slice(place)] : [...events];
}

function refuse(call: CallEvent, tools: readonly Tool[], random: Random): CallEvent | undefined {
  const message = badMessage(call, random);
  const item = parseAct(message, 'hermes', { tools }).items[0];
  const failure = item && createGates(tools).check(item);
  if (!failure) return undefined;
  const { code, message: why, details } = failure;
  const value: Json = {
    error_tool_call: details === undefined ? { code, message: why } : { code, message: why, details },
  };
  const line = item.kind === 'call' ? callLine(item.call.name, item.call.argumentsText) : item.text;
  return { ...call, value, mistake: true, refused: { message, line } };
}

function badMessage(call: CallEvent, random: Random): string {
  const names = Object.keys(call.arguments);
  const name = random.pick(names.length ? names : ['id']);
  switch (random.weighted({ unknown: 3, missing: 3, type: 2, format: 2 })) {
    case 'unknown': {
      const [verb = '', noun = ''] = call.tool.split('_');
      const strange = random.pick([
        `${random.pick(['make', 'update', 'delete', 'list'])}_${noun || verb}`,
        inventedWord(random),
      ]);
      return hermesCall(strange, call.arguments);
    }
    case 'missing': {
      const { [name]: _, ...rest } = call.arguments;
      return hermesCall(call.tool, rest);
    }
    case 'type': {
      const wrong: JsonObject = { ...call.arguments, [name]: random.chance(0.5) ? random.int(1, 99) : true };
      return hermesCall(call.tool, wrong);
    }
    case 'format': {
      const text = formatJson({ name: call.tool, arguments: call.arguments });
      return `<tool_call>\n${text.slice(0, random.int(8, text.length - 1))}\n</tool_call>`;
    }
  }
}
