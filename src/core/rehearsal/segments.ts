/** What each prompt grows by: the messages that a role has not seen yet. */
import {
  actSystemWithTools,
  callLine,
  type RehearseEvent,
  rehearseSystem,
  rehearseUser,
} from '../conversation/prompts';
import { callId } from '../conversation/render';
import type { Message } from '../conversation/types';
import { formatJson } from '../json';
import type { CallStep, Setup, State, TemplateSegment, Turn } from './types';

export function firstActSegment({ environment, task, policy }: Setup): TemplateSegment {
  const system = policy.templateShowsTools
    ? environment.policy
    : actSystemWithTools(environment.policy, environment.tools);
  const messages: Message[] = [{ role: 'user', content: task.instruction }];
  if (system) messages.unshift({ role: 'system', content: system });
  const tools = policy.templateShowsTools && environment.tools.length > 0 ? environment.tools : undefined;
  return { messages, tools, after: null };
}

/** The observations of a whole turn: templates join the answers to one message's calls. */
export function toolSegment(turn: Turn): TemplateSegment {
  const messages = turn.calls.map(
    (step): Message => ({
      role: 'tool',
      name: step.call?.name ?? 'unknown',
      tool_call_id: callId(step.index),
      content: formatJson(step.observation!.value),
    }),
  );
  return { messages, after: turn.act.end };
}

export function userSegment(turn: Turn, text: string): TemplateSegment {
  return { messages: [{ role: 'user', content: text }], after: turn.act.end };
}

/**
 * The prompt that rehearses call `index` of the last turn. `told` is how many events REHEARSE's chat holds
 * then: a rehearsed answer is not an event, since it stands in the chat with the ids that were sampled.
 */
export function rehearseSegment(state: State, index: number): { segment: TemplateSegment; told: number } {
  const events = eventsUpTo(state, index);
  const content = rehearseUser(events.slice(state.told));
  const earlier = lastRehearsal(state);
  const messages: Message[] = [{ role: 'user', content }];
  const { environment, task } = state.setup;
  if (!earlier) messages.unshift({ role: 'system', content: rehearseSystem(environment, task.state) });
  return { segment: { messages, after: earlier?.end ?? null }, told: events.length };
}

function eventsUpTo(state: State, index: number): RehearseEvent[] {
  const events: RehearseEvent[] = [{ kind: 'user', text: state.setup.task.instruction }];
  for (const turn of state.turns) {
    if (turn.user !== null) events.push({ kind: 'user', text: turn.user });
    if (turn.parse?.content) events.push({ kind: 'assistant', text: turn.parse.content });
    for (const step of turn.calls) {
      const isLast = turn.index === state.turns.length && step.index === index;
      events.push({ kind: 'call', line: lineOf(step, turn) });
      if (isLast) return events;
      if (step.observation && !spoken(step)) events.push({ kind: 'result', value: step.observation.value });
    }
  }
  return events;
}

/** The chat holds this observation as an answer of its own. */
function spoken(step: CallStep): boolean {
  return step.observation?.source === 'rehearsed' && step.observation.raw === undefined;
}

function lineOf(step: CallStep, turn: Turn): string {
  if (step.call) return callLine(step.call.name, step.call.argumentsText);
  const item = turn.parse!.items[step.index]!;
  return item.kind === 'format_error' ? item.text : '';
}

function lastRehearsal(state: State) {
  for (const turn of [...state.turns].reverse()) {
    for (const step of [...turn.calls].reverse()) if (step.rehearsal) return step.rehearsal;
  }
  return null;
}
