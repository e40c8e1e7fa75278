/** Driving a session on a scripted policy. */
import { createRenderer } from '../../../src/core/conversation/render';
import { drive, type Ports, toTheEnd, type Until } from '../../../src/core/rehearsal/drivers';
import { Session, type SessionRecord } from '../../../src/core/rehearsal/session';
import type { Setup } from '../../../src/core/rehearsal/types';
import { memoryPolicy, type Script } from './memory-policy';
import { setup as shopSetup } from './shop';

export interface Rehearsed {
  session: Session;
  ports: Ports;
  policy: ReturnType<typeof memoryPolicy>;
  records: SessionRecord[];
  drive(until: Until, signal?: AbortSignal): Promise<void>;
}

export function begin(script: Script, setup: Setup = shopSetup()): Rehearsed {
  const policy = memoryPolicy(script, setup.policy);
  const ports: Ports = { policy, render: createRenderer(policy) };
  const records: SessionRecord[] = [];
  const session = new Session(setup, (record) => records.push(record));
  return { session, ports, policy, records, drive: (until, signal) => drive(session, ports, until, signal) };
}

export async function toEnd(script: Script, setup?: Setup): Promise<Session> {
  const begun = begin(script, setup);
  await begun.drive(toTheEnd);
  return begun.session;
}

/** All observations of a session in order, as people would list them. */
export function observations(session: Session) {
  return session.state.turns.flatMap((turn) => turn.calls.map((step) => step.observation));
}

export function stopOf(session: Session): string | undefined {
  const { position } = session.state;
  return position.kind === 'done' ? position.stop : undefined;
}
