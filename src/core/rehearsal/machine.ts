/**
 * The act–rehearse loop as a machine: `need` says what it needs next, `accept` is given it and returns the
 * next state. Both are pure and cheap; old states stay valid, so stepping back and forking cost nothing.
 * Source of the loop: EnvACE (arXiv 2608.06197), section "World rehearsal"; what we do otherwise: CONTRIBUTING.md.
 */
import { parseAct } from '../conversation/parse';
import { isErrorValue, parseResult } from '../conversation/result';
import type { ActItem, ActParse, Call } from '../conversation/types';
import { argumentsOf, createGates, type Gates } from '../environment/gates';
import type { Environment } from '../environment/types';
import { addSegment, addToken, promptIds } from './lists';
import { outputText } from './outputs';
import { mixSeed } from './seed';
import { firstActSegment } from './segments';
import { currentOutput, currentTurnIndex, done, lastTurn, withCall, withOutput, withTurn } from './states';
import { acceptUser, answeredBy, errorToolCall, nextCall, observe, openCall } from './turns';
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
  Token,
  Turn,
} from './types';

export { currentOutput, currentTurnIndex } from './states';
export { answeredBy, openCall } from './turns';

export function start(setup: Setup): State {
  return {
    setup,
    turns: [],
    position: { kind: 'prompt', role: 'act', call: null, segment: firstActSegment(setup) },
    prompts: { act: null, rehearse: null },
    usersGiven: 0,
    pendingUser: null,
    draw: 0,
    told: 0,
  };
}

export function need(state: State): Need {
  const { position } = state;
  const turn = currentTurnIndex(state);
  switch (position.kind) {
    case 'prompt': {
      const { kind, role, call, segment } = position;
      return { kind, role, call, segment, turn };
    }
    case 'tokens': {
      const output = currentOutput(state)!;
      return {
        ...position,
        turn,
        prompt: promptIds(output.prompt, output.tokens),
        maxTokens: room(state, output),
        seed: mixSeed(state.setup.options.seed, output.role, turn, output.call ?? -1, output.draw),
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

export function accept(given: State, reply: Reply): State {
  const open = openCall(given);
  if (reply.kind === 'executed' && open !== null) {
    const { outcome, value, durationMs, raw } = reply;
    return observe(given, open, { source: 'real', outcome, value, durationMs, raw });
  }
  // What is rendered or recorded belongs to a rehearsal, also where the real tools were to answer.
  const state = given.position.kind === 'execution' ? answeredBy(given, 'rehearse') : given;
  const { position } = state;
  if (reply.kind === 'stop') return done(state, reply.stop, reply.message);
  if (position.kind === 'prompt' && reply.kind === 'prompt') {
    return beginOutput(state, position, reply.ids, reply.draw ?? state.draw);
  }
  if (position.kind === 'tokens' && reply.kind === 'token') return acceptToken(state, reply.token);
  if (position.kind === 'observation' && reply.kind === 'observation') {
    return observe(state, position.call, position.observation);
  }
  if (position.kind === 'user' && reply.kind === 'user') return acceptUser(state, reply.text);
  throw new Error(`a ${reply.kind} was given where ${given.position.kind} was needed`);
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
  draw: number,
): State {
  const { role, call } = position;
  const turn = currentTurnIndex(state);
  const prompt = addSegment(state.prompts[role], ids, 'template');
  const { told = state.told } = position;
  const begun = { ...state, draw, told, prompts: { ...state.prompts, [role]: prompt } };
  if (prompt.length >= state.setup.policy.contextLength) return done(begun, 'context_limit');
  const output: Output = { role, turn, call, draw, prompt, tokens: null, end: null };
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
  const used = output.prompt.length + output.tokens!.length;
  if (cut) return done(next, used < policy.contextLength ? 'output_limit' : 'context_limit');
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
    draw: state.draw,
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
