/**
 * The act–rehearse loop as a machine: `need` says what it needs next, `accept` is given it and returns the
 * next state. Both are pure and cheap; old states stay valid, so stepping back and forking cost nothing.
 * Source of the loop: EnvACE (arXiv 2608.06197), section "World rehearsal"; see `docs/method.md`.
 */
import { parseAct } from '../conversation/parse';
import { isErrorValue, parseResult } from '../conversation/result';
import type { ActItem, ActParse, Call } from '../conversation/types';
import { argumentsOf, createGates, type Gates } from '../environment/gates';
import { findRecorded } from '../environment/recorded';
import type { Environment } from '../environment/types';
import type { Json } from '../json';
import { addSegment, addToken, promptIds } from './lists';
import { idsWithoutReasoning, outputText } from './outputs';
import { mixSeed } from './seed';
import { firstActSegment, rehearseSegment, toolSegment, userSegment } from './segments';
import type {
  CallStep,
  Need,
  Observation,
  Output,
  Position,
  Reply,
  Segments,
  Setup,
  State,
  Stop,
  Token,
  Turn,
} from './types';

export function start(setup: Setup): State {
  return {
    setup,
    turns: [],
    position: { kind: 'prompt', role: 'act', call: null, segment: firstActSegment(setup) },
    prompts: { act: null, rehearse: null },
    usersGiven: 0,
    pendingUser: null,
    attempt: 0,
    told: 0,
  };
}

export function need(state: State): Need {
  const { position } = state;
  const turn = currentTurnIndex(state);
  switch (position.kind) {
    case 'prompt':
      return { ...position, turn };
    case 'tokens': {
      const output = currentOutput(state)!;
      return {
        ...position,
        turn,
        prompt: promptIds(output.prompt, output.tokens),
        maxTokens: room(state, output),
        seed: mixSeed(state.setup.options.seed, output.role, turn, output.call ?? -1, output.attempt),
      };
    }
    case 'observation':
      return { ...position, turn };
    case 'execution': {
      const { call } = lastTurn(state).calls[position.call]!;
      return { ...position, turn, tool: call!.name, arguments: call!.arguments };
    }
    case 'user':
      return { ...position, turn };
    case 'done':
      return position;
  }
}

export function accept(state: State, reply: Reply): State {
  const { position } = state;
  if (reply.kind === 'stop') return done(state, reply.stop, reply.message);
  if (position.kind === 'prompt' && reply.kind === 'prompt') {
    return beginOutput(state, position, reply.ids, reply.attempt ?? state.attempt);
  }
  if (position.kind === 'tokens' && reply.kind === 'token') return acceptToken(state, reply.token);
  if (position.kind === 'observation' && reply.kind === 'observation') {
    return observe(state, position.call, position.observation);
  }
  if (position.kind === 'execution' && reply.kind === 'executed') {
    const { outcome, value, durationMs, raw } = reply;
    return observe(state, position.call, { source: 'real', outcome, value, durationMs, raw });
  }
  if (position.kind === 'user' && reply.kind === 'user') return acceptUser(state, reply.text);
  throw new Error(`a ${reply.kind} was given where ${position.kind} was needed`);
}

/** The output that is being written, or null between outputs. */
export function currentOutput(state: State): Output | null {
  if (state.position.kind !== 'tokens') return null;
  const turn = lastTurn(state);
  return state.position.call === null ? turn.act : turn.calls[state.position.call]!.rehearsal;
}

function lastTurn(state: State): Turn {
  return state.turns[state.turns.length - 1]!;
}

/** 1-based; a turn begins with the prompt of its ACT. */
export function currentTurnIndex(state: State): number {
  const opens = state.position.kind === 'prompt' && state.position.role === 'act';
  return state.turns.length + (opens ? 1 : 0);
}

/** Tokens this output may still have: its own limit, or what the context leaves. */
function room(state: State, output: Output): number {
  const length = output.tokens?.length ?? 0;
  const { limits } = state.setup.environment;
  return Math.min(
    limits[output.role] - length,
    state.setup.policy.contextLength - output.prompt.length - length,
  );
}

function beginOutput(
  state: State,
  position: Extract<Position, { kind: 'prompt' }>,
  ids: readonly number[],
  attempt: number,
): State {
  const { role, call } = position;
  const turn = currentTurnIndex(state);
  const prompt = addSegment(state.prompts[role], ids, 'template');
  const begun = { ...state, attempt, prompts: { ...state.prompts, [role]: prompt } };
  if (prompt.length >= state.setup.policy.contextLength) return done(begun, 'context_limit');
  const output: Output = { role, turn, call, attempt, prompt, tokens: null, end: null };
  const next: State = { ...begun, position: { kind: 'tokens', role, call } };
  if (role === 'rehearse') return withCall(next, call!, { rehearsal: output });
  const opened: Turn = { index: turn, user: state.pendingUser, act: output, parse: null, calls: [] };
  return { ...next, pendingUser: null, turns: [...state.turns, opened] };
}

function acceptToken(state: State, given: Token): State {
  const output = currentOutput(state)!;
  const left = room(state, output) - 1;
  const token: Token = !given.end && left <= 0 ? { ...given, end: 'length' } : given;
  const written: Output = { ...output, tokens: addToken(output.tokens, token), end: token.end ?? null };
  const next = withOutput(state, written);
  if (!written.end) return next;
  const ids = promptIds(null, written.tokens);
  const ended: State = {
    ...next,
    prompts: { ...next.prompts, [output.role]: addSegment(output.prompt, ids, 'output') },
  };
  return output.role === 'act' ? endAct(ended, written) : endRehearsal(ended, written);
}

function endAct(state: State, output: Output): State {
  const { environment, policy, task } = state.setup;
  const cut = output.end === 'length';
  const { tools } = environment;
  const parse = parseAct(outputText(output), policy.dialect, { cut, thinking: policy.opensReasoning, tools });
  const gates = createGates(tools);
  const calls = parse.items.map((item, index) => callStep(environment, gates, item, index));
  const next = withTurn(state, { ...lastTurn(state), parse, calls });
  if (calls.length > 0) return nextCall(next, 0);
  if (cut)
    return done(
      next,
      output.prompt.length + output.tokens!.length < policy.contextLength ? 'output_limit' : 'context_limit',
    );
  const text = task.user[state.usersGiven];
  return text === undefined ? done(next, 'answered') : { ...next, position: { kind: 'user', text } };
}

/** A call as it stands before its observation: its tool, and what the gates say. */
function callStep(environment: Environment, gates: Gates, item: ActItem, index: number): CallStep {
  const gate = environment.gates === 'check' ? gates.check(item) : null;
  const step: CallStep = { index, gate, rehearsal: null, observation: null };
  if (item.kind === 'format_error') return step;
  const tool = environment.tools.find((candidate) => candidate.name === item.call.name);
  return {
    ...step,
    tool,
    call: tool ? { ...item.call, arguments: argumentsOf(tool, item.call) } : item.call,
  };
}

/**
 * The state in which ACT has just written `call` and nothing else, as the turn that begins at `state`: for
 * rehearsing a call that a person asks about. No token of it was sampled, so it belongs into no session.
 */
export function askCall(state: State, call: Call): State {
  const { environment } = state.setup;
  const index = state.turns.length + 1;
  const prompt: Segments = state.prompts.act ?? { ids: [], origin: 'template', before: null, length: 0 };
  const act: Output = {
    role: 'act',
    turn: index,
    call: null,
    attempt: state.attempt,
    prompt,
    tokens: null,
    end: 'stop',
  };
  const item: ActItem = { kind: 'call', call };
  const parse: ActParse = { reasoning: null, content: '', items: [item], notes: [] };
  const calls = [callStep(environment, createGates(environment.tools), item, 0)];
  const turn: Turn = { index, user: state.pendingUser, act, parse, calls };
  return nextCall({ ...state, pendingUser: null, turns: [...state.turns, turn] }, 0);
}

function endRehearsal(state: State, output: Output): State {
  const parsed = parseResult(outputText(output), {
    cut: output.end === 'length',
    thinking: state.setup.policy.opensReasoning,
  });
  const observation: Observation = parsed.ok
    ? { source: 'rehearsed', outcome: isErrorValue(parsed.value) ? 'error' : 'result', value: parsed.value }
    : {
        source: 'rehearsed',
        outcome: 'error',
        value: errorToolCall('REHEARSAL_UNPARSEABLE', parsed.reason),
        raw: parsed.raw,
      };
  return observe(state, output.call!, observation);
}

function errorToolCall(code: string, message: string, details?: Json): Json {
  return { error_tool_call: details === undefined ? { code, message } : { code, message, details } };
}

/** Where the observation of call `index` comes from, or the end of the turn. */
function nextCall(state: State, index: number): State {
  const { environment, options } = state.setup;
  const turn = lastTurn(state);
  const step = turn.calls[index];
  if (!step) return endTurn(state, turn);
  if (step.gate) {
    const value = errorToolCall(step.gate.code, step.gate.message, step.gate.details);
    return given(state, index, { source: 'gate', outcome: 'error', value });
  }
  if (options.observations === 'real') return { ...state, position: { kind: 'execution', call: index } };
  const recorded =
    environment.reuseExamples && step.call && findRecorded(environment, step.call, callsBefore(state, index));
  if (recorded) {
    return given(state, index, { source: 'recorded', outcome: recorded.outcome, value: recorded.value });
  }
  const { segment, told } = rehearseSegment(state, index);
  return { ...state, told, position: { kind: 'prompt', role: 'rehearse', call: index, segment } };
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

function observe(state: State, index: number, observation: Observation): State {
  const next = withCall(state, index, { observation });
  const refused = isErrorToolCall(observation.value);
  if (refused && state.setup.environment.onGateFailed === 'stop') return done(next, 'gate_failed');
  return nextCall(next, index + 1);
}

function isErrorToolCall(value: Json): boolean {
  return typeof value === 'object' && value !== null && 'error_tool_call' in value;
}

function endTurn(state: State, turn: Turn): State {
  const { environment, task } = state.setup;
  if (state.turns.length >= (task.maxTurns ?? environment.maxTurns)) return done(state, 'turn_limit');
  return { ...state, position: { kind: 'prompt', role: 'act', call: null, segment: toolSegment(turn) } };
}

function acceptUser(state: State, text: string): State {
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
  let template = state.prompts.act;
  const parts: Segments[] = [];
  for (; template; template = template.before) parts.push(template);
  let turn = 0;
  for (const part of parts.reverse()) {
    const ids = part.origin === 'output' ? idsWithoutReasoning(state.turns[turn++]!.act) : part.ids;
    segments = addSegment(segments, ids, part.origin);
  }
  return segments;
}

function done(state: State, stop: Stop, message?: string): State {
  return { ...state, position: { kind: 'done', stop, message } };
}

function withTurn(state: State, turn: Turn): State {
  return { ...state, turns: [...state.turns.slice(0, -1), turn] };
}

function withCall(state: State, index: number, change: Partial<CallStep>): State {
  const turn = lastTurn(state);
  const calls = turn.calls.map((step) => (step.index === index ? { ...step, ...change } : step));
  return withTurn(state, { ...turn, calls });
}

function withOutput(state: State, output: Output): State {
  if (output.call !== null) return withCall(state, output.call, { rehearsal: output });
  return withTurn(state, { ...lastTurn(state), act: output });
}
