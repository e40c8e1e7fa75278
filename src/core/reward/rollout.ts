/** Reward of a rehearsal: what checks read, taken from the machine's state. */
import { tokensOf } from '../rehearsal/lists';
import type { State } from '../rehearsal/types';
import { evaluate } from './checks';
import type { RealSide, Reward, Said, Transcript } from './types';

export function transcriptOf(state: State): Transcript {
  const calls = state.turns.flatMap((turn) =>
    turn.calls
      .filter((step) => step.observation)
      .map((step) => ({
        turn: turn.index,
        tool: step.call?.name ?? '',
        arguments: step.call?.arguments ?? null,
        valid: step.gate === null && step.tool !== undefined,
        readOnly: step.tool?.readOnly ?? false,
        outcome: step.observation!.outcome,
        value: step.observation!.value,
      })),
  );
  const last = state.turns[state.turns.length - 1];
  const answered = last?.parse && last.parse.items.length === 0 && last.act.end === 'stop';
  return { calls, answer: answered ? last.parse!.content : null, answerTurn: last?.index ?? 0 };
}

/** A state never changes: a view that is drawn again asks again. */
const known = new WeakMap<State, Reward>();

/**
 * In [0, 1]; null where the rollout ended in an error of ours and so says nothing about the policy.
 * @param real what only a real execution can tell; absent in rehearsal
 * @param judgements what a model said; absent where none was asked
 */
export function rewardOf(state: State, real?: RealSide, judgements?: Said): Reward {
  const alone = !real && !judgements;
  const before = alone ? known.get(state) : undefined;
  if (before) return before;
  const { position } = state;
  const broken = position.kind === 'done' && (position.stop === 'error' || position.stop === 'cancelled');
  const evaluated = evaluate(state.setup.task, {
    ...transcriptOf(state),
    ...(real ? { real } : {}),
    ...(judgements ? { judgements } : {}),
  });
  const reward = broken ? { ...evaluated, value: null, success: false } : evaluated;
  // What was not decided may be when it is asked again: the machine was busy.
  if (alone && evaluated.value !== null) known.set(state, reward);
  return reward;
}

/** Tokens sampled, by role. */
export function tokenCounts(state: State): { act: number; rehearse: number } {
  const counts = { act: 0, rehearse: 0 };
  for (const turn of state.turns) {
    counts.act += tokensOf(turn.act.tokens).length;
    for (const step of turn.calls) counts.rehearse += tokensOf(step.rehearsal?.tokens ?? null).length;
  }
  return counts;
}
