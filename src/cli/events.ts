/**
 * What happened in one step, as plain events: the terminal prints them, `--json` writes one a line
 * (`docs/cli.md`).
 */
import type { Json } from '../core/json';
import type { Session, SessionNode } from '../core/rehearsal/session';
import type { CallStep, Role, State, Turn } from '../core/rehearsal/types';
import { callText, endView } from '../core/rehearsal/view';
import type { EndView } from '../core/rehearsal/view.types';

export interface TokenEvent {
  type: 'token';
  turn: number;
  role: Role;
  /** Index of the call that is rehearsed, null for ACT. */
  call: number | null;
  id: number;
  text: string;
  /** Nats, null where the server gave none. */
  logprob: number | null;
  probability: number | null;
  entropy: number | null;
  rank: number | null;
  origin: string;
  end: 'stop' | 'length' | null;
  alternatives: { id: number; text: string; logprob: number; probability: number }[];
}

export type StepEvent =
  | TokenEvent
  | { type: 'user'; turn: number; text: string }
  | { type: 'answer'; turn: number; text: string }
  | { type: 'note'; turn: number; text: string }
  | {
      type: 'call';
      turn: number;
      call: number;
      tool: string | null;
      arguments: Json;
      text: string;
      /** Null where all gates hold, or where they are left to the policy. */
      gate: { code: string; message: string } | null;
      gatesChecked: boolean;
    }
  | {
      type: 'observation';
      turn: number;
      call: number;
      tool: string | null;
      source: string;
      outcome: string;
      value: Json;
      /** What the model wrote, where it could not be read. */
      raw?: string;
    }
  | ({ type: 'end' } & EndView);

/** Events of the step that led to a node; none for a prompt. */
export function eventsOf(session: Session, node: SessionNode): StepEvent[] {
  if (node.parent === null || !node.reply) return [];
  const before = session.node(node.parent).state;
  const { state, reply } = node;
  const events: StepEvent[] = [];
  if (reply.kind === 'token' && before.position.kind === 'tokens') {
    const { role, call } = before.position;
    const { id, text, logprob, entropy, rank, origin, end, alternatives } = reply.token;
    events.push({
      type: 'token',
      turn: before.turns.length,
      role,
      call,
      id,
      text,
      logprob,
      probability: logprob === null ? null : Math.exp(logprob),
      entropy,
      rank,
      origin,
      // The machine may have cut the output here, which the reply itself does not say.
      end: end ?? (ended(before, state) ? 'length' : null),
      alternatives: alternatives.map((other) => ({
        id: other.id,
        text: other.text,
        logprob: other.logprob,
        probability: Math.exp(other.logprob),
      })),
    });
  }
  if (reply.kind === 'user') events.push({ type: 'user', turn: before.turns.length + 1, text: reply.text });
  // A prompt is no step, but one that the context cannot hold ends the task.
  if (reply.kind !== 'prompt') events.push(...changes(before, state));
  const end = endView(state);
  if (end) events.push({ type: 'end', ...end });
  return events;
}

function ended(before: State, after: State): boolean {
  return before.position.kind === 'tokens' && after.position.kind !== 'tokens';
}

/** What a step completed: a parsed message, an observation. */
function changes(before: State, after: State): StepEvent[] {
  const turn = after.turns[after.turns.length - 1];
  if (!turn) return [];
  const old = before.turns.length === after.turns.length ? before.turns[before.turns.length - 1] : undefined;
  const events: StepEvent[] = [];
  if (turn.parse && !old?.parse) events.push(...messageEvents(turn, after));
  for (const step of turn.calls) {
    if (step.observation && !old?.calls[step.index]?.observation) events.push(observationEvent(turn, step));
  }
  return events;
}

function messageEvents(turn: Turn, state: State): StepEvent[] {
  const { parse, index } = turn;
  const events: StepEvent[] = parse!.notes.map((text) => ({ type: 'note', turn: index, text }));
  if (turn.calls.length === 0) events.push({ type: 'answer', turn: index, text: parse!.content });
  for (const step of turn.calls) {
    events.push({
      type: 'call',
      turn: index,
      call: step.index,
      tool: step.call?.name ?? null,
      arguments: step.call?.arguments ?? null,
      text: callText(turn, step),
      gate: step.gate && { code: step.gate.code, message: step.gate.message },
      gatesChecked: state.setup.environment.gates === 'check',
    });
  }
  return events;
}

function observationEvent(turn: Turn, step: CallStep): StepEvent {
  const { source, outcome, value, raw } = step.observation!;
  const tool = step.call?.name ?? null;
  return {
    type: 'observation',
    turn: turn.index,
    call: step.index,
    tool,
    source,
    outcome,
    value,
    ...(raw === undefined ? {} : { raw }),
  };
}
