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
import type { CallStep, State } from './types';

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
