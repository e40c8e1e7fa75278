import type { Json } from '../json';

/** A message in the terms of chat templates (OpenAI's chat format, as Hugging Face templates take it). */
export type Message =
  | { role: 'system' | 'user'; content: string }
  | { role: 'assistant'; content: string; tool_calls?: TemplateCall[] }
  | { role: 'tool'; content: string; name: string; tool_call_id?: string };

export interface TemplateCall {
  id: string;
  type: 'function';
  function: { name: string; arguments: Json };
}

/** The forms in which models write tool calls. Chosen from the chat template, never from the model's name. */
export type Dialect = 'hermes' | 'qwen-coder' | 'llama' | 'mistral';

export interface Call {
  name: string;
  /** Parsed arguments; not yet known to be an object (the schema gate says so). */
  arguments: Json;
  /** The arguments as the model wrote them: integers beyond 2^53 keep their digits here. */
  argumentsText: string;
}

/** One block of an ACT output, in order: a call, or a format error for that block alone. */
export type ActItem = { kind: 'call'; call: Call } | { kind: 'format_error'; reason: string; text: string };

export interface ActParse {
  /** Text inside `<think>…</think>`, or null where there is none. */
  reasoning: string | null;
  /** What the message says outside of reasoning and calls: the answer where `items` is empty. */
  content: string;
  items: ActItem[];
  /** What a person should know and the loop does not use: a call only drafted in reasoning, an invented response. */
  notes: string[];
}

export type ResultParse =
  | { ok: true; value: Json; text: string }
  | { ok: false; reason: string; raw: string };
