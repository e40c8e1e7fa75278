/** What a comparison of rehearsed and real answers is made of. All of it is plain data. */
import type { Example, Outcome, Tolerance } from '../environment/types';
import type { Json, JsonObject } from '../json';
import type { MarkedSurprise } from './surprise';

/** What a tool, or the policy in its place, answered. */
export interface Answer {
  outcome: Outcome;
  value: Json;
}

export type { Tolerance };

/** What the author lets pass: part of the environment file. */
export interface Rules {
  /** JSONPath of fields that may differ in any way. */
  ignore: readonly string[];
  tolerances: readonly Tolerance[];
}

export type FieldKind =
  | 'match'
  /** They differ as the author lets them. */
  | 'tolerable'
  | 'differs'
  /** The real answer has it, the rehearsed one has not. */
  | 'missing'
  /** The rehearsed answer has it, the real one has not. */
  | 'extra';

export interface FieldResult {
  /** Where it stands in the real answer (in the rehearsed one, where the real one has it not): `$.items[0].price`. */
  path: string;
  /** The same for every item of a list: `$.items[*].price`. */
  field: string;
  kind: FieldKind;
  /** Absent where it is missing. */
  rehearsed?: Json;
  /** Absent where it is extra. */
  real?: Json;
  /** What a person may want to know about the difference. It changes no verdict. */
  label?: string;
}

export interface Comparison {
  /** Of all fields: `match` where all match, `tolerable` where the rest is. */
  verdict: 'match' | 'tolerable' | 'differs';
  /** Leaves of both answers, in the order of the real one. */
  fields: FieldResult[];
  /** First field that is neither `match` nor `tolerable`. */
  first: FieldResult | null;
  /** `result`, or which error: see `errors.ts`. */
  outcome: { rehearsed: string; real: string; same: boolean };
}

/** A call that was both rehearsed and executed. */
export interface Pair {
  tool: string;
  arguments: JsonObject;
  rehearsed: Answer;
  real: Answer;
}

export interface ComparedPair extends Pair {
  comparison: Comparison;
  /** The author's own verdict, where there is one. */
  author?: Example['verdict'];
  /** How unlikely the policy finds the real answer, where it was scored. */
  surprise?: MarkedSurprise;
  /** Why it was not scored, where it should have been. */
  unscored?: string;
}
