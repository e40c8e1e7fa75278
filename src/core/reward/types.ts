/** What a check is and what it answers. The file's JSON Schema is in `environment/schema.ts`. */
import type { Json, JsonObject } from '../json';

/** A literal JSON value (deep equality) or an object with one `$…` key: see `matchers.ts`. */
export type Matcher = Json;

export interface ExpectedCall {
  tool: string;
  /** Matchers by argument name; absent means that any arguments do. */
  arguments?: { [name: string]: Matcher };
}

interface Weighted {
  /** By which `judge` checks of the task refer to it. */
  id?: string;
  /** Name shown to people; a sentence is made where absent. */
  name?: string;
  /** Share of the reward, default 1. */
  weight?: number;
  /** Where it fails, the reward is 0. */
  required?: boolean;
}

export type Check = Weighted &
  (
    | {
        kind: 'calls';
        expected: ExpectedCall[];
        /** In this order (default true). */
        ordered?: boolean;
        /** What else may be called besides `expected`: anything, read-only tools, nothing. Default `reads`. */
        others?: 'any' | 'reads' | 'none';
      }
    | { kind: 'forbidden'; calls: ExpectedCall[] }
    | {
        kind: 'answer';
        contains?: string | string[];
        pattern?: string;
        schema?: JsonObject;
        ignoreCase?: boolean;
      }
    | { kind: 'fromResult'; tool: string; path: string }
    | { kind: 'maxCalls'; max: number }
    | { kind: 'state'; path?: string; equals: Matcher }
    | { kind: 'command'; command: string[]; timeoutSeconds?: number }
    | {
        kind: 'judge';
        question: string;
        passCondition: string;
        focusOn?: string;
        failureExamples?: string[];
        /** Ids of checks that must hold: where one fails, this one fails unasked. */
        dependsOn?: string[];
      }
  );

export type Verdict = 'holds' | 'fails' | 'left out' | 'unscored';

export interface CheckResult {
  /** Index in the task's `checks`. */
  index: number;
  title: string;
  verdict: Verdict;
  /** Why, in one sentence. */
  reason: string;
  weight: number;
  required: boolean;
  /** Turn (1-based) the reason points at. */
  turn?: number;
  /** For VS Code's own diff of a failed check. */
  expected?: string;
  actual?: string;
}

export interface Reward {
  /** In [0, 1], or null where it could not be scored. */
  value: number | null;
  success: boolean;
  checks: CheckResult[];
}

/** All that a check may read of a rollout. */
export interface Transcript {
  calls: TranscriptCall[];
  /** The policy's last message without calls, or null where it stopped before one. */
  answer: string | null;
  /** Turn of the answer, 1-based. */
  answerTurn: number;
  /** What only a real execution can tell; absent in rehearsal, and the checks on it are then left out. */
  real?: RealSide;
  /** What a model said of `judge` checks, by index of the check; absent where none was asked. */
  judgements?: Said;
}

/** What was said of checks by something outside, by index of the check. */
export interface Said {
  [index: number]: { verdict: 'holds' | 'fails' | 'unscored'; reason: string };
}

export interface RealSide {
  /** State at the end; undefined where the executor has none that can be read. */
  state?: Json;
  /** What the programs of `command` checks said. */
  commands: Said;
}

export interface TranscriptCall {
  turn: number;
  tool: string;
  arguments: Json;
  /** The call passed the format, whitelist and schema gates. */
  valid: boolean;
  readOnly: boolean;
  outcome: 'result' | 'error';
  value: Json;
}
