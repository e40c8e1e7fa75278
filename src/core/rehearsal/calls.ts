/** The calls of a branch as the real tools see them. */
import type { Json } from '../json';
import { currentTurnIndex, openCall } from './machine';
import type { Session, SessionNode } from './session';
import type { CallStep, State } from './types';

export interface MadeCall {
  tool: string;
  arguments: Json;
}

/** A call of a session whose gates hold, with what stands before it. */
export interface CallPlace {
  /** 1-based. */
  turn: number;
  /** Index of the call in its turn. */
  index: number;
  call: MadeCall;
  /** The tool is not known only to read: calling it may change what later calls answer. */
  mayWrite: boolean;
  /** Earlier calls that may have changed something, in their order. */
  before: MadeCall[];
  /** The node at which the call is open: where another answer to it can be given. */
  at: SessionNode;
}

/** The call that was answered with node `id`, or null where that is no answer to a call that was made. */
export function callAnsweredAt(session: Session, id: number): CallPlace | null {
  const path = session.path(id);
  const at = path.findLast(({ state }, i) => i < path.length - 1 && openCall(state) !== null);
  const place = at ? callOpenAt(at) : null;
  if (!place) return null;
  const stepIn = ({ state }: SessionNode) => state.turns[place.turn - 1]?.calls[place.index];
  const isAnswer = stepIn(path.at(-1)!)?.observation && !stepIn(path.at(-2)!)?.observation;
  return isAnswer ? place : null;
}

/** The call that is open at a node. */
export function callOpenAt(at: SessionNode): CallPlace | null {
  const { state } = at;
  const index = openCall(state);
  if (index === null) return null;
  const turn = currentTurnIndex(state);
  const step = state.turns[turn - 1]!.calls[index]!;
  if (!step.call) return null;
  return {
    turn,
    index,
    call: callOf(step),
    mayWrite: mayWrite(step),
    before: writesBefore(state, turn, index),
    at,
  };
}

/** A call that a person asks about, as if it were made in the turn that begins at `from`. */
export function callAskedAt(from: State, call: MadeCall): Pick<CallPlace, 'call' | 'before' | 'mayWrite'> {
  const tool = from.setup.environment.tools.find(({ name }) => name === call.tool);
  const before = writesBefore(from, from.turns.length + 1, 0);
  return { call, before, mayWrite: mayWrite({ tool }) };
}

/** What a server says of its own tools is not relied upon: such calls are made again. */
function mayWrite({ tool }: Pick<CallStep, 'tool'>): boolean {
  return !tool?.readOnly || Boolean(tool.hinted);
}

/** What a gate refused was never made. */
function writesBefore(state: State, turn: number, index: number): MadeCall[] {
  return state.turns.flatMap((one) =>
    one.calls
      .filter((step) => one.index < turn || step.index < index)
      .filter((step) => step.call && step.observation && step.observation.source !== 'gate' && mayWrite(step))
      .map(callOf),
  );
}

function callOf({ call }: CallStep): MadeCall {
  return { tool: call!.name, arguments: call!.arguments };
}
