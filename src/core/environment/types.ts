/**
 * An environment as the rest of the product sees it: files resolved, defaults filled in, every tool's schema
 * compiled or marked. `schema.ts` describes the file people write; `load.ts` makes this from it.
 */
import type { Json, JsonObject } from '../json';
import type { Check } from '../reward/types';

export interface Tool {
  name: string;
  description: string;
  /** JSON Schema of the arguments, as the author wrote it. */
  parameters: JsonObject;
  /** Declared by the author (or MCP's `readOnlyHint`): calling it changes nothing. */
  readOnly: boolean;
  /** `readOnly` is only what MCP annotations say, which a server may say of any tool. */
  hinted?: boolean;
  /** Why the schema does not compile; such a tool is offered, and its schema gate says so. */
  problem?: string;
}

export type Outcome = 'result' | 'error';

/** A call recorded with its real answer: few-shot ground truth for REHEARSE, and a target of comparison. */
export interface Example {
  tool: string;
  arguments: JsonObject;
  outcome: Outcome;
  value: Json;
  /** Name of the initial state it was recorded from; absent means the environment's own. */
  state?: string;
  /** A call that writes had gone before in the same session. */
  afterWrite: boolean;
  part: 'train' | 'held-out';
  verdict?: 'match' | 'tolerable' | 'wrong rehearsal' | 'real tool wrong';
  /** The rehearsed answer that the verdict is about: another model may well rehearse another one. */
  rehearsed?: Json;
  note?: string;
}

/** A difference that the author lets pass at the places that `path` selects. */
export interface Tolerance {
  /** JSONPath (RFC 9535) into the answer. */
  path: string;
  /** Numbers may differ by `absolute`, or by `relative` times the real number. Numbers written as text count. */
  number?: { absolute?: number; relative?: number };
  /** Times may differ by so many seconds: ISO 8601 and RFC 2822 texts, or Unix times. */
  time?: { seconds: number };
  /** How a list is aligned: its order carries no meaning, or its items have a key. */
  list?: 'set' | { key: string };
  /** `null` and an absent field are the same. */
  null?: 'absent';
}

export interface Task {
  id: string;
  /** The user's first message. */
  instruction: string;
  /** Further user messages, given in order whenever the policy answers. */
  user: string[];
  /** Initial state: a file or a value, only for real executions. */
  state?: Json;
  checks: Check[];
  maxTurns?: number;
}

/** How the real tools run. Read here, run by `node/tools` (Real tools). */
export interface ExecutorConfig {
  kind: string;
  [setting: string]: Json;
}

export interface Limits {
  /** Tokens an ACT output may have. */
  act: number;
  /** Tokens a REHEARSE output may have. */
  rehearse: number;
}

export interface Environment {
  name: string;
  /** The system prompt of ACT. */
  policy: string;
  tools: Tool[];
  examples: Example[];
  /** JSONPath of fields that may differ between a rehearsed and a real answer. */
  ignore: string[];
  /** How else a rehearsed answer may differ from the real one. */
  tolerances?: Tolerance[];
  executor?: ExecutorConfig;
  tasks: Task[];
  /** `check`: our gates answer first. `prompt`: the policy has to refuse by itself, in REHEARSE. */
  gates: 'check' | 'prompt';
  /** Answer word for word from an example with the same tool and equal arguments. */
  reuseExamples: boolean;
  /** Whether earlier reasoning stays in ACT's history. */
  reasoning: 'keep' | 'drop';
  /** What an `error_tool_call` observation does to the rollout. */
  onGateFailed: 'continue' | 'stop';
  maxTurns: number;
  limits: Limits;
}
