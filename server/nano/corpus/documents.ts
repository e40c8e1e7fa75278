/**
 * A session of expert and tools, and the two kinds of training documents made from it: the ACT chat and the
 * REHEARSE chat. Prompts come from core, word for word as at run time; nothing of them is written here.
 */
import {
  callLine,
  hermesCall,
  openAiFunction,
  type RehearseEvent,
  rehearseSystem,
  rehearseUser,
  resultText,
} from '../../../src/core/conversation/prompts';
import type { Environment, Example, Tool } from '../../../src/core/environment/types';
import { equalJson, formatJson, type Json, type JsonObject } from '../../../src/core/json';

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant' | 'tool';
  content: string;
  name?: string;
}

/** One line of the corpus. The recipe renders `messages` and `tools` with the model's own chat template. */
export interface Document {
  kind: string;
  messages: ChatMessage[];
  tools?: Json[];
  /** Indices of assistant messages that carry no loss: mistakes of the policy. */
  masked?: number[];
}

export type ToolFunction = (args: JsonObject, state: JsonObject) => Json;
export type ToolModule = Record<string, ToolFunction>;

export type SessionEvent = { kind: 'user'; text: string } | { kind: 'answer'; text: string } | CallEvent;

export interface CallEvent {
  kind: 'call';
  tool: string;
  arguments: JsonObject;
  value: Json;
  /** Carries no loss in ACT; what the tool answers to it is REHEARSE's to learn. */
  mistake: boolean;
  afterWrite: boolean;
  /** A call that a gate refuses, as the policy wrote it. */
  refused?: { message: string; line: string };
}

/** Runs tools as the executor does: own copy of the state, a thrown Error is `{"error": message}`. */
export class Session {
  readonly events: SessionEvent[] = [];
  readonly state: JsonObject;
  private wrote = false;

  constructor(
    private readonly module: ToolModule,
    state: JsonObject,
    private readonly readOnly: (tool: string) => boolean,
  ) {
    this.state = structuredClone(state);
  }

  user(text: string): void {
    this.events.push({ kind: 'user', text });
  }

  answer(text: string): void {
    this.events.push({ kind: 'answer', text });
  }

  call(tool: string, args: JsonObject, mistake = false): JsonObject {
    const value = execute(this.module, tool, args, this.state);
    this.events.push({ kind: 'call', tool, arguments: args, value, mistake, afterWrite: this.wrote });
    if (!this.readOnly(tool)) this.wrote = true;
    return value as JsonObject;
  }
}

export function execute(module: ToolModule, tool: string, args: JsonObject, state: JsonObject): Json {
  const run = module[tool];
  if (!run) throw new Error(`no such tool: ${tool}`);
  try {
    return structuredClone(run(args, state));
  } catch (error) {
    return { error: (error as Error).message };
  }
}

export const openAiTools = (tools: readonly Tool[]): Json[] =>
  tools.map((tool) => ({ type: 'function', function: openAiFunction(tool) }));

export function actDocument(
  kind: string,
  environment: Environment,
  events: readonly SessionEvent[],
): Document {
  const messages: ChatMessage[] = environment.policy ? [{ role: 'system', content: environment.policy }] : [];
  const masked: number[] = [];
  for (const event of events) {
    if (event.kind === 'user') messages.push({ role: 'user', content: event.text });
    else if (event.kind === 'answer') messages.push({ role: 'assistant', content: event.text });
    else {
      if (event.mistake) masked.push(messages.length);
      const content = event.refused?.message ?? hermesCall(event.tool, event.arguments);
      messages.push({ role: 'assistant', content });
      messages.push({ role: 'tool', name: event.tool, content: formatJson(event.value) });
    }
  }
  return { kind, messages, tools: openAiTools(environment.tools), ...(masked.length ? { masked } : {}) };
}

/**
 * `reuse`: calls that are recorded are answered from the record, and refused ones by the gates, as the product
 * does unless told otherwise; else REHEARSE answers both.
 */
export function rehearseDocument(
  kind: string,
  environment: Environment,
  events: readonly SessionEvent[],
  reuse: boolean,
): Document | undefined {
  const messages: ChatMessage[] = [{ role: 'system', content: rehearseSystem(environment) }];
  let fresh: RehearseEvent[] = [];
  for (const event of events) {
    if (event.kind === 'user') fresh.push({ kind: 'user', text: event.text });
    else if (event.kind === 'answer') fresh.push({ kind: 'assistant', text: event.text });
    else {
      fresh.push({
        kind: 'call',
        line: event.refused?.line ?? callLine(event.tool, formatJson(event.arguments)),
      });
      if (reuse && (event.refused || (!event.afterWrite && recorded(environment.examples, event)))) {
        fresh.push({ kind: 'result', value: event.value });
        continue;
      }
      messages.push({ role: 'user', content: rehearseUser(fresh) });
      messages.push({ role: 'assistant', content: resultText(event.value) });
      fresh = [];
    }
  }
  return messages.length > 1 ? { kind, messages } : undefined;
}

export function recorded(
  examples: readonly Example[],
  call: { tool: string; arguments: JsonObject },
): boolean {
  return examples.some((one) => one.tool === call.tool && equalJson(one.arguments, call.arguments));
}

export function example(tool: string, args: JsonObject, value: Json): Example {
  const failed = typeof value === 'object' && value !== null && 'error' in value;
  return {
    tool,
    arguments: args,
    outcome: failed ? 'error' : 'result',
    value,
    afterWrite: false,
    part: 'train',
  };
}
