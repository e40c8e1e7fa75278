/**
 * Looks for the choice that turns a rehearsal: one alternative of the first five at one token, and then Continue
 * alone, lead to the other verdict; choosing the first token again leads back. So a right and a wrong rehearsal
 * can both be reached.
 */
import { createRenderer } from '../../src/core/conversation/render';
import type { Policy } from '../../src/core/policy';
import { drive, toTheEnd } from '../../src/core/rehearsal/drivers';
import { chooseAlternative } from '../../src/core/rehearsal/forks';
import { DEFAULT_OPTIONS } from '../../src/core/rehearsal/options';
import { Session, type SessionNode } from '../../src/core/rehearsal/session';
import { rewardOf } from '../../src/core/reward/rollout';
import { usableEnvironment } from '../../src/node/environments';

export interface Turning {
  /** Whether the rehearsal that Start and Continue give ends in success. */
  straight: boolean;
  /** 1-based turn of the ACT output, and 0-based place of the token in it. */
  turn: number;
  place: number;
  /** Ids of the alternative that turns it, and of the token that stood there. */
  other: number;
  back: number;
  text: string;
}

const MOST_TRIES = 120;

/** Tries the likeliest alternatives first; those whose text is `preferred`, which tell the story best, before all. */
export async function findTurning(
  policy: Policy,
  file: string,
  taskId: string,
  preferred: string,
): Promise<Turning | null> {
  const environment = await usableEnvironment(file);
  const task = environment.tasks.find(({ id }) => id === taskId)!;
  const session = new Session({ environment, task, policy: policy.info, options: DEFAULT_OPTIONS });
  const ports = { policy, render: createRenderer(policy) };
  await drive(session, ports, toTheEnd);
  const straight = rewardOf(session.state).success;
  const choices = session.path(session.tip.id).flatMap((node) => choicesAt(session, node));
  const rank = (text: string) => Number(text !== preferred);
  choices.sort((a, b) => rank(a.text) - rank(b.text) || b.alternative.logprob - a.alternative.logprob);
  for (const { node, alternative, ...choice } of choices.slice(0, MOST_TRIES)) {
    chooseAlternative(session, node, alternative);
    await drive(session, ports, toTheEnd);
    if (rewardOf(session.state).success !== straight) return { straight, ...choice };
  }
  return null;
}

/** Alternatives at a token of ACT that itself is one of the first five, so that one can choose one's way back. */
function choicesAt(session: Session, { id: node, reply, parent }: SessionNode) {
  if (reply?.kind !== 'token' || parent === null) return [];
  const { position, turns } = session.node(parent).state;
  if (position.kind !== 'tokens' || position.role !== 'act') return [];
  const { index: turn, act } = turns.at(-1)!;
  const shown = reply.token.alternatives.slice(0, 5);
  const back = reply.token.id;
  if (!shown.some(({ id }) => id === back)) return [];
  return shown
    .filter(({ id }) => id !== back)
    .map((alternative) => {
      const { id: other, text } = alternative;
      return { node, alternative, turn, place: act.tokens?.length ?? 0, other, back, text };
    });
}
