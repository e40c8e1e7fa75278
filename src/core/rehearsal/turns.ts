/** What follows an output: the observation of each call in turn, the next ACT, the user's next message. */
import { findRecorded } from '../environment/recorded';
import { isObject, type Json } from '../json';
import { addSegment, segmentsOf } from './lists';
import { idsWithoutReasoning } from './outputs';
import { rehearseSegment, toolSegment, userSegment } from './segments';
import { done, lastTurn, withCall } from './states';
import type { Observation, ObservationsFrom, Segments, State, Turn } from './types';

export function errorToolCall(code: string, message: string, details?: Json): Json {
  return { error_tool_call: details === undefined ? { code, message } : { code, message, details } };
}

/** Where the observation of call `index` comes from, or the end of the turn. */
export function nextCall(
  state: State,
  index: number,
  from: ObservationsFrom = state.setup.options.observations,
): State {
  const { environment } = state.setup;
  const turn = lastTurn(state);
  const step = turn.calls[index];
  if (!step) return endTurn(state, turn);
  if (step.gate) {
    const value = errorToolCall(step.gate.code, step.gate.message, step.gate.details);
    return given(state, index, { source: 'gate', outcome: 'error', value });
  }
  if (from === 'real') return { ...state, position: { kind: 'execution', call: index } };
  const recorded =
    environment.reuseExamples &&
    step.call &&
    findRecorded(environment, step.call, callsBefore(state, index), state.setup.task.state);
  if (recorded) {
    return given(state, index, { source: 'recorded', outcome: recorded.outcome, value: recorded.value });
  }
  const { segment, told } = rehearseSegment(state, index);
  return { ...state, position: { kind: 'prompt', role: 'rehearse', call: index, segment, told } };
}

/** The call whose observation comes next and has not begun, where its gates hold; else null. */
export function openCall({ position }: State): number | null {
  switch (position.kind) {
    case 'execution':
      return position.call;
    case 'prompt':
      return position.role === 'rehearse' ? position.call : null;
    case 'observation':
      return position.observation.source === 'recorded' ? position.call : null;
    default:
      return null;
  }
}

/** The same state, with its open call to be answered this way. Either way may be chosen for each call. */
export function answeredBy(state: State, from: ObservationsFrom): State {
  const call = openCall(state);
  return call === null ? state : nextCall(state, call, from);
}

function given(state: State, call: number, observation: Observation): State {
  return { ...state, position: { kind: 'observation', call, observation } };
}

function callsBefore(state: State, index: number) {
  return state.turns.flatMap((turn) =>
    turn.calls
      .filter((step) => step.call && (turn.index < state.turns.length || step.index < index))
      .map((step) => ({
        tool: step.call!.name,
        readOnly: step.tool?.readOnly ?? false,
        valid: step.gate === null && step.tool !== undefined,
      })),
  );
}

export function observe(state: State, index: number, observation: Observation): State {
  const next = withCall(state, index, { observation });
  const refused = isObject(observation.value) && Object.hasOwn(observation.value, 'error_tool_call');
  if (refused && state.setup.environment.onGateFailed === 'stop') return done(next, 'gate_failed');
  return nextCall(next, index + 1);
}

function endTurn(state: State, turn: Turn): State {
  const { environment, task } = state.setup;
  if (state.turns.length >= (task.maxTurns ?? environment.maxTurns)) return done(state, 'turn_limit');
  return { ...state, position: { kind: 'prompt', role: 'act', call: null, segment: toolSegment(turn) } };
}

export function acceptUser(state: State, text: string): State {
  const { environment, task } = state.setup;
  const turn = lastTurn(state);
  const next: State = { ...state, usersGiven: state.usersGiven + 1, pendingUser: text };
  if (state.turns.length >= (task.maxTurns ?? environment.maxTurns)) return done(next, 'turn_limit');
  const act = environment.reasoning === 'drop' ? withoutReasoning(next) : next.prompts.act;
  return {
    ...next,
    prompts: { ...next.prompts, act },
    position: { kind: 'prompt', role: 'act', call: null, segment: userSegment(turn, text) },
  };
}

/** ACT's prompt with the reasoning of earlier outputs left out: a branch of the token tree. */
function withoutReasoning(state: State): Segments | null {
  let segments: Segments | null = null;
  let turn = 0;
  for (const part of segmentsOf(state.prompts.act)) {
    const ids = part.origin === 'output' ? idsWithoutReasoning(state.turns[turn++]!.act) : part.ids;
    segments = addSegment(segments, ids, part.origin);
  }
  return segments;
}
