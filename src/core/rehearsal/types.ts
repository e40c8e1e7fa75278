/** What a rehearsal is made of. All of it is immutable and plain data; states share structure. */
import type { ActParse, Call, Message } from '../conversation/types';
import type { GateFailure } from '../environment/gates';
import type { Environment, Outcome, Task, Tool } from '../environment/types';
import type { Json } from '../json';
import type { PolicyInfo, SampledToken, Sampling } from '../policy';

export type Role = 'act' | 'rehearse';

/** How a token came to stand where it stands. Only `sampled` ones are ever trained on. */
export type Origin = 'sampled' | 'chosen' | 'typed' | 'edited';

export interface Token extends SampledToken {
  origin: Origin;
}

/** Tokens of an output as a linked list, newest first: accepting one costs the same however long it is. */
export interface TokenList {
  readonly token: Token;
  readonly before: TokenList | null;
  readonly length: number;
}

/** Prompt ids of a role as a linked list of segments, newest first. The ids of a prefix never change. */
export interface Segments {
  readonly ids: readonly number[];
  readonly origin: 'template' | 'output';
  readonly before: Segments | null;
  /** Ids in this segment and all before it. */
  readonly length: number;
}

export interface Output {
  role: Role;
  /** 1-based. */
  turn: number;
  /** Index of the call that is rehearsed (0-based), null for ACT. */
  call: number | null;
  /** Which draw of this output: part of its seed, so that sampling again really draws again. */
  draw: number;
  prompt: Segments;
  tokens: TokenList | null;
  /** Null while tokens are still to come. */
  end: 'stop' | 'length' | null;
}

export type Source = 'gate' | 'recorded' | 'rehearsed' | 'real' | 'edited';

export interface Observation {
  source: Source;
  outcome: Outcome;
  value: Json;
  /** What the model wrote, where it could not be parsed. */
  raw?: string;
  durationMs?: number;
}

/** One item of an ACT message and what became of it. */
export interface CallStep {
  index: number;
  /** Absent where the block was no call at all. */
  call?: Call;
  tool?: Tool;
  /** The gate that failed, or null where all three hold. */
  gate: GateFailure | null;
  rehearsal: Output | null;
  observation: Observation | null;
}

export interface Turn {
  /** 1-based. */
  index: number;
  /** User message that came before this turn's ACT, if any. */
  user: string | null;
  act: Output;
  /** Null while ACT is being written. */
  parse: ActParse | null;
  calls: readonly CallStep[];
}

export type Stop =
  | 'answered'
  | 'turn_limit'
  | 'output_limit'
  | 'gate_failed'
  | 'context_limit'
  | 'cancelled'
  | 'error';

/** Who answers a call once its gates hold: the policy (or a record), or the real tools. */
export type ObservationsFrom = 'rehearse' | 'real';

export interface RehearsalOptions extends Sampling {
  seed: number;
  /** Alternatives asked for at each token (0 to 20). */
  alternatives: number;
  priority: number;
  /** Where observations come from, unless a driver or a person wants it otherwise for a call. */
  observations: ObservationsFrom;
}

/** Everything a rehearsal starts from: a snapshot, so that a saved session needs no other file. */
export interface Setup {
  environment: Environment;
  task: Task;
  options: RehearsalOptions;
  policy: PolicyInfo;
}

/** Ids that a chat template gives for what is new. */
export interface TemplateSegment {
  messages: readonly Message[];
  tools?: readonly Tool[];
  /** Null for a role's first prompt; else what stands before is an output that ended thus. */
  after: 'stop' | 'length' | null;
}

export type Need =
  /** Token ids of a template segment. Costs no sampling and is never a step of its own. */
  | { kind: 'prompt'; role: Role; turn: number; call: number | null; segment: TemplateSegment }
  /** The next token(s) of an output. */
  | {
      kind: 'tokens';
      role: Role;
      turn: number;
      call: number | null;
      prompt: number[];
      maxTokens: number;
      seed: number;
    }
  /** An observation that costs nothing: a failed gate or a recorded answer. One step under any gesture. */
  | { kind: 'observation'; turn: number; call: number; observation: Observation }
  | { kind: 'execution'; turn: number; call: number; tool: string; arguments: Json }
  /** The user's next message: scripted in the task. */
  | { kind: 'user'; turn: number; text: string }
  | { kind: 'done'; stop: Stop; message?: string };

export type Reply =
  /** `draw` begins a new draw here: this output and all that follow have other seeds. */
  | { kind: 'prompt'; ids: readonly number[]; draw?: number }
  | { kind: 'token'; token: Token }
  | { kind: 'observation' }
  /** Also where a rehearsal was to come: a person may have any call executed. */
  | { kind: 'executed'; outcome: Outcome; value: Json; durationMs: number; raw?: string }
  | { kind: 'user'; text: string }
  | { kind: 'stop'; stop: 'cancelled' | 'error'; message?: string };

/** What `need` looks at; everything a person sees is derived from the rest. */
export type Position =
  | {
      kind: 'prompt';
      role: Role;
      call: number | null;
      segment: TemplateSegment;
      /** What `State.told` becomes once this is rendered. */
      told?: number;
    }
  | { kind: 'tokens'; role: Role; call: number | null }
  | { kind: 'observation'; call: number; observation: Observation }
  | { kind: 'execution'; call: number }
  | { kind: 'user'; text: string }
  | { kind: 'done'; stop: Stop; message?: string };

export interface State {
  readonly setup: Setup;
  readonly turns: readonly Turn[];
  readonly position: Position;
  /** What each role's next prompt grows from. */
  readonly prompts: { readonly act: Segments | null; readonly rehearse: Segments | null };
  /** Scripted user messages already given. */
  readonly usersGiven: number;
  /** The user message that the next turn answers, when it is not the first. */
  readonly pendingUser: string | null;
  /** Which draw the next output belongs to. */
  readonly draw: number;
  /** How many events of the conversation REHEARSE's own chat already holds. */
  readonly told: number;
}
