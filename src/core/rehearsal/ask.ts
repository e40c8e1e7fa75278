/**
 * Asking what the policy would answer to a call, without writing it into the session: the debug console's way
 * to look at the world it rehearses.
 */
import type { Call } from '../conversation/types';
import type { Signal } from '../policy';
import { EmptyStreamError, type Ports, requestFor } from './drivers';
import { addSegment, promptIds } from './lists';
import { accept, answeredBy, askCall, need } from './machine';
import { rehearseSegment } from './segments';
import { nextCall } from './turns';
import type { CallStep, Setup, State, Turn } from './types';

/** The state where the turn of `path`'s last state began; a call asked about stands in the place of that turn's. */
export function turnStart(path: readonly { state: State }[]): State {
  for (let i = path.length - 1; i >= 0; i--) {
    const { position } = path[i]!.state;
    if (position.kind === 'prompt' && position.role === 'act') return path[i]!.state;
  }
  throw new RangeError('no turn begins on this path');
}

/** Rehearses `call` at the beginning of a turn. Gates and recorded answers count as in the session. */
export async function rehearseCall(
  from: State,
  call: Call,
  ports: Ports,
  signal?: Signal,
): Promise<CallStep> {
  return rehearseHere(askCall(from, call), 0, ports, signal);
}

/** Rehearses call `index` of the last turn, which is open in `from`, and answers with it; `from` stays as it is. */
export async function rehearseHere(
  from: State,
  index: number,
  ports: Ports,
  signal?: Signal,
): Promise<CallStep> {
  let state = answeredBy(from, 'rehearse');
  const turn = from.turns.length - 1;
  const step = () => state.turns[turn]!.calls[index]!;
  while (!step().observation) {
    const wanted = need(state);
    if (wanted.kind === 'prompt') {
      state = accept(state, { kind: 'prompt', ids: await ports.render(wanted.segment, signal) });
    } else if (wanted.kind === 'observation') {
      state = accept(state, { kind: 'observation' });
    } else if (wanted.kind === 'tokens') {
      const request = {
        ...requestFor(wanted, from.setup.options),
        ...(ports.unwatched && { unwatched: true }),
      };
      const before = state;
      for await (const sampled of ports.policy.sample(request, signal)) {
        state = accept(state, { kind: 'token', token: { ...sampled, origin: 'sampled' } });
        if (state.position.kind !== 'tokens') break;
      }
      if (signal?.aborted) break;
      if (state === before) throw new EmptyStreamError(ports.policy.info.model);
    } else break;
  }
  return step();
}

/**
 * The state in which a call of `state`'s conversation is to be rehearsed by the policy of `setup`. What came before is
 * as it was; what was rehearsed there is told as an observation, since it is no answer of this policy's own.
 * @param turn 1-based
 * @param index of the call in its turn; no gate may have refused it
 */
export function retold(state: State, setup: Setup, turn: number, index: number): State {
  const turns = state.turns.slice(0, turn).map((one): Turn => {
    const calls = one.calls.map((step): CallStep => {
      const isOpen = one.index === turn && step.index >= index;
      const observation =
        isOpen || !step.observation ? null : { ...step.observation, source: 'recorded' as const };
      return { ...step, rehearsal: null, observation };
    });
    return { ...one, calls };
  });
  return nextCall(
    { ...state, setup, turns, prompts: { act: null, rehearse: null }, told: 0 },
    index,
    'rehearse',
  );
}

/** Ids of the prompt in which the open call `index` would be rehearsed. */
export async function rehearsalPrompt(
  state: State,
  index: number,
  render: Ports['render'],
  signal?: Signal,
): Promise<number[]> {
  const ids = await render(rehearseSegment(state, index).segment, signal);
  return promptIds(addSegment(state.prompts.rehearse, ids, 'template'), null);
}
