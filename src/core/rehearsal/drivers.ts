/**
 * Drivers: they ask a session what it needs, get it through the ports, and stop where the gesture says. The
 * debugger, the command line, the Test Explorer and the runner all use these.
 */
import type { Renderer } from '../conversation/render';
import type { Outcome } from '../environment/types';
import type { Json } from '../json';
import type { Policy, SampleRequest, Signal } from '../policy';
import { escaped } from '../text';
import { UserError } from '../user-error';
import { answeredBy, need } from './machine';
import type { Session, SessionNode } from './session';
import type { Need, ObservationsFrom, RehearsalOptions, Reply, State } from './types';

export interface Execution {
  outcome: Outcome;
  value: Json;
  durationMs: number;
  raw?: string;
}

export interface Ports {
  policy: Policy;
  /** Writes the observations, where it is not the same that acts. */
  rehearser?: Policy;
  render: Renderer;
  /** The real tools; absent where only rehearsals are wanted. */
  execute?(call: { tool: string; arguments: Json }, signal?: Signal): Promise<Execution>;
  /** Who answers the calls from here on; where absent, whom the session was started for. */
  observations?: ObservationsFrom;
  /** Nobody looks at single tokens while they come: a server need not send them one by one. */
  unwatched?: boolean;
}

/** Whether to stop after this step. A rendered prompt is no step and is never asked about. */
export type Until = (step: { before: State; after: State; reply: Reply; node: SessionNode }) => boolean;

/** Step Into: one token, or one observation that is not sampled. */
export const oneToken: Until = () => true;

/** Step Over: the rest of this output. */
export const oneOutput: Until = ({ after }) => after.position.kind !== 'tokens';

/** Step Out: until the next ACT begins. */
export const oneTurn: Until = ({ after }) =>
  after.position.kind === 'prompt' && after.position.role === 'act';

/** To the end of the task. */
export const toTheEnd: Until = () => false;

export type Gesture = 'token' | 'output' | 'turn' | 'continue';

/** What a gesture of the editor or of the command line runs to. */
export const GESTURES: { readonly [gesture in Gesture]: Until } = {
  token: oneToken,
  output: oneOutput,
  turn: oneTurn,
  continue: toTheEnd,
};

/** The node before the step that led to `id`, on its branch; a rendered prompt is no step. */
export function stepBefore(session: Session, id: number): SessionNode {
  let node = session.node(id);
  if (node.parent !== null) node = session.node(node.parent);
  while (node.reply?.kind === 'prompt' && node.parent !== null) node = session.node(node.parent);
  return node;
}

/**
 * Drives until `until` holds or the task ends. Replies stored ahead on the branch shown are replayed; only
 * past its end is anything sampled. Stops between two tokens where `signal` is aborted.
 */
export async function drive(session: Session, ports: Ports, until: Until, signal?: Signal): Promise<void> {
  while (!signal?.aborted) {
    const { observations = session.setup.options.observations } = ports;
    const wanted = need(answeredBy(session.state, observations));
    if (wanted.kind === 'done') return;
    const stored = session.next();
    if (stored) {
      if (step(session, until, () => replay(session, stored))) return;
    } else if (wanted.kind === 'tokens') {
      if (await sampleOutput(session, ports, wanted, until, signal)) return;
    } else {
      const reply = await replyTo(wanted, ports, signal);
      if (step(session, until, () => session.add(reply))) return;
    }
  }
}

/** Makes one step and answers whether to stop after it. */
function step(session: Session, until: Until, go: () => SessionNode): boolean {
  const before = session.state;
  const node = go();
  const reply = node.reply!;
  if (reply.kind === 'prompt') return false;
  return node.state.position.kind === 'done' || until({ before, after: node.state, reply, node });
}

function replay(session: Session, stored: SessionNode): SessionNode {
  session.move(stored.id);
  return stored;
}

async function replyTo(
  wanted: Exclude<Need, { kind: 'tokens' | 'done' }>,
  ports: Ports,
  signal?: Signal,
): Promise<Reply> {
  switch (wanted.kind) {
    case 'prompt':
      return { kind: 'prompt', ids: await ports.render(wanted.segment, signal) };
    case 'observation':
      return { kind: 'observation' };
    case 'user':
      return { kind: 'user', text: wanted.text };
    case 'execution': {
      if (!ports.execute) throw withoutTools(wanted.tool);
      return { kind: 'executed', ...(await ports.execute(wanted, signal)) };
    }
  }
}

/** A session with real tools that was saved and opened again: nobody may run them without being asked. */
function withoutTools(tool: string): UserError {
  return new UserError(
    `The session cannot go on: it needs the real tool ${escaped(tool)}, and real tools are not started for a session that was opened again.`,
    'Its steps so far can be looked at; start a new session to run the tools.',
  );
}

type TokensNeed = Extract<Need, { kind: 'tokens' }>;

/** What a policy is asked for the rest of an output. */
export function requestFor(wanted: TokensNeed, options: RehearsalOptions): SampleRequest {
  const { prompt, seed, maxTokens } = wanted;
  const { temperature, topP, topK, minP, alternatives, priority } = options;
  return { prompt, seed, maxTokens, temperature, topP, topK, minP, alternatives, priority };
}

/** Samples until the output ends or `until` holds. One token asks for one token, more ask for a stream. */
async function sampleOutput(
  session: Session,
  ports: Ports,
  wanted: TokensNeed,
  until: Until,
  signal?: Signal,
): Promise<boolean> {
  const { unwatched } = ports;
  const policy = (wanted.role === 'rehearse' && ports.rehearser) || ports.policy;
  const maxTokens = until === oneToken ? 1 : wanted.maxTokens;
  const request = {
    ...requestFor(wanted, session.setup.options),
    maxTokens,
    ...(unwatched && { unwatched }),
  };
  let given = 0;
  for await (const sampled of policy.sample(request, signal)) {
    given++;
    // The limit that a request ran into is the output's only where the output asked for all that it may have.
    const end = sampled.end === 'length' && given < wanted.maxTokens ? undefined : sampled.end;
    if (
      step(session, until, () =>
        session.add({ kind: 'token', token: { ...sampled, end, origin: 'sampled' } }),
      )
    ) {
      return true;
    }
    if (signal?.aborted || session.state.position.kind !== 'tokens') return false;
  }
  if (given === 0 && !signal?.aborted) throw new EmptyStreamError(policy.info.model);
  return false;
}

/** A server that closes a stream before the first token would otherwise be asked for ever. */
export class EmptyStreamError extends Error {
  constructor(model: string) {
    super(`The server ended the output of ${model} without a token.`);
  }
}
