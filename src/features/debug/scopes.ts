/** What the Variables view holds, by frame of the stack. */

import { outputText } from '../../core/rehearsal/outputs';
import type { CallStep, State, Token, Turn } from '../../core/rehearsal/types';
import { callText } from '../../core/rehearsal/view';
import { rewardOf } from '../../core/reward/rollout';
import { printable } from '../../core/text';
import type { Focus } from './focus';
import { jsonRow, oneLine, type Row, textRow } from './values';

export interface ScopeRows {
  name: string;
  /** Not opened by itself. */
  expensive?: boolean;
  rows: () => Row[];
}

export function outputScopes(focus: Focus): ScopeRows[] {
  return [
    { name: 'Call and arguments', rows: () => callRows(focus) },
    { name: 'Token', rows: () => tokenRows(focus.token) },
    { name: 'History', expensive: true, rows: () => historyRows(focus.state) },
    { name: 'Checks', expensive: true, rows: () => checkRows(focus.state) },
  ];
}

export function turnScopes({ state, turn }: Focus): ScopeRows[] {
  return [
    { name: 'Turn', rows: () => (turn ? turnRows(turn) : []) },
    { name: 'History', expensive: true, rows: () => historyRows(state) },
    { name: 'Checks', expensive: true, rows: () => checkRows(state) },
  ];
}

export function taskScopes({ state }: Focus): ScopeRows[] {
  const { environment, options, policy, task } = state.setup;
  return [
    {
      name: 'Task',
      rows: () => [
        textRow('instruction', task.instruction),
        { name: 'environment', value: oneLine(environment.name) },
        { name: 'tools', value: environment.tools.map((tool) => oneLine(tool.name)).join(', ') },
        { name: 'model', value: `${oneLine(policy.model)} (${policy.tier})` },
        { name: 'seed', value: String(options.seed) },
        { name: 'temperature', value: String(options.temperature) },
      ],
    },
    { name: 'Checks', rows: () => checkRows(state) },
  ];
}

/** The call at the cursor; while ACT still writes, what it has written. */
function callRows({ step, turn, output }: Focus): Row[] {
  if (step && turn) return stepRows(turn, step);
  if (!turn) return [];
  if (turn.parse && turn.calls.length > 0) return turn.calls.map((call) => stepRow(turn, call));
  if (turn.parse) return [textRow('answer', turn.parse.content)];
  return output ? [textRow('written so far', outputText(output))] : [];
}

function stepRow(turn: Turn, step: CallStep): Row {
  return {
    name: `call ${step.index + 1}`,
    value: oneLine(callText(turn, step)),
    children: () => stepRows(turn, step),
  };
}

function stepRows(turn: Turn, step: CallStep): Row[] {
  const { call, gate, observation } = step;
  const rows: Row[] = call
    ? [{ name: 'tool', value: oneLine(call.name) }, jsonRow('arguments', call.arguments)]
    : [textRow('not a call', callText(turn, step))];
  if (turn.act.end !== null) {
    const checked = gate ? `${gate.code}: ${oneLine(gate.message)}` : 'format, tool and schema hold';
    rows.push({
      name: 'gates',
      value: checked,
      ...(gate?.details !== undefined && { children: () => [jsonRow('details', gate.details)] }),
    });
  }
  if (observation) {
    rows.push({ name: 'observation from', value: observation.source });
    rows.push(jsonRow(observation.outcome, observation.value));
    if (observation.raw !== undefined) rows.push(textRow('as written', observation.raw));
  } else if (step.rehearsal) rows.push(textRow('rehearsed so far', outputText(step.rehearsal)));
  return rows;
}

function tokenRows(token: Token | null): Row[] {
  if (!token) return [];
  const rows: Row[] = [
    { name: 'text', value: tokenText(token) },
    { name: 'id', value: String(token.id) },
    { name: 'log-probability', value: numberOf(token.logprob) },
    { name: 'probability', value: probabilityOf(token.logprob) },
    { name: 'rank', value: token.rank === null ? 'not given by the server' : String(token.rank) },
    {
      name: 'entropy',
      value: token.entropy === null ? 'not given by the server' : `${numberOf(token.entropy)} nats`,
    },
    { name: 'origin', value: token.origin },
  ];
  if (token.alternatives.length > 0) {
    rows.push({
      name: 'alternatives',
      value: token.alternatives
        .map((other) => `${quoted(other.text)} ${probabilityOf(other.logprob)}`)
        .join(', '),
      children: () =>
        token.alternatives.map(({ id, text, logprob }) => ({
          name: quoted(text),
          value: `${probabilityOf(logprob)} (log-probability ${numberOf(logprob)}, id ${id})`,
        })),
    });
  }
  return rows;
}

function quoted(text: string): string {
  return `"${oneLine(text)}"`;
}

function tokenText(token: Token): string {
  return token.text === '' && token.end === 'stop' ? 'end of output' : quoted(token.text);
}

/** Three decimals, which is what the panel shows too. */
function numberOf(value: number | null): string {
  return value === null ? 'not given by the server' : value.toFixed(3);
}

function probabilityOf(logprob: number | null): string {
  return logprob === null ? 'not given by the server' : Math.exp(logprob).toFixed(3);
}

/** The conversation up to the cursor, as both roles know it. */
function historyRows({ setup, turns, pendingUser }: State): Row[] {
  const rows: Row[] = [];
  if (setup.environment.policy) rows.push(textRow('system', setup.environment.policy));
  rows.push(textRow('user', setup.task.instruction));
  for (const turn of turns) {
    if (turn.user !== null) rows.push(textRow('user', turn.user));
    rows.push(textRow(`ACT ${turn.index}`, outputText(turn.act)));
    for (const step of turn.calls) {
      const { observation } = step;
      if (observation)
        rows.push(
          jsonRow(`${observation.source} ${printable(step.call?.name ?? '')}`.trim(), observation.value),
        );
    }
  }
  if (pendingUser !== null) rows.push(textRow('user', pendingUser));
  return rows;
}

/** Checks as they would come out if the task ended here. */
function checkRows(state: State): Row[] {
  const { checks, value } = rewardOf(state);
  const reward = value === null ? 'none' : value.toFixed(2);
  return [
    { name: state.position.kind === 'done' ? 'reward' : 'reward so far', value: reward },
    ...checks.map((check) => ({
      name: oneLine(check.title),
      value: `${check.verdict}: ${oneLine(check.reason)}`,
    })),
  ];
}

function turnRows(turn: Turn): Row[] {
  const rows: Row[] = turn.user === null ? [] : [textRow('user', turn.user)];
  rows.push(textRow('ACT', outputText(turn.act)));
  return [...rows, ...turn.calls.map((step) => stepRow(turn, step))];
}
